"""slime-v2 and modelexpress: an index per version, compressed byte patches, a digest of each new tensor."""

import pathlib
import re
import zlib

import blake3
import numpy
import xxhash

from replay import Version, broken
from tensors import (
    Broken,
    State,
    Tensor,
    matches,
    read_checkpoint,
    read_json,
    read_safetensors,
    safe_name,
    unzstd,
)

SUMS = {
    "xxh3-128": lambda data: xxhash.xxh3_128_hexdigest(data),
    "blake3": lambda data: blake3.blake3(data).hexdigest(),
    "adler32": lambda data: f"{zlib.adler32(data):08x}",
}


def xor(tensor: Tensor, patch: bytes) -> Tensor:
    if len(patch) != len(tensor.data):
        raise Broken(f"a patch of {len(patch)} bytes for {len(tensor.data)}")
    new = numpy.frombuffer(tensor.data, numpy.uint8) ^ numpy.frombuffer(patch, numpy.uint8)
    return tensor._replace(data=new.tobytes())


def overwrite(tensor: Tensor, patch: bytes) -> Tensor:
    """u32 count, u32 byte positions, u8 values."""
    count = int.from_bytes(patch[:4], "little")
    if len(patch) != 4 + 5 * count:
        raise Broken(f"a patch of {len(patch)} bytes for {count} bytes")
    positions = numpy.frombuffer(patch[4 : 4 + 4 * count], "<u4").astype(numpy.int64)
    if numpy.any(positions[1:] <= positions[:-1]) or numpy.any(positions >= len(tensor.data)):
        raise Broken("byte positions do not ascend or lie outside")
    new = numpy.frombuffer(tensor.data, numpy.uint8).copy()
    new[positions] = numpy.frombuffer(patch[4 + 4 * count :], numpy.uint8)
    return tensor._replace(data=new.tobytes())


APPLY = {"xor": xor, "overwrite": overwrite}


def delta(folder: pathlib.Path, index: dict):
    def build(before: State | None) -> State:
        about, weight_map = index["metadata"], index["weight_map"]
        if about.get("compression_format") != "zstd":
            raise Broken(f"compression_format {about.get('compression_format')!r}")
        apply = APPLY.get(about["delta_encoding"])
        digest = SUMS.get(about.get("checksum_format"))
        if apply is None or digest is None:
            raise Broken(f"encoding {about['delta_encoding']!r}, checksums {about.get('checksum_format')!r}")
        files = {name: read_safetensors(folder / safe_name(name)) for name in sorted(set(weight_map.values()))}
        held = {name for _, tensors in files.values() for name in tensors}
        if held != set(weight_map):
            raise Broken(f"index and files differ in {sorted(held ^ set(weight_map))}")
        state = dict(before)
        for name, file in weight_map.items():  # the file that the index names counts, once
            metadata, tensors = files[file]
            if name not in tensors:
                raise Broken(f"{file} lacks {name!r}")
            if name not in state:
                raise Broken(f"{name!r} is not in the state before")
            payload = tensors[name]
            if payload.dtype != "U8" or len(payload.shape) != 1:
                raise Broken(f"{name!r} is {payload.dtype} {list(payload.shape)}")
            state[name] = apply(state[name], unzstd(payload.data))
            if digest(state[name].data) != metadata.get(name):
                raise Broken(f"{name!r} should have {metadata.get(name)}, has {digest(state[name].data)}")
        return state

    return build


def full(folder: pathlib.Path, layout: str):
    def build(_before: State | None) -> State:
        state = read_checkpoint(folder)
        if layout == "modelexpress":
            for path in sorted(folder.glob("*.safetensors")):
                metadata, tensors = read_safetensors(path)
                for name, tensor in tensors.items():  # newer and older form; both may be absent
                    wanted = metadata.get(f"mx.adler32:{name}", metadata.get(name))
                    if wanted is not None and wanted != SUMS["adler32"](tensor.data):
                        raise Broken(f"{name!r} should have {wanted}, has {SUMS['adler32'](tensor.data)}")
        return state

    return build


def number_of(layout: str, version: object) -> int:
    """slime counts; the ids of ModelExpress are the service's, of which only v and a number can be put in order."""
    text = str(version)
    if not re.fullmatch(r"v\d+" if layout == "modelexpress" else r"\d+", text):
        raise Broken(f"version {version!r} has no number")
    return int(text.removeprefix("v"))


def versions(source: pathlib.Path, layout: str) -> list[Version]:
    folder_name = r"v\d+" if layout == "modelexpress" else r"weight_v\d{6,}"
    out = []
    indexed = set()
    for match in matches(source, rf"(?P<folder>{folder_name})/model\.safetensors\.index\.json"):
        folder = (source / match[0]).parent
        indexed.add(folder)
        step = int(folder.name.removeprefix("weight_").removeprefix("v"))
        try:
            index = read_json(source / match[0])
            about = index.get("metadata", {})
            if "delta_encoding" not in about:
                out.append(Version(step, "anchor", None, full(folder, layout)))
                continue
            if number_of(layout, about["version"]) != step:
                raise Broken(f"version {about['version']!r} in {folder.name}")
            out.append(Version(step, "delta", number_of(layout, about["base_version"]), delta(folder, index)))
        except (Broken, KeyError) as error:
            out.append(Version(step, "delta", step - 1, broken(str(error)), alone=True))
    # a folder without an index is a full version only with one file of this name; else nothing was published
    for match in matches(source, rf"(?P<folder>{folder_name})/model\.safetensors"):
        folder = (source / match[0]).parent
        if folder not in indexed and len(list(folder.glob("*.safetensors"))) == 1:
            step = int(folder.name.removeprefix("weight_").removeprefix("v"))
            out.append(Version(step, "anchor", None, full(folder, layout)))
    return out
