#!/usr/bin/env python3
"""Slow, independent reader of delta chains, written from docs/formats/trl-v2.md and docs/formats/slime-v2.md alone.

usage: decode_delta.py SOURCE FIRST LAST [--base DIR] [--json]

Applies the versions FIRST..LAST of SOURCE (a folder) in order and prints the state after LAST, one line per tensor:
SHA-256 of its bytes, dtype, shape, name. The state before FIRST comes from --base (a folder with safetensors files).
Without it FIRST has to be full. A chain of trl-v2 may have holes, one of slime-v2 may not.

Everything that the format pages call refused ends the program with status 1 and a reason.
Needs numpy, safetensors, zstandard, xxhash and blake3 from PyPI; no torch.
"""

import argparse
import hashlib
import json
import pathlib
import re
import struct
import sys
import zlib

import blake3
import numpy
import safetensors
import xxhash
import zstandard

DIGESTS = {
    "xxh3-128": lambda data: xxhash.xxh3_128_hexdigest(data),
    "blake3": lambda data: blake3.blake3(data).hexdigest(),
    "adler32": lambda data: f"{zlib.adler32(data):08x}",
}
INDEX_TYPES = {("raw", "I32"): "<i4", ("gap_delta", "U16"): "<u2", ("gap_delta", "U32"): "<u4"}


