"""What every reader here needs: tensors as bytes, the safetensors container read and written by hand, digests.

Slow and obvious on purpose. A state is {name: Tensor}. Nothing is shared with the program that these readers judge.
"""

import functools
import hashlib
import json
import pathlib
import re
import struct
from typing import NamedTuple

import numpy
import xxhash
import zstandard

# bits of an element, in the order by which writers sort a file: the last first (huggingface/safetensors, tensor.rs)
BITS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
    "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}  # fmt: skip
RANK = list(BITS)
TORCH = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "float8_e5m2": "F8_E5M2", "float8_e4m3fn": "F8_E4M3", "int16": "I16",
    "float16": "F16", "bfloat16": "BF16", "int32": "I32", "float32": "F32", "float64": "F64", "int64": "I64",
}  # fmt: skip
MAX_HEADER = 100_000_000


class Broken(Exception):
    """A step cannot be rebuilt, and why."""


class Tensor(NamedTuple):
    dtype: str
    shape: tuple[int, ...]
    data: bytes

    @property
    def elements(self) -> int:
        product = 1
        for size in self.shape:
            product *= size
        return product

    @property
    def item(self) -> int:
        """Bytes of an element."""
        return BITS[self.dtype] // 8


State = dict[str, Tensor]


def words(tensor: Tensor) -> numpy.ndarray:
    """The elements as unsigned integers."""
    if BITS[tensor.dtype] % 8:
        raise Broken(f"elements of {tensor.dtype} are no whole bytes")
    return numpy.frombuffer(tensor.data, f"<u{tensor.item}")


def numbers(tensor: Tensor, dtypes: tuple[str, ...]) -> numpy.ndarray:
    """An integer tensor as 64-bit numbers."""
    if tensor.dtype not in dtypes or len(tensor.shape) != 1:
        raise Broken(f"{tensor.dtype} {list(tensor.shape)} where {dtypes} of rank 1 is due")
    kind = {"I": "i", "U": "u"}[tensor.dtype[0]]
    return numpy.frombuffer(tensor.data, f"<{kind}{tensor.item}").astype(numpy.int64)


def assign(tensor: Tensor, positions: numpy.ndarray, values: Tensor) -> Tensor:
    """The tensor with new values at flat positions; positions strictly ascend."""
    if values.dtype != tensor.dtype:
        raise Broken(f"values of {values.dtype} for a tensor of {tensor.dtype}")
    if len(positions) != values.elements:
        raise Broken(f"{len(positions)} positions for {values.elements} values")
    if len(positions) == 0:
        return tensor
    if numpy.any(positions[1:] <= positions[:-1]):
        raise Broken("positions do not ascend")
    if positions[0] < 0 or positions[-1] >= tensor.elements:
        raise Broken(f"a position outside of {tensor.elements} elements")
    out = words(tensor).copy()
    out[positions] = words(values)
    return tensor._replace(data=out.tobytes())


def changed_elements(before: State, after: State) -> int:
    """Elements whose bits differ; all of a tensor that was not there."""
    count = 0
    for name, tensor in after.items():
        old = before.get(name)
        if old is tensor:
            continue
        if old is None or (old.dtype, old.shape) != (tensor.dtype, tensor.shape):
            count += tensor.elements
        else:
            count += int(numpy.count_nonzero(words(old) != words(tensor)))
    return count


@functools.cache
def digests(tensor: Tensor) -> dict:
    return {
        "dtype": tensor.dtype,
        "shape": list(tensor.shape),
        "xxh3_128": xxhash.xxh3_128_hexdigest(tensor.data),
        "sha256": hashlib.sha256(tensor.data).hexdigest(),
    }


# --- JSON and zstd ---------------------------------------------------------------------------------------------------


def _no_duplicates(pairs):
    out = dict(pairs)
    if len(out) != len(pairs):
        raise Broken("a JSON key occurs twice")
    return out


def parse_json(data: bytes):
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_no_duplicates)
    except ValueError as error:
        raise Broken(f"no JSON: {error}") from error


