"""What the frameworks' own writers always do, and receivers do not look at: rules for files that were published.

check_trl() and check_slime() raise AssertionError with a reason.
Sources: docs/formats/trl-v2.md sections 3 and 4, docs/formats/slime-v2.md sections 3 and 4.
"""

import json

import numpy
import zstandard

from container import read_file


def need(condition, text):
    if not condition:
        raise AssertionError(text)


def changed_names(before, after):
    return sorted(name for name in after if after[name].data != before[name].data)


def check_trl(path, before, after):
    metadata, tensors = read_file(path)
    anchor = path.parent.name == "anchors"
    step = int(path.stem.removeprefix("step_"))
    need(path.name == f"step_{step:06d}.safetensors", f"{path.name}: not the name of step {step}")
    if anchor:
        need(tensors == after, f"{path}: not the whole state")
        names, written = sorted(after), sum(tensor.elements for tensor in after.values())
    else:
        names = changed_names(before, after)
        pairs = sorted(f"{name}.{end}" for name in names for end in ("idx", "val"))
        need(sorted(tensors) == pairs, f"{path}: holds {sorted(tensors)}")
        written = sum(check_pair(path, n, tensors, metadata["encoding"], before[n], after[n]) for n in names)
    total = sum(after[name].elements for name in names)
    claims = {
        "format": "sparse_weight_patch",
        "version": "1",
        "sparse": str(not anchor),
        "model_version": str(step),
        "num_changed_params": str(len(names)),
        "total_changed_elements": str(written),
        "total_elements": str(total),
        "sparsity": str(0.0 if anchor else 1.0 - written / total),
    }
    for key, value in claims.items():
        need(metadata[key] == value, f"{path}: {key} is {metadata[key]}, the file says {value}")
    others = [key for key in metadata if key not in claims and key != "encoding" and not key.startswith("ds.")]
    need(not others, f"{path}: unknown metadata {others}")


def check_pair(path, name, tensors, encoding, before, after):
    """Positions and values say exactly what changed, in the narrowest form. Returns how many elements."""
    index, values = tensors[f"{name}.idx"], tensors[f"{name}.val"]
    old, new = (numpy.frombuffer(tensor.data, "<u2") for tensor in (before, after))
    positions = numpy.flatnonzero(old != new)
    need(values.dtype == "BF16" and values.shape == index.shape == (len(positions),), f"{path}: {name}: shapes")
    need(values.data == new[positions].tobytes(), f"{path}: {name}: values")
    if encoding == "raw":
        dtype, stored = "I32", positions.astype("<i4")
    else:
        gaps = numpy.diff(positions, prepend=-1) - 1
        dtype, stored = ("U16", gaps.astype("<u2")) if gaps.max() <= 0xFFFF else ("U32", gaps.astype("<u4"))
    need((index.dtype, index.data) == (dtype, stored.tobytes()), f"{path}: {name}: positions as {index.dtype}")
    return len(positions)


def check_slime(folder, before, after, encoding, checksum):
    version = int(folder.name.removeprefix("weight_v"))
    text = (folder / "model.safetensors.index.json").read_text(encoding="utf-8")
    index = json.loads(text)
    need(text == json.dumps(index), f"{folder}: the index is not what json.dumps writes")
    words = {
        "version": f"{version:06d}",
        "base_version": f"{version - 1:06d}",
        "delta_encoding": encoding,
        "compression_format": "zstd",
        "checksum_format": checksum,
    }
    metadata = {key: value for key, value in index["metadata"].items() if not key.startswith("ds.")}
    need(metadata == words and list(metadata) == list(words), f"{folder}: index metadata {metadata}")
    names = changed_names(before, after)
    need(sorted(index["weight_map"]) == names, f"{folder}: the index names other tensors than changed")
    files = sorted(set(index["weight_map"].values()))
    need(files == [f"model-{i:05d}-of-{len(files):05d}.safetensors" for i in range(len(files))], f"{folder}: {files}")
    listed = sorted(path.name for path in folder.iterdir())
    need(listed == [*files, "model.safetensors.index.json"], f"{folder}: holds {listed}")
    for file in files:
        checksums, tensors = read_file(folder / file)
        need(checksums.keys() == tensors.keys(), f"{folder / file}: checksums of other tensors")
        for name, tensor in tensors.items():
            need(tensor.dtype == "U8" and len(tensor.shape) == 1, f"{folder / file}: {name} is no list of bytes")
            wanted = slime_payload(encoding, before[name].data, after[name].data)
            need(one_frame(name, tensor.data) == wanted, f"{folder / file}: {name}: another payload")


def one_frame(name, data):
    parameters = zstandard.get_frame_parameters(data)
    need(parameters.content_size != zstandard.CONTENTSIZE_UNKNOWN, f"{name}: a frame without content size")
    need(not parameters.has_checksum and parameters.dict_id == 0, f"{name}: a frame with checksum or dictionary")
    unpack = zstandard.ZstdDecompressor().decompressobj()
    payload = unpack.decompress(data)
    need(unpack.eof and not unpack.unused_data, f"{name}: not exactly one frame")
    return payload


def slime_payload(encoding, before, after):
    old, new = (numpy.frombuffer(data, numpy.uint8) for data in (before, after))
    if encoding == "xor":
        return (old ^ new).tobytes()
    positions = numpy.flatnonzero(old != new).astype("<u4")
    return numpy.array([len(positions)], "<u4").tobytes() + positions.tobytes() + new[positions].tobytes()
