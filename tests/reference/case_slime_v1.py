"""slime's flush files: slime-v1 (docs/formats/slime-v1.md). Two ranks, several files each, BF16 beside F32."""

import json
import struct

import zstandard

from case_model import Case, changed_positions, pattern, take, widen
from tensors import State, Tensor, format_safetensors

TORCH = {"BF16": "bfloat16", "F32": "float32"}
PER_FLUSH = 4


def positions_blob(encoding: str, positions: list[int]) -> tuple[bytes, int]:
    if encoding == "indices":
        return struct.pack(f"<{len(positions)}i", *positions), 4
    gaps = []
    last = -1
    for position in positions:
        gaps.append(position - last - 1)
        last = position
    width = 2 if max(gaps) <= 65_535 else 4
    return struct.pack(f"<{len(gaps)}{'H' if width == 2 else 'I'}", *gaps), width


def flush(encoding: str, number: int, before: State, after: State, names: list[str]) -> bytes:
    """One file of these tensors; the values become F32 when one of them is."""
    mixed = len({after[name].dtype for name in names}) > 1
    blob = b""
    taken_values = b""
    count = 0
    params = []
    for name in names:
        tensor = after[name]
        changed = changed_positions(before[name], tensor)
        encoded, width = positions_blob(encoding, changed)
        taken = take(tensor, changed)
        if mixed and tensor.dtype == "BF16":
            taken = widen(taken)
        params.append(
            {
                "name": name,
                "dtype": TORCH[tensor.dtype],
                "shape": list(tensor.shape),
                "pos_start": len(blob),
                "pos_end": len(blob) + len(encoded),
                "pos_width": width,
                "val_start": count,
                "val_end": count + len(changed),
            }
        )
        blob += encoded
        taken_values += taken
        count += len(changed)
    positions = Tensor("U8", (len(blob),), blob)
    values = Tensor("F32" if mixed else after[names[0]].dtype, (count,), taken_values)
    metadata = {
        "encoding": encoding,
        "params": json.dumps(params),
        "current_version": str(number),
        "checksum": str(pattern(positions) ^ (pattern(values) << 1)),
    }
    tensors = {"__positions__": positions, "__values__": values}
    data = format_safetensors(tensors, metadata)
    return zstandard.ZstdCompressor(level=1).compress(data) if encoding == "deltas_zstd" else data


def make(case: Case, seed: int, steps: int, encoding: str) -> None:
    # a NaN stands for "unchanged" inside the writer, and numbers are compared: neither NaNs nor zeros of other signs
    model = case.model(seed, nans="none", zeros=False, other=False)
    before = dict(model.state)
    case.base(before)
    for number in range(1, steps + 1):
        state = model.step(number)
        written = 0
        objects = []
        changed = [name for name in sorted(state) if state[name] != before[name]]
        for rank in range(2):
            mine = changed[rank::2]
            for at in range(0, len(mine), PER_FLUSH):
                names = mine[at : at + PER_FLUSH]
                data = flush(encoding, number, before, state, names)
                key = f"weight_v{number:06d}/rank{rank:04d}_flush{at // PER_FLUSH:06d}.safetensors"
                objects.append(case.put(key, data))
                written += sum(len(changed_positions(before[name], state[name])) for name in names)
        case.step(number, "delta", number - 1, before, state, objects, file_nnz=written)
        before = state
    case.finish()


def indices(case: Case, seed: int, steps: int) -> None:
    make(case, seed, steps, "indices")


def deltas(case: Case, seed: int, steps: int) -> None:
    make(case, seed, steps, "deltas")


def deltas_zstd(case: Case, seed: int, steps: int) -> None:
    make(case, seed, steps, "deltas_zstd")
