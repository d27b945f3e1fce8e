"""Byte patches: slime-v2, skyrl and modelexpress (docs/formats)."""

import hashlib
import json
import struct
import zlib

import blake3
import xxhash
import zstandard

from case_model import Case, checkpoint, dump
from tensors import TORCH, State, Tensor, format_safetensors

WORDS = {dtype: word for word, dtype in TORCH.items()}
EMPTY = 3


def patch(before: Tensor, after: Tensor) -> Tensor:
    """The whole tensor, old xor new, as one frame."""
    different = bytes(a ^ b for a, b in zip(before.data, after.data, strict=True))
    frame = zstandard.ZstdCompressor(level=1).compress(different)
    return Tensor("U8", (len(frame),), frame)


def skyrl(case: Case, seed: int, steps: int, legacy=False) -> None:
    model = case.model(seed, scalars=False)
    model.bytes_only()
    before = dict(model.state)
    case.base(before)
    for number in range(1, steps + 1):
        state = dict(before) if number == EMPTY else model.step(number)
        changed = [name for name in state if state[name] != before[name]]
        folder = f"delta-{number:08d}"
        records = []
        files = []
        for at in range(0, len(changed), 5):
            file = f"delta-rank00000-file{at // 5:06d}.safetensors"
            payload: State = {}
            for name in changed[at : at + 5]:
                payload[name] = patch(before[name], state[name])
                record = {
                    "name": name,
                    "dtype": WORDS[state[name].dtype],
                    "shape": list(state[name].shape),
                    "uncompressed_num_bytes": len(state[name].data),
                    "compressed_num_bytes": len(payload[name].data),
                    "payload_file": file,
                    "payload_key": name,
                }
                if legacy:
                    record["sha256"] = hashlib.sha256(state[name].data).hexdigest()
                else:
                    record["checksum"] = xxhash.xxh3_128_hexdigest(state[name].data)
                    record["checksum_algorithm"] = "xxh3-128"
                records.append(record)
            case.put(f"{folder}/{file}", format_safetensors(payload))
            files.append(file)
        manifest = {"version": number, "base_version": number - 1, "tensors": records}
        if not legacy:
            manifest["total_uncompressed_num_bytes"] = sum(record["uncompressed_num_bytes"] for record in records)
            manifest["total_compressed_num_bytes"] = sum(record["compressed_num_bytes"] for record in records)
        manifest["payload_files"] = files
        case.put(f"{folder}/manifest.json", dump(manifest))
        objects = [f"{folder}/{file}" for file in [*files, "manifest.json"]]
        case.step(number, "delta", number - 1, before, state, objects)
        before = state
    case.finish()


def skyrl_sha256(case: Case, seed: int, steps: int) -> None:
    skyrl(case, seed, steps, legacy=True)


def adler32(tensor: Tensor) -> str:
    return f"{zlib.adler32(tensor.data):08x}"


def modelexpress(case: Case, seed: int, steps: int, prefix="mx.adler32:") -> None:
    """Anchors at v0 and v5, two ranks, an empty v3."""
    model = case.model(seed)
    model.bytes_only()
    before: State = {}
    for number in range(steps):
        state = model.step(number) if number not in (0, EMPTY) else dict(before or model.state)
        folder = f"v{number}"
        if case.is_anchor(number, 5):
            sums = lambda part: {prefix + name: adler32(tensor) for name, tensor in part.items()}  # noqa: E731
            files = checkpoint(state, 3, pt=bool(prefix), metadata=sums)
            index = json.loads(files["model.safetensors.index.json"])
        else:
            changed = sorted(name for name in state if state[name] != before[name])
            weight_map = {}
            files = {}
            for rank in range(2 if changed else 0):
                mine = changed[rank::2]
                file = f"model-{rank:05d}-of-00002.safetensors"
                sums_of_rank = {name: adler32(state[name]) for name in mine}
                files[file] = format_safetensors({n: patch(before[n], state[n]) for n in mine}, sums_of_rank)
                weight_map |= dict.fromkeys(mine, file)
            metadata = {
                "base_version": f"v{number - 1}",
                "checksum_format": "adler32",
                "compression_format": "zstd",
                "delta_encoding": "xor",
                "version": folder,
            }
            index = {"metadata": metadata, "weight_map": weight_map}
        files["model.safetensors.index.json"] = dump(index, separators=(",", ":"), sort_keys=True)
        objects = [case.put(f"{folder}/{file}", data) for file, data in files.items()]
        if case.is_anchor(number, 5):
            case.step(number, "anchor", None, None, state, objects, version_id=folder)
        else:
            case.step(number, "delta", number - 1, before, state, objects, version_id=folder)
        before = state
    case.finish()


def modelexpress_plain_keys(case: Case, seed: int, steps: int) -> None:
    modelexpress(case, seed, steps, prefix="")


def overwriting(before: Tensor, after: Tensor) -> Tensor:
    """Positions of bytes and their new values, as one frame."""
    at = [i for i, (a, b) in enumerate(zip(before.data, after.data, strict=True)) if a != b]
    raw = struct.pack(f"<I{len(at)}I", len(at), *at) + bytes(after.data[i] for i in at)
    frame = zstandard.ZstdCompressor(level=1).compress(raw)
    return Tensor("U8", (len(frame),), frame)


SLIME_SUMS = {
    "xxh3-128": lambda tensor: xxhash.xxh3_128_hexdigest(tensor.data),
    "blake3": lambda tensor: blake3.blake3(tensor.data).hexdigest(),
    "adler32": adler32,
}


def slime_v2(case: Case, seed: int, steps: int, encoding: str, sums: str) -> None:
    """Two ranks, an empty version 3."""
    model = case.model(seed, scalars=False)
    model.bytes_only()
    before = dict(model.state)
    case.base(before)
    for number in range(1, steps + 1):
        state = dict(before) if number == EMPTY else model.step(number)
        changed = sorted(name for name in state if state[name] != before[name])
        folder = f"weight_v{number:06d}"
        weight_map = {}
        objects = []
        for rank in range(2 if changed else 0):
            mine = changed[rank::2]
            file = f"model-{rank:05d}-of-00002.safetensors"
            encode = patch if encoding == "xor" else overwriting
            payload = {name: encode(before[name], state[name]) for name in mine}
            digests_of_rank = {name: SLIME_SUMS[sums](state[name]) for name in mine}
            objects.append(case.put(f"{folder}/{file}", format_safetensors(payload, digests_of_rank)))
            weight_map |= dict.fromkeys(mine, file)
        metadata = {
            "version": f"{number:06d}",
            "base_version": f"{number - 1:06d}",
            "delta_encoding": encoding,
            "compression_format": "zstd",
            "checksum_format": sums,
        }
        index = dump({"metadata": metadata, "weight_map": weight_map})
        objects.append(case.put(f"{folder}/model.safetensors.index.json", index))
        case.step(number, "delta", number - 1, before, state, objects)
        before = state
    case.finish()


def slime_v2_xor(case: Case, seed: int, steps: int) -> None:
    slime_v2(case, seed, steps, "xor", "xxh3-128")


def slime_v2_overwrite(case: Case, seed: int, steps: int) -> None:
    slime_v2(case, seed, steps, "overwrite", "blake3")


def slime_v2_adler32(case: Case, seed: int, steps: int) -> None:
    slime_v2(case, seed, steps, "xor", "adler32")
