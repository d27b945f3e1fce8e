"""prime-rl's two sparse branches (docs/formats/prime-rl.md)."""

import numpy
import zstandard

from case_model import Case, changed_positions, checkpoint, dump, pattern, take
from tensors import State, Tensor, format_safetensors

TORCH = {"BF16": "bfloat16", "F16": "float16", "F32": "float32"}
ROOT = "run_default/broadcasts"
EMPTY = 3


def stream(numbers: list[int], dtype: str) -> Tensor:
    return Tensor(dtype, (len(numbers),), numpy.array(numbers, "<i4" if dtype == "I32" else "<i8").tobytes())


def update(case: Case, seed: int, steps: int, wide: bool, compressed: bool) -> None:
    """PR #2823: sparse_update_manifest.json, one patch file; no file when nothing changed; the base is outside."""
    # the sum goes through doubles, and no page says what becomes of a signaling NaN there
    model = case.model(seed, nans="quiet", zeros=False)
    before = dict(model.state)
    case.base(before)
    for number in range(1, steps + 1):
        state = dict(before) if number == EMPTY else model.step(number)
        folder = f"{ROOT}/step_{number}"
        tensors = []
        patch: State = {}
        for name in sorted(state):
            tensor = state[name]
            positions = changed_positions(before[name], tensor)
            if not positions:
                continue
            indices = stream(positions, "I64" if wide else "I32")
            values = Tensor(tensor.dtype, (len(positions),), take(tensor, positions))
            at = f"tensor_{len(tensors)}"
            patch |= {f"{at}.indices": indices, f"{at}.values": values}
            tensors.append(
                {
                    "name": name,
                    "shape": list(tensor.shape),
                    "dtype": TORCH[tensor.dtype],
                    "indices": f"{at}.indices",
                    "values": f"{at}.values",
                    "numel": tensor.elements,
                    "changed_numel": len(positions),
                    "checksum": pattern(indices) ^ pattern(values),
                }
            )
        objects = []
        if patch:
            data = format_safetensors(patch, {"format": "pt"})
            data = zstandard.ZstdCompressor(level=1).compress(data) if compressed else data
            objects.append(case.put(f"{folder}/sparse_update_patch.safetensors", data))
        total = sum(tensor.elements for tensor in state.values())
        count = sum(entry["changed_numel"] for entry in tensors)
        stats = {"total_tensors": len(state), "patched_tensors": len(tensors), "total_numel": total}
        stats |= {"changed_numel": count, "sparsity": 1.0 - count / total, "patch_bytes": len(data) if patch else 0}
        manifest = {
            "format": "prime-rl-sparse-update",
            "version": 1,
            "step": number,
            "base_step": number - 1,
            "compute_dtype": None,
            "compressed": compressed,
            "patch_file": "sparse_update_patch.safetensors" if patch else None,
            "tensors": tensors,
            "stats": stats,
        }
        objects.append(case.put(f"{folder}/sparse_update_manifest.json", dump(manifest, indent=2, sort_keys=True)))
        objects.append(case.put(f"{folder}/STABLE", b""))
        case.step(number, "delta", number - 1, before, state, objects, file_nnz=count)
        before = state
    case.finish()


def update_i32(case: Case, seed: int, steps: int) -> None:
    update(case, seed, steps, wide=False, compressed=False)


def update_i64(case: Case, seed: int, steps: int) -> None:
    update(case, seed, steps, wide=True, compressed=False)


def update_zstd(case: Case, seed: int, steps: int) -> None:
    update(case, seed, steps, wide=False, compressed=True)


def manifest(case: Case, seed: int, steps: int) -> None:
    """PR #2607: sparse_manifest.json, full steps first and now and then, several patch files."""
    model = case.model(seed, zeros=False, fp32=False, other=False)
    before: State = {}
    for number in range(steps):
        state = model.step(number) if number else dict(model.state)
        folder = f"{ROOT}/step_{number}"
        total = sum(tensor.elements for tensor in state.values())
        size = sum(len(tensor.data) for tensor in state.values())
        common = {"format": "prime_rl_sparse_filesystem_v1", "step": number, "total_numel": total, "total_size": size}
        if case.is_anchor(number, 5):
            files = checkpoint(state, 2, pt=True)
            about = common | {"type": "full"}
            count = total
        else:
            changed = [(n, p) for n in sorted(state) if (p := changed_positions(before[n], state[n], floats=True))]
            groups = [changed[at : at + 6] for at in range(0, len(changed), 6)]
            files = {}
            patch_files = []
            for index, group in enumerate(groups):
                file = f"delta-{index + 1:05d}-of-{len(groups):05d}.safetensors"
                patch: State = {}
                entries = []
                for name, positions in group:
                    patch[f"{name}.indices"] = stream(positions, "I64")
                    patch[f"{name}.values"] = Tensor("BF16", (len(positions),), take(state[name], positions))
                    entries.append(
                        {
                            "name": name,
                            "indices_key": f"{name}.indices",
                            "values_key": f"{name}.values",
                            "shape": list(state[name].shape),
                            "dtype": "torch.bfloat16",
                            "numel": state[name].elements,
                            "num_changed": len(positions),
                        }
                    )
                files[file] = format_safetensors(patch, {"format": "pt"})
                patch_files.append({"file": file, "tensors": entries})
            count = sum(len(positions) for _, positions in changed)
            about = common | {"type": "delta", "base_step": number - 1, "patch_files": patch_files}
            about |= {"delta_numel": count, "delta_size": sum(len(data) for data in files.values())}
        files |= {"sparse_manifest.json": dump(about, indent=2, sort_keys=True), "STABLE": b""}
        objects = [case.put(f"{folder}/{file}", data) for file, data in files.items()]
        if case.is_anchor(number, 5):
            case.step(number, "anchor", None, None, state, objects)
        else:
            case.step(number, "delta", number - 1, before, state, objects, file_nnz=count)
        before = state
    case.finish()
