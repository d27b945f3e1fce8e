#!/usr/bin/env python3
"""Lets libFuzzer search for inputs that break a parser, beginning with its seeds: two seconds of one slice, five of each of all.

usage: search.py PROGRAM SEEDS...

The input that breaks it is kept beside the program, and named.
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from sweep import CHOICE, Sweep  # noqa: E402 # pylint: disable=wrong-import-position

SLICES = 12
SECONDS = 5 if CHOICE == "all" else 2


def search(program, seeds, number):
    """Returns whether nothing was found."""
    with tempfile.TemporaryDirectory() as corpus:
        words = [f"-seed={number + 1}", f"-max_total_time={SECONDS}", "-timeout=10", "-rss_limit_mb=1024"]
        prefix = f"-artifact_prefix={program.parent}/{program.name}-"
        return subprocess.run([program, *words, "-verbosity=0", prefix, corpus, *seeds], check=False).returncode == 0


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve()
    if not any(path.is_file() for seeds in sys.argv[2:] for path in pathlib.Path(seeds).rglob("*")):
        sys.exit(f"{program.name} has no seeds")
    sweep = Sweep(f"fuzz.{program.name.removeprefix('fuzz_')}.search", SLICES, preset="asan")
    for number in sweep.chosen():
        repeat = sweep.begin(number)
        if not search(program, sys.argv[2:], number):
            sys.exit(f"to repeat it: {repeat}")


if __name__ == "__main__":
    main()
