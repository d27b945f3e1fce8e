"""grail: windows with a FULL, a DELTA, or both; three codecs, and the payloads of its first weeks."""

import gzip
import hashlib
import math
import pathlib
import struct

import numpy
import xxhash

from replay import Version, broken
from tensors import (
    TORCH,
    Broken,
    State,
    Tensor,
    assign,
    matches,
    numbers,
    parse_json,
    parse_safetensors,
    read_bytes,
    unzstd,
)

NAMES = {dtype: f"torch.{word}" for word, dtype in TORCH.items()}
WIDTHS = {"uint8": "U8", "uint16": "U16", "int32": "I32"}


def fetch(folder: pathlib.Path, name: str) -> bytes:
    """grail asks for NAME.gz first."""
    zipped = folder / (name + ".gz")
    if zipped.exists():
        return gzip.decompress(read_bytes(zipped))
    return read_bytes(folder / name)


def manifest_files(folder: pathlib.Path) -> tuple[dict, dict[str, bytes]]:
    """(metadata, files of its manifest); each file has the SHA-256 that the manifest says."""
    metadata = parse_json(fetch(folder, "metadata.json"))
    files = {}
    for name, wanted in metadata["file_manifest"].items():
        if ".." in name.split("/") or name.startswith("/"):
            raise Broken(f"{name!r} leads elsewhere")
        files[name] = fetch(folder, name)
        if hashlib.sha256(files[name]).hexdigest() != wanted:
            raise Broken(f"{folder.name}/{name} does not have the SHA-256 of the manifest")
    return metadata, files


def check_weights(state: State, wanted: str | None) -> State:
    """32 digits: XXH3-128 of the data. 64: SHA-256 with name, dtype and shape, or (before that) with the name."""
    if wanted is None:
        return state
    ordered = sorted(state.items())
    if len(wanted) == 32:
        found = [xxhash.xxh3_128_hexdigest(b"".join(tensor.data for _, tensor in ordered))]
    else:
        middle = hashlib.sha256()
        oldest = hashlib.sha256()
        for name, tensor in ordered:
            middle.update(name.encode() + NAMES[tensor.dtype].encode() + str(tensor.shape).encode() + tensor.data)
            oldest.update(name.encode() + tensor.data)
        found = [middle.hexdigest(), oldest.hexdigest()]
    if wanted not in found:
        raise Broken(f"weights_hash is {wanted}, the weights have {' or '.join(found)}")
    return state


def read_full(folder: pathlib.Path) -> State:
    metadata, files = manifest_files(folder)
    state: State = {}
    for name in sorted(files):
        if name.endswith(".safetensors"):
            state |= parse_safetensors(files[name])[1]
    index = files.get("model.safetensors.index.json")
    if index is not None and set(parse_json(index)["weight_map"]) != set(state):
        raise Broken("the shards hold other tensors than their index says")
    if not state:
        raise Broken("a FULL without weights")
    return check_weights(state, metadata.get("weights_hash"))


# --- codecs --------------------------------------------------------------------------------------------------------


def column_sums(rows: numpy.ndarray, columns: numpy.ndarray) -> numpy.ndarray:
    """A column is a difference to the one before it in its row; the first of a row is itself."""
    out = []
    last = 0
    for index, (row, column) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        last = column if index == 0 or row != 0 else last + column
        out.append(last)
    return numpy.array(out, numpy.int64)


