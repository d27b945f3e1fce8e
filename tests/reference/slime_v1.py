"""slime-v1: flush files, several per version and rank; one blob of positions and one of values in each."""

import pathlib

import numpy

from fold import fold
from replay import Version
from tensors import (
    TORCH,
    Broken,
    State,
    Tensor,
    assign,
    is_zstd,
    matches,
    numbers,
    parse_json,
    parse_safetensors,
    read_bytes,
    unzstd,
)


def cast_back(values: Tensor, dtype: str) -> Tensor:
    """Values that became F32 beside an F32 tensor, in their own type again. Nothing may be lost by it."""
    if values.dtype == dtype:
        return values
    if values.dtype != "F32" or dtype != "BF16":
        raise Broken(f"values of {values.dtype} for {dtype}")
    bits = numpy.frombuffer(values.data, "<u4")
    if numpy.any(bits & 0xFFFF):
        raise Broken("an F32 value is no BF16")
    return Tensor("BF16", values.shape, (bits >> 16).astype("<u2").tobytes())


def positions(encoding: str, width: int, blob: bytes) -> numpy.ndarray:
    if width not in (2, 4) or len(blob) % width or (encoding == "indices" and width != 4):
        raise Broken(f"positions of width {width} in {len(blob)} bytes")
    count = len(blob) // width
    if encoding == "indices":
        return numbers(Tensor("I32", (count,), blob), ("I32",))
    gaps = numbers(Tensor("U16" if width == 2 else "U32", (count,), blob), ("U16", "U32"))
    return numpy.cumsum(gaps + 1) - 1


def apply_file(path: pathlib.Path, version: int, state: State) -> None:
    data = read_bytes(path)
    wrapped = is_zstd(data)
    metadata, tensors = parse_safetensors(unzstd(data) if wrapped else data)
    encoding = metadata.get("encoding")
    if encoding not in ("indices", "deltas", "deltas_zstd") or (encoding == "deltas_zstd") != wrapped:
        raise Broken(f"encoding {encoding!r}, zstd: {wrapped}")
    if metadata.get("current_version") != str(version):
        raise Broken(f"current_version {metadata.get('current_version')!r} in version {version}")
    blob, values = tensors["__positions__"], tensors["__values__"]
    if str(fold(blob) ^ (fold(values) << 1)) != metadata.get("checksum"):
        raise Broken(f"checksum is {metadata.get('checksum')}, the data have {fold(blob) ^ (fold(values) << 1)}")
    for param in parse_json(metadata["params"].encode()):
        name = param["name"]
        dtype = TORCH.get(param["dtype"])
        if name not in state:
            raise Broken(f"{name!r} is not in the state before")
        if (dtype, tuple(param["shape"])) != (state[name].dtype, state[name].shape):
            raise Broken(f"{name!r} is {param['dtype']} {param['shape']}, the state has {digest_shape(state[name])}")
        start, end = param["val_start"], param["val_end"]
        part = Tensor(values.dtype, (end - start,), values.data[start * values.item : end * values.item])
        where = positions(encoding, param["pos_width"], blob.data[param["pos_start"] : param["pos_end"]])
        state[name] = assign(state[name], where, cast_back(part, dtype))


def digest_shape(tensor: Tensor) -> str:
    return f"{tensor.dtype} {list(tensor.shape)}"


def versions(source: pathlib.Path, _layout: str) -> list[Version]:
    folders: dict[int, list[pathlib.Path]] = {}
    for match in matches(source, r"weight_v(?P<number>\d{6,})/rank\d{4}_flush\d{6}\.safetensors"):
        folders.setdefault(int(match["number"]), []).append(source / match[0])
    out = []
    for number, paths in sorted(folders.items()):

        def build(before, number=number, paths=paths):
            state = dict(before)
            for path in sorted(paths):
                try:
                    apply_file(path, number, state)
                except Broken as error:
                    raise Broken(f"{path.name}: {error}") from error
            return state

        # a version without a change is an empty folder, which is not there; so the next one below is the base
        lower = max((other for other in folders if other < number), default=0)
        out.append(Version(number, "delta", lower, build))
    return out
