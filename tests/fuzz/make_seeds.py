#!/usr/bin/env python3
"""Writes the seeds of version_fuzz.cpp: small runs by the makers of tests/reference, packed as that program reads them.

usage: make_seeds.py [FOLDER]   (tests/fuzz/seeds; needs the packages of tests/peers)
"""

import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "reference"))

from make_case import make  # noqa: E402

# folder of the seeds: words of the makers
SEEDS = {
    "trl_v1_0": ["trl-v1.0"],
    "trl_v1_1": ["trl-v1.1"],
    "trl_v1_2": ["trl-v1.2"],
    "slime_v1": ["slime-v1-indices", "slime-v1-deltas", "slime-v1-deltas-zstd"],
    "skyrl": ["skyrl", "skyrl-sha256"],
    "modelexpress": ["modelexpress", "modelexpress-plain-keys"],
    "grail": ["grail-v2", "grail-v3", "grail-v3.1", "grail-old-arithmetic", "grail-old-absolute"],
    "prime_rl": ["prime-rl-update", "prime-rl-update-i64", "prime-rl-update-zstd", "prime-rl-manifest"],
}
RECORDED = {"trl_adapter": "trl-adapter/bucket"}  # below tests/golden
LARGEST = 8 * 1024  # objects beyond this are cut: their headers are what matters
OBJECTS = 24


def pack(root):
    out = bytearray()
    for path in sorted(p for p in root.rglob("*") if p.is_file())[:OBJECTS]:
        name = str(path.relative_to(root)).encode()
        content = path.read_bytes()[:LARGEST]
        out += bytes([len(name)]) + name + len(content).to_bytes(3, "little") + content
    return bytes(out)


def main():
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "seeds"
    for folder, words in SEEDS.items():
        (target / folder).mkdir(parents=True, exist_ok=True)
        for word in words:
            with tempfile.TemporaryDirectory() as work:
                case = pathlib.Path(work) / "case"
                make(word, case, seed=1, steps=2)
                (target / folder / word).write_bytes(pack(case / "bucket"))
    for folder, bucket in RECORDED.items():
        (target / folder).mkdir(parents=True, exist_ok=True)
        (target / folder / "recorded").write_bytes(pack(HERE.parent / "golden" / bucket))


if __name__ == "__main__":
    main()