def stream(dtype: str, data: bytes) -> numpy.ndarray:
    width = {"U8": 1, "U16": 2, "I32": 4}[dtype]
    if len(data) % width:
        raise Broken(f"{len(data)} bytes of {dtype}")
    return numbers(Tensor(dtype, (len(data) // width,), data), (dtype,))


def decode_positions(version: int, entry: dict, data: bytes) -> numpy.ndarray:
    if version == 2:
        return numpy.cumsum(stream("I32", data))
    row_dtype = WIDTHS[entry.get("row_dtype", "int32")] if version == 31 else "I32"
    column_dtype = WIDTHS[entry.get("col_dtype", "int32")] if version == 31 else "I32"
    rows_size = entry["rows_size"]
    if rows_size + entry["cols_size"] != len(data):
        raise Broken("rows and columns do not fill the positions")
    rows = stream(row_dtype, data[:rows_size])
    columns = stream(column_dtype, data[rows_size:])
    if len(rows) != len(columns):
        raise Broken("rows and columns differ in number")
    width = math.prod(entry["shape"][1:])
    column = column_sums(rows, columns)
    if numpy.any(column < 0) or numpy.any(column >= width):
        raise Broken(f"a column outside of {width}")
    return numpy.cumsum(rows) * width + column


def apply_codec(payload: bytes, before: State) -> State:
    state = dict(before)
    if not payload:
        return state  # accepted as "no change"
    (length,) = struct.unpack("<I", payload[:4])
    header = parse_json(payload[4 : 4 + length])
    data = payload[4 + length :]
    version = header["version"]
    if version not in (2, 3, 31):
        raise Broken(f"codec version {version}")
    for entry in header["tensors"]:
        name = entry["name"]
        if name not in state or list(state[name].shape) != entry["shape"]:
            raise Broken(f"{name!r} {entry['shape']} is not in the state before")
        indices = data[entry["indices_offset"] : entry["indices_offset"] + entry["indices_size"]]
        values = data[entry["values_offset"] : entry["values_offset"] + entry["values_size"]]
        if (len(indices), len(values)) != (entry["indices_size"], entry["values_size"]):
            raise Broken(f"{name!r} reaches behind the payload")
        dtype = TORCH.get(entry["value_dtype"])
        if dtype not in ("BF16", "F16", "F32"):
            raise Broken(f"values of {entry['value_dtype']!r}")
        count = entry["num_nonzero"]
        if len(values) != count * (4 if dtype == "F32" else 2):
            raise Broken(f"{name!r}: {len(values)} bytes for {count} values")
        positions = decode_positions(version, entry, indices)
        state[name] = assign(state[name], positions, Tensor(dtype, (count,), values))
    return state


# --- payloads of the first weeks -----------------------------------------------------------------------------------


def add(tensor: Tensor, positions: numpy.ndarray, values: Tensor) -> Tensor:
    """F32 differences, added as F32 and rounded to the nearest BF16, ties to even. Not exact."""
    if tensor.dtype != "BF16":
        raise Broken(f"differences for {tensor.dtype}")
    old = (numpy.frombuffer(tensor.data, "<u2").astype("<u4") << 16).view("<f4")[positions]
    new = (old + numpy.frombuffer(values.data, "<f4")).view("<u4").astype(numpy.uint64)
    nan = (new & 0x7FFFFFFF) > 0x7F800000
    rounded = (new + 0x7FFF + ((new >> 16) & 1)) >> 16
    rounded[nan] = 0x7FC0
    return assign(tensor, positions, Tensor("BF16", values.shape, rounded.astype("<u2").tobytes()))


def apply_old(payload: bytes, before: State) -> State:
    """NAME.indices and NAME.values; F32 values beside another type are differences, else they are new values."""
    state = dict(before)
    tensors = parse_safetensors(payload)[1]
    for name in sorted(key.removesuffix(".values") for key in tensors if key.endswith(".values")):
        if name not in state or name + ".indices" not in tensors:
            raise Broken(f"{name!r} has no positions or no state before")
        positions, values = numbers(tensors[name + ".indices"], ("I32",)), tensors[name + ".values"]
        if len(positions) != values.elements or numpy.any(positions < 0):
            raise Broken(f"{name!r}: {len(positions)} positions for {values.elements} values")
        if len(positions) and positions.max() >= state[name].elements:
            raise Broken(f"{name!r}: a position outside of {state[name].elements} elements")
        change = add if values.dtype == "F32" and state[name].dtype != "F32" else assign
        state[name] = change(state[name], positions, values)
    return state


PAYLOADS = {
    "delta_sparse.bin.zst": lambda data, before: apply_codec(unzstd(data), before),
    "delta_sparse.safetensors": apply_old,
    "delta_sparse.safetensors.zst": lambda data, before: apply_old(unzstd(data), before),
}


# --- windows -------------------------------------------------------------------------------------------------------


def delta(folder: pathlib.Path):
    def build(before: State | None) -> State:
        if before is None:
            raise Broken("the window on which it builds is not there or cannot be rebuilt")
        metadata, files = manifest_files(folder)
        found = [name for name in files if name in PAYLOADS]
        if len(found) != 1:
            raise Broken(f"{len(found)} payloads in {folder.parent.name}")
        return check_weights(PAYLOADS[found[0]](files[found[0]], before), metadata.get("weights_hash"))

    return build


def full(folder: pathlib.Path):
    return lambda _before: read_full(folder)


def full_else_delta(folder: pathlib.Path):
    """A FULL is used alone. One that is not whole (it is uploaded in the background) does not count."""
    by_delta = delta(folder / "DELTA")

    def build(before: State | None) -> State:
        try:
            return read_full(folder / "FULL")
        except Broken as error:
            try:
                return by_delta(before)
            except Broken as other:
                raise Broken(f"FULL: {error}; DELTA: {other}") from other

    return build


def previous_window(folder: pathlib.Path) -> int:
    """The oldest payloads name the FULL that they differ from."""
    metadata = parse_json(fetch(folder, "metadata.json"))
    previous = metadata.get("prev_window", metadata.get("base_window"))
    if not isinstance(previous, int):
        raise Broken("neither prev_window nor base_window")
    return previous


def versions(source: pathlib.Path, _layout: str) -> list[Version]:
    windows: dict[int, set[str]] = {}
    folders: dict[int, pathlib.Path] = {}
    for match in matches(source, r"checkpoint-(?P<window>\d+)/(?P<rest>.+)"):
        window = int(match["window"])
        windows.setdefault(window, set()).add(match["rest"].split("/")[0])
        folders[window] = source / match["prefix"] / f"checkpoint-{match['window']}"
    out = []
    for window, parts in sorted(windows.items()):
        folder = folders[window]
        ready = any(part.startswith("READY-") for part in parts)
        if not ready:
            out.append(Version(window, "delta", None, broken("no READY: not published")))
        elif "DELTA" not in parts:
            out.append(Version(window, "anchor", None, full(folder / "FULL")))
        else:
            try:
                previous = previous_window(folder / "DELTA")
            except Broken as error:
                out.append(Version(window, "delta", None, broken(str(error))))
                continue
            build = full_else_delta(folder) if "FULL" in parts else delta(folder / "DELTA")
            out.append(Version(window, "delta", previous, build, alone="FULL" in parts))
    return out
