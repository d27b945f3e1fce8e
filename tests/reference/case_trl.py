"""TRL: trl-v1.0, trl-v1.1, trl-v1.2 (docs/formats/trl-v1.md) and trl-v2 (docs/formats/trl-v2.md)."""

import hashlib
import json

import numpy

from case_model import Case, changed_positions, take
from tensors import State, Tensor, format_safetensors

INTERVAL = 4
HOLE = 3  # the step of trl-v2 that changes nothing and has no file


def whole_sum(state: State) -> str:
    return hashlib.sha256(b"".join(state[name].data for name in sorted(state))).hexdigest()


def sparse(before: State, after: State) -> tuple[State, int]:
    """(streams, elements written): flat I32 positions and values of every tensor that changed as numbers."""
    streams = {}
    count = 0
    for name in after:
        positions = changed_positions(before[name], after[name], floats=True)
        if positions:
            streams[name + ".indices"] = Tensor("I32", (len(positions),), numpy.array(positions, "<i4").tobytes())
            streams[name + ".values"] = Tensor("BF16", (len(positions),), take(after[name], positions))
            count += len(positions)
    return streams, count


def names_of(streams: State) -> list[str]:
    return sorted(key.removesuffix(".indices") for key, tensor in streams.items() if tensor.dtype == "I32")


def counted(streams: State, count: int, total: int) -> dict[str, str]:
    names = names_of(streams)
    return {
        "num_changed_params": str(len(names)),
        "total_changed_elements": str(count),
        "total_elements": str(total),
        "sparsity": str(1.0 - count / total),
        "changed_params": json.dumps(names),
    }


def v1_0(case: Case, seed: int, steps: int) -> None:
    """Sums of the whole state; an empty delta as a file; anchors every few steps, complete."""
    model = case.model(seed, scalars=False, nans="none", zeros=False, fp32=False, other=False)
    before: State = {}
    state = dict(model.state)
    empty = 3
    for number in range(1, steps + 1):
        if number > 1 and number != empty:
            state = model.step(number)
        if number == empty:
            model.add_nans()  # from now on no delta is empty: NaN differs from itself
        metadata = {"version": "1", "model_version": str(number), "base_model_id": "made/größe"}
        metadata["checksum_sha256"] = whole_sum(state)
        if number == 1 or case.is_anchor(number, INTERVAL):
            data = format_safetensors(state, metadata | {"format": "anchor_checkpoint"})
            key = case.put(f"anchors/step_{number:06d}.safetensors", data)
            case.step(number, "anchor", None, None, state, [key])
            anchor = number
        else:
            streams, count = sparse(before, state)
            total = sum(tensor.elements for tensor in state.values())
            metadata |= {"format": "sparse_weight_patch", "prev_model_version": str(number - 1)}
            metadata |= {"anchor_step": str(anchor)} | counted(streams, count, total)
            streams = streams or {"__empty_delta__": Tensor("I32", (1,), bytes(4))}
            key = case.put(f"deltas/step_{number:06d}.safetensors", format_safetensors(streams, metadata))
            case.step(number, "delta", number - 1, before, state, [key], file_nnz=count)
        before = state
    case.finish()


def v1_1(case: Case, seed: int, steps: int) -> None:
    """One folder, two full files first, almost no metadata."""
    model = case.model(seed, zeros=False, fp32=False, other=False)
    before: State = {}
    for number in range(1, steps + 1):
        state = model.step(number) if number > 1 else dict(model.state)
        key = f"steps/step_{number:06d}.safetensors"
        if number <= 2:
            metadata = {"num_params": str(len(state)), "sparse": "False"}
            case.put(key, format_safetensors(state, metadata))
            case.step(number, "anchor", None, None, state, [key])
        else:
            streams, count = sparse(before, state)
            metadata = {"num_params": str(len(names_of(streams))), "sparse": "True"}
            case.put(key, format_safetensors(streams, metadata))
            case.step(number, "delta", number - 1, before, state, [key], file_nnz=count)
        before = state
    case.finish()


