"""grail windows: the three codecs, and the payloads of its first weeks (docs/formats/grail.md)."""

import hashlib
import json
import struct

import numpy
import xxhash
import zstandard

from case_model import Case, bf16, changed_positions, checkpoint, dump, take
from tensors import State, Tensor, format_safetensors

ROOT = "grail/checkpoints"
TORCH = {"BF16": "bfloat16", "F16": "float16", "F32": "float32"}
FIRST = 300
EMPTY = 4  # which window changes nothing
UNPUBLISHED = 5  # which window is left out: no hole, prev_window skips it
ALIGNED = 6  # which window has a FULL beside its DELTA


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# --- sums of the weights -------------------------------------------------------------------------------------------


def newest_hash(state: State) -> str:
    return xxhash.xxh3_128_hexdigest(b"".join(state[name].data for name in sorted(state)))


def middle_hash(state: State) -> str:
    total = hashlib.sha256()
    for name in sorted(state):
        tensor = state[name]
        total.update(name.encode() + f"torch.{TORCH[tensor.dtype]}".encode() + str(tuple(tensor.shape)).encode())
        total.update(tensor.data)
    return total.hexdigest()


def oldest_hash(state: State) -> str:
    total = hashlib.sha256()
    for name in sorted(state):
        total.update(name.encode() + state[name].data)
    return total.hexdigest()


# --- codecs --------------------------------------------------------------------------------------------------------


def narrow(numbers: list[int], words: list[str]) -> tuple[bytes, str]:
    for word, code, limit in (("uint8", "B", 255), ("uint16", "H", 65_535), ("int32", "i", 2**31 - 1)):
        if word in words and max(numbers) <= limit:
            return struct.pack(f"<{len(numbers)}{code}", *numbers), word
    raise ValueError("too large")


def rows_and_columns(positions: list[int], shape: tuple[int, ...]) -> tuple[list[int], list[int]]:
    columns = int(numpy.prod(shape[1:], dtype=int))
    row_out = []
    column_out = []
    last_row = last_column = 0
    for index, position in enumerate(positions):
        row, column = position // columns, position % columns
        row_out.append(row - last_row)
        column_out.append(column - last_column if index and row == last_row else column)
        last_row, last_column = row, column
    return row_out, column_out


def payload(version: int, before: State, after: State) -> tuple[bytes, dict, int]:
    """(bytes before compression, shapes of changed tensors, elements written)"""
    entries = []
    data = b""
    shapes = {}
    count = 0
    for name in sorted(after):
        tensor = after[name]
        positions = changed_positions(before[name], tensor, floats=True)
        if not positions:
            continue
        entry = {"name": name, "shape": list(tensor.shape), "num_nonzero": len(positions)}
        entry["value_dtype"] = TORCH[tensor.dtype]
        if version == 2:
            gaps = [b - a for a, b in zip([0, *positions], positions, strict=False)]
            indices = struct.pack(f"<{len(gaps)}i", *gaps)
            sizes = {}
        else:
            rows, columns = rows_and_columns(positions, tensor.shape)
            row_words, column_words = ["int32"], ["int32"]
            if version == 31:
                row_words, column_words = ["uint8", "uint16", "int32"], ["uint16", "int32"]
            row_bytes, entry_row = narrow(rows, row_words)
            column_bytes, entry_column = narrow(columns, column_words)
            if version == 31:
                entry |= {"row_dtype": entry_row, "col_dtype": entry_column}
            indices = row_bytes + column_bytes
            sizes = {"rows_size": len(row_bytes), "cols_size": len(column_bytes)}
        values = take(tensor, positions)
        entry |= {"indices_offset": len(data), "indices_size": len(indices)} | sizes
        entry |= {"values_offset": len(data) + len(indices), "values_size": len(values)}
        data += indices + values
        entries.append(entry)
        shapes[name] = list(tensor.shape)
        count += len(positions)
    header = json.dumps({"version": version, "tensors": entries}, separators=(",", ":")).encode()
    return struct.pack("<I", len(header)) + header + data, shapes, count


# --- windows -------------------------------------------------------------------------------------------------------


