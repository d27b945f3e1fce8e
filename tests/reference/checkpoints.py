"""Layouts in which every step stands alone: hf, trl-adapter, and DCP in the safetensors container."""

import pathlib

import numpy

from replay import Version
from tensors import Broken, State, Tensor, keys, matches, parse_json, read_checkpoint, read_safetensors


def hf(source: pathlib.Path) -> list[Version]:
    """The source itself is step 0, checkpoint-N is step N."""
    folders = {}
    for key in keys(source):
        if key in ("model.safetensors", "model.safetensors.index.json"):
            folders[0] = source
    for match in matches(source, r"checkpoint-(?P<step>\d+)/(model\.safetensors|model\.safetensors\.index\.json)"):
        folders[int(match["step"])] = (source / match[0]).parent
    return [
        Version(step, "anchor", None, lambda _before, folder=folder: read_checkpoint(folder))
        for step, folder in sorted(folders.items())
    ]


def trl_adapter(source: pathlib.Path) -> list[Version]:
    """NAME-vN holds a whole adapter; a folder that is still being written has another name."""
    inside = r"" if source.name == ".vllm_lora" else r"\.vllm_lora/"
    out = []
    for match in matches(source, inside + r"[^./][^/]*-v(?P<step>\d+)/adapter_config\.json"):
        path = (source / match[0]).parent / "adapter_model.safetensors"
        out.append(Version(int(match["step"]), "anchor", None, lambda _before, path=path: read_safetensors(path)[1]))
    return out


def dcp_hf(source: pathlib.Path) -> list[Version]:
    """Each file holds rectangles of tensors; where they lie is in the metadata."""

    def build(_before: State | None) -> State:
        pieces: dict[str, list[tuple[list[int], Tensor]]] = {}
        for match in matches(source, r"shard-\d{5}-model-\d{5}-of-\d{5}\.safetensors"):
            metadata, tensors = read_safetensors(source / match[0])
            info = parse_json(metadata["DCP_SHARDING_INFO"].encode())
            for name, tensor in tensors.items():
                pieces.setdefault(name, []).append((info[name]["saved_offsets"], tensor))
        state = {}
        for name, parts in pieces.items():
            rank = len(parts[0][0])
            shape = tuple(max(offsets[axis] + part.shape[axis] for offsets, part in parts) for axis in range(rank))
            item = parts[0][1].item
            whole = numpy.zeros(shape, f"<u{item}")
            filled = numpy.zeros(shape, numpy.uint8)
            for offsets, part in parts:
                where = tuple(slice(begin, begin + size) for begin, size in zip(offsets, part.shape, strict=True))
                whole[where] = numpy.frombuffer(part.data, f"<u{item}").reshape(part.shape)
                filled[where] += 1
            if numpy.any(filled != 1):
                raise Broken(f"the pieces of {name!r} overlap or leave holes")
            state[name] = Tensor(parts[0][1].dtype, shape, whole.tobytes())
        return state

    return [Version(0, "anchor", None, build)]


def versions(source: pathlib.Path, layout: str) -> list[Version]:
    return {"hf": hf, "trl-adapter": trl_adapter, "dcp-hf": dcp_hf}[layout](source)
