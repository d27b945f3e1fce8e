#!/usr/bin/env python3
"""Slow reference of the DSM1 hash tree, written from its specification (docs/formats/dsm1.md) and nothing else.

Reads descriptions of checkpoints (JSON) and prints their roots:

    {"tensors": [{"name": "a", "dtype": "BF16", "shape": [2, 4], "data": DATA}, ...]}

DATA is {"hex": "00ff"} or {"pattern": seed, "bytes": n}; byte i of a pattern is (31 * i + seed) mod 251.
With --update the results are written into each file under "expected"; with --check they are compared with it.
XXH3-128 comes from the command xxh128sum, SHA-256 from hashlib.
"""

import argparse
import hashlib
import json
import struct
import subprocess
import sys

LEAF = 1 << 20


def xxh3_128(data):
    """Digest in canonical big-endian form: 16 bytes."""
    done = subprocess.run(["xxh128sum"], input=data, capture_output=True, check=True)
    return bytes.fromhex(done.stdout.split()[0].decode("ascii"))


def sha256(data):
    return hashlib.sha256(data).digest()


def content(data):
    if "hex" in data:
        return bytes.fromhex(data["hex"])
    return bytes((31 * i + data["pattern"]) % 251 for i in range(data["bytes"]))


def tensor(entry):
    data = content(entry["data"])
    leaves = [data[at : at + LEAF] for at in range(0, len(data), LEAF)]
    fast = [xxh3_128(leaf) for leaf in leaves]
    strong = [sha256(b"\x00" + leaf) for leaf in leaves]
    name = entry["name"].encode("utf-8")
    dtype = entry["dtype"].encode("ascii")
    shape = entry["shape"]
    pre = b"dsm1.tensor"
    pre += struct.pack("<I", len(name)) + name
    pre += struct.pack("<B", len(dtype)) + dtype
    pre += struct.pack("<B", len(shape)) + b"".join(struct.pack("<Q", n) for n in shape)
    pre += struct.pack("<Q", len(data))
    pre += struct.pack("<B", 20)
    pre += struct.pack("<Q", len(leaves))
    return {
        "name": entry["name"],
        "fast_leaves": fast,
        "strong_leaves": strong,
        "fast": xxh3_128(b"\x01" + pre + b"".join(fast)),
        "strong": sha256(b"\x01" + pre + b"".join(strong)),
    }


def checkpoint(tensors):
    nodes = sorted((tensor(entry) for entry in tensors), key=lambda node: node["name"].encode("utf-8"))
    pre = b"\x02" + b"dsm1.ckpt" + struct.pack("<Q", len(nodes))
    return {
        "fast": xxh3_128(pre + b"".join(node["fast"] for node in nodes)),
        "strong": sha256(pre + b"".join(node["strong"] for node in nodes)),
        "tensors": nodes,
    }


def printable(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {key: printable(part) for key, part in value.items()}
    if isinstance(value, list):
        return [printable(part) for part in value]
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--update", action="store_true")
    mode.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    wrong = 0
    for path in arguments.files:
        with open(path, encoding="utf-8") as file:
            description = json.load(file)
        result = printable(checkpoint(description["tensors"]))
        print(result["fast"], result["strong"], path)
        if arguments.check and description.get("expected") != result:
            print("differs from the recorded result:", path, file=sys.stderr)
            wrong = 1
        if arguments.update:
            description["expected"] = result
            with open(path, "w", encoding="utf-8") as file:
                json.dump(description, file, indent=1, ensure_ascii=False)
                file.write("\n")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
