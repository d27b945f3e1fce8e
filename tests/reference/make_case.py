#!/usr/bin/env python3
"""Writes a made case: a bucket, perhaps a base, and expected.json with the truth, in the shape of tests/golden.

For shapes that no recorded bucket has: other codecs, NaN payloads, empty tensors, scalars, FP32 beside BF16, names
beyond ASCII. The encoders are as plain as the readers, were written from the format pages, and share nothing with the
program but the pages. The truth is the state that was encoded, never something decoded.
"""

import argparse
import pathlib
import sys

import case_checkpoint
import case_dcp
import case_grail
import case_prime_rl
import case_slime_v1
import case_trl
import case_xor
from case_model import Case

# word -> (layout, encoder)
CASES = {
    "trl-v1.0": ("trl-v1.0", case_trl.v1_0),
    "trl-v1.1": ("trl-v1.1", case_trl.v1_1),
    "trl-v1.2": ("trl-v1.2", case_trl.v1_2),
    "trl-v2": ("trl-v2", case_trl.v2),
    "slime-v2-xor": ("slime-v2", case_xor.slime_v2_xor),
    "slime-v2-overwrite": ("slime-v2", case_xor.slime_v2_overwrite),
    "slime-v2-adler32": ("slime-v2", case_xor.slime_v2_adler32),
    "slime-v1-indices": ("slime-v1", case_slime_v1.indices),
    "slime-v1-deltas": ("slime-v1", case_slime_v1.deltas),
    "slime-v1-deltas-zstd": ("slime-v1", case_slime_v1.deltas_zstd),
    "skyrl": ("skyrl", case_xor.skyrl),
    "skyrl-sha256": ("skyrl", case_xor.skyrl_sha256),
    "modelexpress": ("modelexpress", case_xor.modelexpress),
    "modelexpress-plain-keys": ("modelexpress", case_xor.modelexpress_plain_keys),
    "grail-v2": ("grail", case_grail.v2),
    "grail-v3": ("grail", case_grail.v3),
    "grail-v3.1": ("grail", case_grail.v3_1),
    "grail-old-arithmetic": ("grail", case_grail.old_arithmetic),
    "grail-old-absolute": ("grail", case_grail.old_absolute),
    "prime-rl-update": ("prime-rl", case_prime_rl.update_i32),
    "prime-rl-update-i64": ("prime-rl", case_prime_rl.update_i64),
    "prime-rl-update-zstd": ("prime-rl", case_prime_rl.update_zstd),
    "prime-rl-manifest": ("prime-rl", case_prime_rl.manifest),
    "trl-adapter": ("trl-adapter", case_checkpoint.trl_adapter),
    "hf": ("hf", case_checkpoint.hf),
    "dcp": ("dcp", case_dcp.distcp),
}


def make(word: str, folder: pathlib.Path, seed: int, steps: int, small=False, anchor_every: int | None = None) -> None:
    """folder does not exist yet, or is empty."""
    layout, encode = CASES[word]
    made_with = f"tests/reference/make_case.py {word} --seed {seed} --steps {steps}"
    made_with += " --small" if small else ""
    made_with += f" --anchor-every {anchor_every}" if anchor_every else ""
    encode(Case(folder, layout, made_with, small, anchor_every), seed, steps)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layout", choices=CASES)
    parser.add_argument("outdir", type=pathlib.Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--steps", type=int, default=9)
    parser.add_argument("--small", action="store_true", help="a model of a few thousand bytes")
    parser.add_argument("--anchor-every", type=int, help="full versions, where the layout has them")
    arguments = parser.parse_args()
    if arguments.outdir.exists() and any(arguments.outdir.iterdir()):
        parser.error(f"{arguments.outdir} is not empty")
    options = (arguments.small, arguments.anchor_every)
    make(arguments.layout, arguments.outdir, arguments.seed, arguments.steps, *options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