class Refused(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Refused(text)


def read_file(path):
    """Metadata and {name: (dtype, shape, bytes)} of a safetensors file; checked by the official library."""
    raw = path.read_bytes()
    try:
        tensors = safetensors.deserialize(raw)
    except Exception as error:
        raise Refused(f"{path}: {error}") from error
    header = json.loads(raw[8 : 8 + struct.unpack_from("<Q", raw)[0]])
    metadata = header.pop("__metadata__", {})
    out = {}
    for name, tensor in tensors:
        entry = header[name]
        out[name] = (entry["dtype"], tuple(entry["shape"]), bytes(tensor["data"]))
    return metadata, out


def read_checkpoint(folder):
    """A Hugging Face checkpoint: the files of its index, or model.safetensors."""
    index = folder / "model.safetensors.index.json"
    names = ["model.safetensors"]
    if index.exists():
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    state = {}
    for name in names:
        for tensor, entry in read_file(folder / name)[1].items():
            require(tensor not in state, f"{folder}: {tensor} occurs twice")
            state[tensor] = entry
    return state


def changed(state, name, data):
    dtype, shape, old = state[name]
    require(len(old) == len(data), f"{name}: another size")
    state[name] = (dtype, shape, data)


class TrlV2:
    def __init__(self, source):
        self.files = {}
        for folder in ("anchors", "deltas"):
            for path in sorted((source / folder).glob("step_*.safetensors")):
                found = re.fullmatch(r"step_(\d{6,})\.safetensors", path.name)
                if found:
                    step = int(found[1])
                    require(step not in self.files, f"step {step} exists twice")
                    self.files[step] = path

    def versions(self, first, last):
        return [step for step in sorted(self.files) if first <= step <= last]

    def is_full(self, step):
        metadata, _ = read_file(self.files[step])
        return metadata["sparse"] == "False"

    def apply(self, state, step):
        metadata, tensors = read_file(self.files[step])
        where = self.files[step]
        require(metadata["format"] == "sparse_weight_patch" and metadata["version"] == "1", f"{where}: another format")
        require(metadata["model_version"] == str(step), f"{where}: calls itself {metadata['model_version']}")
        require(metadata["sparse"] in ("True", "False"), f"{where}: neither sparse nor full")
        require(metadata["encoding"] in ("raw", "gap_delta"), f"{where}: encoding {metadata['encoding']}")
        if metadata["sparse"] == "False":
            elements = sum(count(shape) for _, shape, _ in tensors.values())
            self.check_claims(metadata, len(tensors), elements, elements, where)
            state.update(tensors)
            return
        names = sorted(key[: -len(".val")] for key in tensors if key.endswith(".val"))
        require(len(tensors) == 2 * len(names), f"{where}: positions and values do not pair up")
        written = 0
        for name in names:
            require(name in state, f"{where}: {name} is not in the state before")
            written += self.assign(state, name, metadata["encoding"], tensors[name + ".idx"], tensors[name + ".val"])
        self.check_claims(metadata, len(names), written, sum(count(state[name][1]) for name in names), where)

    @staticmethod
    def assign(state, name, encoding, index, values):
        dtype, shape, data = state[name]
        require(dtype == "BF16" and values[0] == "BF16", f"{name}: not BF16")
        require((encoding, index[0]) in INDEX_TYPES, f"{name}: positions of type {index[0]} with {encoding}")
        require(len(index[1]) == 1 and index[1] == values[1], f"{name}: lists of different length")
        stored = numpy.frombuffer(index[2], INDEX_TYPES[encoding, index[0]]).astype(numpy.int64)
        positions = stored
        if encoding == "gap_delta":
            positions = numpy.cumsum(stored) + numpy.arange(len(stored))
            widest = int(stored.max()) if len(stored) else 0
            require((index[0] == "U32") == (widest > 65535), f"{name}: gaps up to {widest} as {index[0]}")
        require(bool((numpy.diff(positions) > 0).all()), f"{name}: positions do not ascend")
        require(len(positions) == 0 or (positions[0] >= 0 and positions[-1] < count(shape)), f"{name}: out of range")
        words = numpy.frombuffer(data, "<u2").copy()
        words[positions] = numpy.frombuffer(values[2], "<u2")
        changed(state, name, words.tobytes())
        return len(positions)

    @staticmethod
    def check_claims(metadata, params, written, elements, where):
        sparsity = 1.0 - written / elements if metadata["sparse"] == "True" else 0.0
        for key, truth in (
            ("num_changed_params", params),
            ("total_changed_elements", written),
            ("total_elements", elements),
            ("sparsity", sparsity),
        ):
            require(metadata[key] == str(truth), f"{where}: {key} is {metadata[key]}, the file says {truth}")


class SlimeV2:
    def __init__(self, source):
        self.folders = {}
        for path in sorted(source.glob("weight_v*")):
            found = re.fullmatch(r"weight_v(\d{6,})", path.name)
            if found:
                self.folders[int(found[1])] = path

    def versions(self, first, last):
        for version in range(first, last + 1):
            require(version in self.folders, f"version {version} is missing")
        return list(range(first, last + 1))

    def index(self, version):
        path = self.folders[version] / "model.safetensors.index.json"
        require(path.exists(), f"{path}: publication not finished")
        return json.loads(path.read_text(encoding="utf-8"))

    def is_full(self, version):
        return "delta_encoding" not in self.index(version)["metadata"]

    def apply(self, state, version):
        if self.is_full(version):
            state.clear()
            state.update(read_checkpoint(self.folders[version]))
            return
        folder = self.folders[version]
        index = self.index(version)
        metadata, weight_map = index["metadata"], index["weight_map"]
        require(int(metadata["version"]) == version, f"{folder}: calls itself {metadata['version']}")
        require(int(metadata["base_version"]) == version - 1, f"{folder}: builds on {metadata['base_version']}")
        require(metadata["compression_format"] == "zstd", f"{folder}: compression {metadata['compression_format']}")
        require(metadata["checksum_format"] in DIGESTS, f"{folder}: checksum {metadata['checksum_format']}")
        seen = set()
        for name in sorted(set(weight_map.values())):
            require(re.fullmatch(r"[A-Za-z0-9._-]{1,255}", name) and name not in (".", ".."), f"file name {name}")
            digests, tensors = read_file(folder / name)
            for tensor, entry in tensors.items():
                require(tensor in weight_map, f"{folder}: {tensor} is not in the index")
                if weight_map[tensor] != name:
                    continue  # published twice; the index decides
                seen.add(tensor)
                self.patch(state, tensor, entry, metadata["delta_encoding"])
                digest = DIGESTS[metadata["checksum_format"]](state[tensor][2])
                require(digest == digests[tensor], f"{folder}: {tensor} has {digest}, recorded is {digests[tensor]}")
        require(seen == set(weight_map), f"{folder}: the index names tensors that no file holds")

    @staticmethod
    def patch(state, name, entry, encoding):
        require(name in state, f"{name} is not in the state before")
        require(entry[0] == "U8" and len(entry[1]) == 1, f"{name}: no list of bytes")
        parameters = zstandard.get_frame_parameters(entry[2])
        require(parameters.content_size != zstandard.CONTENTSIZE_UNKNOWN, f"{name}: a frame without content size")
        require(not parameters.has_checksum and parameters.dict_id == 0, f"{name}: a frame with checksum or dictionary")
        unpack = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        payload = unpack.decompress(entry[2])
        require(unpack.eof and not unpack.unused_data, f"{name}: not exactly one zstd frame")
        require(len(payload) == parameters.content_size, f"{name}: another size than the frame says")
        data = numpy.frombuffer(state[name][2], numpy.uint8).copy()
        if encoding == "xor":
            require(len(payload) == len(data), f"{name}: the mask has another size")
            data ^= numpy.frombuffer(payload, numpy.uint8)
        elif encoding == "overwrite":
            (items,) = struct.unpack_from("<I", payload)
            require(len(payload) == 4 + 5 * items, f"{name}: {items} items in {len(payload)} bytes")
            positions = numpy.frombuffer(payload, "<u4", items, 4).astype(numpy.int64)
            require(bool((numpy.diff(positions) > 0).all()), f"{name}: positions do not ascend")
            require(items == 0 or positions[-1] < len(data), f"{name}: out of range")
            values = numpy.frombuffer(payload, numpy.uint8, items, 4 + 4 * items)
            require(bool((data[positions] != values).all()), f"{name}: writes bytes that are there already")
            data[positions] = values
        else:
            raise Refused(f"encoding {encoding}")
        changed(state, name, data.tobytes())


def count(shape):
    product = 1
    for dimension in shape:
        product *= dimension
    return product


def decode(source, first, last, base):
    slime = any(path.is_dir() for path in source.glob("weight_v*"))
    layout = (SlimeV2 if slime else TrlV2)(source)
    versions = layout.versions(first, last)
    require(versions, f"{source}: no version from {first} to {last}")
    require(versions[-1] == last, f"{source}: version {last} is missing")
    state = read_checkpoint(base) if base else {}
    require(base or layout.is_full(versions[0]), f"version {versions[0]} is a delta and needs --base")
    for version in versions:
        layout.apply(state, version)
    return state


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--base", type=pathlib.Path)
    parser.add_argument("--json", action="store_true", help="one document: name to dtype, shape and sha256")
    arguments = parser.parse_args()
    try:
        state = decode(arguments.source, arguments.first, arguments.last, arguments.base)
    except (Refused, KeyError, OSError, ValueError, struct.error, zstandard.ZstdError) as error:
        print(f"decode_delta.py: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    rows = {
        name: {"dtype": dtype, "shape": list(shape), "sha256": hashlib.sha256(data).hexdigest()}
        for name, (dtype, shape, data) in sorted(state.items())
    }
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False))
        return 0
    for name, row in rows.items():
        print(row["sha256"], row["dtype"], row["shape"], name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