def read_bytes(path: pathlib.Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Broken(f"{path.name} cannot be read: {error.strerror}") from error


def read_json(path: pathlib.Path):
    return parse_json(read_bytes(path))


def unzstd(data: bytes) -> bytes:
    """One zstd frame and nothing behind it."""
    frame = zstandard.ZstdDecompressor().decompressobj()
    try:
        out = frame.decompress(data)
    except zstandard.ZstdError as error:
        raise Broken(f"no zstd frame: {error}") from error
    if not frame.eof or frame.unused_data:
        raise Broken("not exactly one whole zstd frame")
    return out


def is_zstd(data: bytes) -> bool:
    return data[:4] == b"\x28\xb5\x2f\xfd"


# --- safetensors -----------------------------------------------------------------------------------------------------


def split_header(data: bytes) -> tuple[dict, int]:
    """(header, where the data begin). data may be only the front of a file."""
    if len(data) < 8:
        raise Broken("shorter than 8 bytes")
    (length,) = struct.unpack("<Q", data[:8])
    if length > MAX_HEADER or 8 + length > len(data):
        raise Broken("the header does not fit")
    header = parse_json(data[8 : 8 + length])
    if not isinstance(header, dict):
        raise Broken("the header is no object")
    return header, 8 + length


def parse_safetensors(data: bytes) -> tuple[dict[str, str], State]:
    """(metadata, tensors) of a whole file; every rule of the container is checked."""
    header, begin = split_header(data)
    metadata = header.pop("__metadata__", None) or {}
    tensors = {}
    ranges = []
    for name, entry in header.items():
        try:
            dtype, shape, (first, last) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
            bits = BITS[dtype]
        except (KeyError, TypeError, ValueError) as error:
            raise Broken(f"entry {name!r} is not sound") from error
        for number in (*shape, first, last):
            if not isinstance(number, int) or number < 0:
                raise Broken(f"entry {name!r} has a number that is none")
        tensor = Tensor(dtype, shape, data[begin + first : begin + last])
        if bits * tensor.elements != 8 * (last - first):
            raise Broken(f"{name!r} has another length than its shape")
        tensors[name] = tensor
        ranges.append((first, last))
    end = 0
    for first, last in sorted(ranges):
        if first != end:
            raise Broken("holes or overlaps")
        end = last
    if begin + end != len(data):
        raise Broken(f"{len(data)} bytes where the header promises {begin + end}")
    return metadata, tensors


def read_safetensors(path: pathlib.Path) -> tuple[dict[str, str], State]:
    try:
        return parse_safetensors(read_bytes(path))
    except Broken as error:
        raise Broken(f"{path.name}: {error}") from error


def read_header(path: pathlib.Path) -> tuple[dict[str, str], dict]:
    """(metadata, entries) without the data, so also of a file that was cut."""
    data = read_bytes(path)
    header, _ = split_header(data)
    metadata = header.pop("__metadata__", None) or {}
    return metadata, header


def format_safetensors(tensors: State, metadata: dict[str, str] | None = None) -> bytes:
    """Bytes as the library writes them: wide types first, then by name; the header padded to 8 bytes."""
    header: dict = {}
    if metadata is not None:
        header["__metadata__"] = metadata
    data = b""
    for name in sorted(tensors, key=lambda name: (-RANK.index(tensors[name].dtype), name.encode())):
        tensor = tensors[name]
        offsets = [len(data), len(data) + len(tensor.data)]
        header[name] = {"dtype": tensor.dtype, "shape": list(tensor.shape), "data_offsets": offsets}
        data += tensor.data
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


# --- folders ---------------------------------------------------------------------------------------------------------


def keys(source: pathlib.Path) -> list[str]:
    """Relative names of all files below the source, without Deltascope's own folder."""
    found = (path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file())
    return sorted(key for key in found if ".deltascope" not in key.split("/"))


def matches(source: pathlib.Path, pattern: str) -> list[re.Match]:
    """Files whose name below some prefix matches; only those of the prefix that is closest to the source."""
    found = [match for key in keys(source) if (match := re.fullmatch("(?P<prefix>(?:.*/)?)" + pattern, key))]
    if not found:
        return []
    nearest = min((match["prefix"].count("/"), match["prefix"]) for match in found)[1]
    return [match for match in found if match["prefix"] == nearest]


def safe_name(name: object) -> str:
    """A file name out of a JSON file: one component, nothing that leads elsewhere."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9._-]{1,255}", name) or name in (".", ".."):
        raise Broken(f"{name!r} is no plain file name")
    return name


def read_checkpoint(folder: pathlib.Path) -> State:
    """A Hugging Face checkpoint: the files of its index, else model.safetensors."""
    index = folder / "model.safetensors.index.json"
    if not index.exists():
        return read_safetensors(folder / "model.safetensors")[1]
    weight_map = read_json(index)["weight_map"]
    files = {name: read_safetensors(folder / safe_name(name))[1] for name in sorted(set(weight_map.values()))}
    state = {}
    for name, file in weight_map.items():
        if name not in files[file]:
            raise Broken(f"{file} lacks {name!r}")
        state[name] = files[file][name]
    if sum(len(tensors) for tensors in files.values()) != len(state):
        raise Broken(f"{folder.name}: its files hold other tensors than its index says")
    return state
