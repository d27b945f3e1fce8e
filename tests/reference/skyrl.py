"""skyrl: a manifest per version that says everything, byte patches in payload files."""

import hashlib
import pathlib

import xxhash

from disk_delta import xor
from replay import Version, broken
from tensors import TORCH, Broken, State, matches, read_json, read_safetensors, safe_name, unzstd

SUMS = {
    "xxh3-128": lambda data: xxhash.xxh3_128_hexdigest(data),
    "sha256": lambda data: hashlib.sha256(data).hexdigest(),
}


def build_of(folder: pathlib.Path, manifest: dict):
    def build(before: State | None) -> State:
        state = dict(before)
        files = {}
        for file in manifest.get("payload_files", []):
            files[file] = read_safetensors(folder / safe_name(file))[1]
        for record in manifest["tensors"]:
            name, file = record["name"], safe_name(record["payload_file"])
            if name not in state:
                continue  # a tied tensor that the base lacks; the receiver skips it too
            tensor = state[name]
            if (TORCH.get(record["dtype"]), tuple(record["shape"])) != (tensor.dtype, tensor.shape):
                raise Broken(f"{name!r} is {record['dtype']} {record['shape']}, the base has {tensor.dtype}")
            if record["uncompressed_num_bytes"] != len(tensor.data):
                raise Broken(f"{name!r} has {len(tensor.data)} bytes, not {record['uncompressed_num_bytes']}")
            if file not in files:
                files[file] = read_safetensors(folder / file)[1]
            if record["payload_key"] not in files[file]:
                raise Broken(f"{file} lacks {record['payload_key']!r}")
            payload = files[file][record["payload_key"]]
            if payload.dtype != "U8" or len(payload.data) != record["compressed_num_bytes"]:
                raise Broken(f"{name!r}: a payload of {payload.dtype}, {len(payload.data)} bytes")
            state[name] = xor(tensor, unzstd(payload.data))
            algorithm = record.get("checksum_algorithm", "xxh3-128") if "checksum" in record else "sha256"
            wanted = record["checksum"] if "checksum" in record else record["sha256"]
            if algorithm not in SUMS or SUMS[algorithm](state[name].data) != wanted:
                raise Broken(f"{name!r} does not have the {algorithm} {wanted}")
        return state

    return build


def versions(source: pathlib.Path, _layout: str) -> list[Version]:
    out = []
    for match in matches(source, r"delta-(?P<number>\d{8,})/manifest\.json"):
        number = int(match["number"])
        try:
            manifest = read_json(source / match[0])
            if manifest["version"] != number or manifest["base_version"] != number - 1:
                raise Broken(f"version {manifest['version']} on {manifest['base_version']} in {match['number']}")
            out.append(Version(number, "delta", number - 1, build_of((source / match[0]).parent, manifest)))
        except (Broken, KeyError, TypeError) as error:
            out.append(Version(number, "delta", number - 1, broken(str(error)), alone=True))
    return out