def v1_2(case: Case, seed: int, steps: int) -> None:
    """A full file among the deltas at step 2; later anchors hold only what changed in their step."""
    model = case.model(seed, zeros=False, fp32=False, other=False)
    before: State = {}
    for number in range(1, steps + 1):
        state = model.step(number) if number > 1 else dict(model.state)
        anchor = number == 1 or case.is_anchor(number, INTERVAL)
        key = f"{'anchors' if anchor else 'deltas'}/step_{number:06d}.safetensors"
        common = {"format": "sparse_weight_patch", "version": "1", "model_version": str(number)}
        if anchor or number == 2:
            held = state if number <= 2 else {n: state[n] for n in names_of(sparse(before, state)[0])}
            total = sum(tensor.elements for tensor in held.values())
            metadata = common | {
                "sparse": "False",
                "num_changed_params": str(len(held)),
                "total_changed_elements": str(total),
                "total_elements": str(total),
                "sparsity": "0.0",
                "changed_params": json.dumps(list(held)),
            }
            case.put(key, format_safetensors(held, metadata))
            if number <= 2:
                case.step(number, "anchor", None, None, state, [key])
            else:
                more = {"contained_tensors": len(held), "contained_elems": total}
                case.step(number, "partial_anchor", number - 1, before, state, [key], **more)
        else:
            streams, count = sparse(before, state)
            total = sum(state[name].elements for name in names_of(streams))  # of what is in the file: the format's trap
            metadata = common | {"sparse": "True"} | counted(streams, count, total)
            case.put(key, format_safetensors(streams, metadata))
            case.step(number, "delta", number - 1, before, state, [key], file_nnz=count)
        before = state
    case.finish()


def v2(case: Case, seed: int, steps: int) -> None:
    """Complete anchors, gaps, and a number that is missing because nothing changed."""
    model = case.model(seed, zeros=False, fp32=False, other=False)
    model.state = {name: tensor for name, tensor in model.state.items() if name != "model.rare"}  # a NaN always changes
    before: State = {}
    lower = 0
    for number in range(1, steps + 1):
        if number == HOLE:
            continue
        state = model.step(number) if number > 1 else dict(model.state)
        state.pop("model.rare", None)
        anchor = number == 1 or case.is_anchor(number, INTERVAL)
        streams, count = gaps(before, state) if not anchor else (state, sum(t.elements for t in state.values()))
        total = sum(tensor.elements for name, tensor in state.items() if anchor or name + ".val" in streams)
        metadata = {
            "format": "sparse_weight_patch",
            "version": "1",
            "sparse": str(not anchor),
            "model_version": str(number),
            "num_changed_params": str(len(streams) if anchor else len(streams) // 2),
            "total_changed_elements": str(count),
            "total_elements": str(total),
            "sparsity": str(1.0 - count / total),
            "encoding": "gap_delta",
        }
        key = f"{'anchors' if anchor else 'deltas'}/step_{number:06d}.safetensors"
        case.put(key, format_safetensors(streams, metadata))
        if anchor:
            case.step(number, "anchor", None, None, state, [key])
        else:
            case.step(number, "delta", lower, before, state, [key], file_nnz=count)
        before = state
        lower = number
    case.finish()


def gaps(before: State, after: State) -> tuple[State, int]:
    streams = {}
    count = 0
    for name in after:
        positions = changed_positions(before[name], after[name], floats=True)
        if positions:
            between = [b - a - 1 for a, b in zip([-1, *positions], positions, strict=False)]
            dtype, word = ("U16", "<u2") if max(between) <= 65_535 else ("U32", "<u4")
            streams[name + ".idx"] = Tensor(dtype, (len(positions),), numpy.array(between, word).tobytes())
            streams[name + ".val"] = Tensor("BF16", (len(positions),), take(after[name], positions))
            count += len(positions)
    return streams, count