class Windows:
    def __init__(self, case: Case, hash_of, first_model: State):
        self.case = case
        self.hash_of = hash_of
        self.elements = sum(tensor.elements for tensor in first_model.values())

    def window(self, index: int) -> int:
        return FIRST + 30 * index

    def ready(self, window: int, ready: int) -> str:
        return self.case.put(f"{ROOT}/checkpoint-{window}/READY-{ready}", b"")

    def put(self, window: int, kind: str, files: dict[str, bytes], more: dict) -> list[str]:
        folder = f"{ROOT}/checkpoint-{window}/{kind}"
        metadata = {
            "window": window,
            "file_manifest": {name: sha256(data) for name, data in files.items()},
            "training_config": {"lr": 1e-06},
            "git_commit": "0000000",
            "created_at": 1770000000.0 + window,
            "model_name": "async_trainer_snapshot",
            "parent_window": window - 30,
            "checkpoint_type": kind,
        } | more
        files = files | {"metadata.json": dump(metadata, indent=2), "manifest.sig": b"00" * 64, kind: b""}
        return [self.case.put(f"{folder}/{name}", data) for name, data in files.items()]

    def full(self, window: int, state: State, shards: int, weights_hash: str | None) -> list[str]:
        files = checkpoint(state, shards, pt=True) | {"config.json": b'{"model_type": "made"}\n'}
        links = {"prev_window": None, "anchor_window": None}
        return self.put(window, "FULL", files, links | {"weights_hash": weights_hash})

    def delta(self, window: int, previous: int, anchor: int, state: State, name: str, data: bytes, about: dict):
        links = {"prev_window": previous, "anchor_window": anchor}
        files = {name: data, "delta_metadata.json": dump(about, indent=2, ensure_ascii=False)}
        return self.put(window, "DELTA", files, links | {"weights_hash": self.hash_of(state)})

    def about(self, word: str, links: dict, shapes: dict, count: int) -> dict:
        out = {"format": word, "threshold": 0.0} | links | {"shapes": shapes}
        return out | {
            "total_params": self.elements,
            "nonzero_params": count,
            "sparsity_ratio": 1.0 - count / self.elements,
        }


def codec(case: Case, seed: int, steps: int, version: int) -> None:
    hash_of = newest_hash if version == 31 else middle_hash
    # numbers are compared, so no zero of another sign; the encoder fails on scalars
    model = case.model(seed, scalars=False, nans="none", zeros=False)
    windows = Windows(case, hash_of, model.state)
    before = dict(model.state)
    window = anchor = windows.window(0)
    objects = windows.full(window, before, 2 if version == 3 else 1, hash_of(before))
    case.step(window, "anchor", None, None, before, [*objects, windows.ready(window, window)])
    for index in range(1, steps):
        state = dict(before) if index == EMPTY else model.step(index)
        if index == EMPTY:
            model.add_nans()  # from now on no delta is empty
        if index == UNPUBLISHED:
            continue
        previous, window = window, windows.window(index)
        raw, shapes, count = payload(version, before, state)
        data = zstandard.ZstdCompressor(level=1).compress(raw)
        links = {"prev_window": previous, "anchor_window": anchor}
        word = {2: "sparse_codec_v2", 3: "sparse_codec_v3", 31: "sparse_codec_v3.1"}[version]
        about = windows.about(word, links, shapes, count)
        objects = windows.delta(window, previous, anchor, state, "delta_sparse.bin.zst", data, about)
        objects.append(windows.ready(window, window + 30 * (index % 2)))
        more = {"file_nnz": count, "codec": word}
        if case.is_anchor(index, ALIGNED):  # the background FULL: no sum of the weights
            more["full_objects"] = windows.full(window, state, 1, None)
            anchor = window
        case.step(window, "delta", previous, before, state, objects, **more)
        before = state
    case.finish()


def v2(case: Case, seed: int, steps: int) -> None:
    codec(case, seed, steps, 2)


def v3(case: Case, seed: int, steps: int) -> None:
    codec(case, seed, steps, 3)


def v3_1(case: Case, seed: int, steps: int) -> None:
    codec(case, seed, steps, 31)


