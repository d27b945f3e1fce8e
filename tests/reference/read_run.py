#!/usr/bin/env python3
"""Slow reference reader of every layout, written from the format pages (docs/formats) and nothing else.

usage: read_run.py LAYOUT SOURCE [--base DIR] [--step N]

Prints {"steps": [{"step", "kind", "base_step", "changed_elems", "tensors": {name: {"dtype", "shape", "xxh3_128",
"sha256"}}}]}, ascending. The source counts as one run: nothing is known of epochs, times or caches. Every digest that
the layout has is compared. A step that cannot be rebuilt has "error" instead of "tensors", and so has what builds on
it; the next anchor goes on. changed_elems is null where the base step cannot be rebuilt.
"""

import argparse
import json
import pathlib
import sys

import checkpoints
import disk_delta
import grail
import prime_rl
import skyrl
import slime_v1
import trl
from replay import Step, replay
from tensors import read_checkpoint

READERS = {
    "trl-v1.0": trl,
    "trl-v1.1": trl,
    "trl-v1.2": trl,
    "trl-v2": trl,
    "trl-adapter": checkpoints,
    "slime-v1": slime_v1,
    "slime-v2": disk_delta,
    "skyrl": skyrl,
    "modelexpress": disk_delta,
    "grail": grail,
    "prime-rl": prime_rl,
    "hf": checkpoints,
    "dcp-hf": checkpoints,
}
ON_A_BASE = ("slime-v1", "slime-v2", "skyrl", "modelexpress", "prime-rl")


def read_run(layout: str, source: pathlib.Path, base: pathlib.Path | None = None) -> list[Step]:
    versions = READERS[layout].versions(source, layout)
    state = read_checkpoint(base) if base is not None and layout in ON_A_BASE else None
    # the base is version 0; prime-rl's count need not begin there, so it is what the first step builds on
    base_step = 0
    if layout == "prime-rl" and versions:
        base_step = min(versions, key=lambda version: version.step).base_step or 0
    return replay(versions, state, base_step)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layout", choices=READERS)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--base", type=pathlib.Path)
    parser.add_argument("--step", type=int)
    arguments = parser.parse_args()
    steps = read_run(arguments.layout, arguments.source, arguments.base)
    rows = [step.row() for step in steps if arguments.step in (None, step.version.step)]
    if not rows:
        print(f"no such step in {arguments.source}", file=sys.stderr)
        return 1
    json.dump({"steps": rows}, sys.stdout, ensure_ascii=False)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