# --- the first weeks -----------------------------------------------------------------------------------------------


def to_float(tensor: Tensor) -> numpy.ndarray:
    """BF16 as floats: it is the upper half of one."""
    return (numpy.frombuffer(tensor.data, "<u2").astype("<u4") << 16).view("<f4")


def to_bf16(numbers: numpy.ndarray, shape: tuple[int, ...]) -> Tensor:
    """Rounded to the nearest, ties to even."""
    bits = numbers.astype("<f4").view("<u4").astype(numpy.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return Tensor("BF16", shape, rounded.astype("<u2").tobytes())


def old(case: Case, seed: int, steps: int, arithmetic: bool) -> None:
    """delta_sparse.safetensors: F32 differences to a FULL; later, compressed and chained, new values."""
    model = case.model(seed, scalars=False, nans="none", zeros=False, fp32=False, other=False)
    model.rare = [0x3F80, 0xBF81, 0x4000]  # infinities have no difference, the smallest numbers lose theirs
    model.state["model.rare"] = bf16((6, 6), numpy.resize(model.rare, 36))
    huge = numpy.frombuffer(model.state["model.still.weight"].data, "<u2").copy()
    huge[0] = 0x7E00
    model.state["model.still.weight"] = bf16((20, 4), huge)
    windows = Windows(case, oldest_hash, model.state)
    before = dict(model.state)
    base = dict(before)
    window = anchor = windows.window(0)
    objects = windows.full(window, before, 1, oldest_hash(before))
    case.step(window, "anchor", None, None, before, [*objects, windows.ready(window, window)])
    for index in range(1, steps):
        state = model.step(index)
        if arithmetic and index % 2:  # a small number in the place of a huge one is lost in the difference
            words = huge.copy()
            words[0] = 0x3F80 + index
            state["model.still.weight"] = bf16((20, 4), words)
        previous, window = window, windows.window(index)
        streams = {}
        replayed = dict(state)
        against = base if arithmetic else before
        count = 0
        for name, tensor in state.items():
            positions = changed_positions(against[name], tensor, floats=True)
            if not positions:
                continue
            streams[name + ".indices"] = Tensor("I32", (len(positions),), numpy.array(positions, "<i4").tobytes())
            if arithmetic:
                difference = numpy.zeros(tensor.elements, "<f4")
                difference[positions] = (to_float(tensor) - to_float(against[name]))[positions]
                values = Tensor("F32", (len(positions),), difference[positions].tobytes())
                sums = to_bf16(to_float(against[name]) + difference, tensor.shape)
                bits = numpy.frombuffer(against[name].data, "<u2").copy()
                bits[positions] = numpy.frombuffer(sums.data, "<u2")[positions]
                replayed[name] = tensor._replace(data=bits.tobytes())
            else:
                values = Tensor("BF16", (len(positions),), take(tensor, positions))
            streams[name + ".values"] = values
            count += len(positions)
        data = format_safetensors(streams)
        name = "delta_sparse.safetensors"
        if arithmetic:
            links = {"base_window": anchor}
        else:
            links = {"prev_window": previous, "anchor_window": anchor}
            name += ".zst"
            data = zstandard.ZstdCompressor(level=3).compress(data)
        files = {name: data, "delta_metadata.json": dump(links | {"total_params": windows.elements}, indent=2)}
        kept = replayed == state
        objects = windows.put(window, "DELTA", files, links | {"weights_hash": oldest_hash(state) if kept else None})
        objects.append(windows.ready(window, window))
        more = {"file_nnz": count, "codec": "arithmetic" if arithmetic else "absolute"}
        if not kept:
            more["trainer_tensors_differ"] = sorted(n for n in state if state[n] != replayed[n])
        case.step(window, "delta", anchor if arithmetic else previous, against, replayed, objects, **more)
        before = state
    case.finish(**({"lossy": True} if arithmetic else {}))


def old_arithmetic(case: Case, seed: int, steps: int) -> None:
    old(case, seed, steps, arithmetic=True)


def old_absolute(case: Case, seed: int, steps: int) -> None:
    old(case, seed, steps, arithmetic=False)
