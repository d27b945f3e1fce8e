#!/usr/bin/env python3
"""End-to-end benchmarks: ours and the peers alternately, on the same files, in one run. Builds nothing.

  run_bench.py --bin DIR [--work DIR] [--rounds 7] [--threads 2] [--only W4,W5,W6,W9] [--out FILE.md] [--small]

DIR holds deltascope, deltascope-make-run and deltascope-bench-replay. What is printed is a Markdown page.

  W4  materialize step anchor+1, +10, +50 of a 1 GiB model, against `cp` + fsync of the anchor and against applying the
      deltas one after another to the whole model (deltascope-bench-replay, equal thread count, writes and syncs as well)
  W5  verify a run of 51 steps, against `xxhsum -H2` over the same bytes
  W6  publish a step of a 1 GiB model into a run that goes on, against the numpy way of TRL and slime (numpy_publish.py; its
      packages go into a virtual environment in the work folder), with one and two threads; and what a change costs in bytes
  W10 a GiB to and from an S3 server and the stand-in for the Hub, against curl, boto3, s5cmd and hf_xet
  W11 open, verify and bundle a run of 20,000 small tensors, against reading the same files with the package safetensors
  W9  open 10,000 steps and reopen them, against parsing every header (deltascope-bench-replay --scan)

Rules: results are compared with the expected digests before anything is timed. Rounds are A B C A B C …; the first one is
dropped. Shown are medians and the ratio of medians with a 95 % bootstrap interval; a goal is met only if the worse end of the
interval meets it. A row whose reference spreads by more than 1.25 (max/min of its middle five) is measured once more, and
marked noisy and not passed if it stays so. Exit status 0 says that the run is valid, not that goals are met.
"""

import argparse
import os
import shutil
import sys

from harness import HERE, Bench
from publish_bench import w6
from remote_bench import w10
from tensors_bench import w11


def w4(bench):
    source, steps = bench.model()
    anchor = os.path.join(source, "anchors", "step_000001.safetensors")
    out = os.path.join(bench.work, "out")
    file = os.path.join(bench.work, "out-file", "model.safetensors")

    def clear():
        shutil.rmtree(out, ignore_errors=True)
        shutil.rmtree(os.path.dirname(file), ignore_errors=True)
        os.makedirs(os.path.dirname(file))

    def ours(k):
        return [
            bench.bin["deltascope"],
            "materialize",
            f"{source}@{1 + k}",
            "-o",
            out,
            "--threads",
            bench.threads,
            "--json",
        ]

    def replay(k):
        return [
            bench.bin["deltascope-bench-replay"],
            "--source",
            source,
            "--step",
            str(1 + k),
            "--out",
            file,
            "--threads",
            bench.threads,
        ]

    for k in (1, 10, 50):
        for command, folder in ((ours(k), out), (replay(k), os.path.dirname(file))):
            clear()
            bench.timed(command)
            bench.gate(folder, steps[1 + k]["tensors"], " ".join(command))
    clear()
    copy = ["sh", "-c", 'cp "$0" "$1" && sync "$1"', anchor, file]
    for k, cp_goal, replay_goal in ((1, 1.15, None), (10, 1.15, 3.0), (50, 1.5, 3.0)):
        bench.compare(
            f"W4 materialize anchor+{k}",
            {
                "ours": (clear, lambda k=k: (ours(k),), clear),
                "cp + fsync": (clear, lambda: (copy,), clear),
                "delta by delta": (clear, lambda k=k: (replay(k),), clear),
            },
            {"cp + fsync": ("at_most", cp_goal), "delta by delta": ("at_least", replay_goal)},
        )


def w5(bench):
    source, _ = bench.model()
    files = sorted(os.path.join(p, f) for p, _, names in os.walk(source) for f in names)
    total = sum(map(os.path.getsize, files))
    fresh = os.path.join(bench.work, "fresh-home")

    def clear():
        shutil.rmtree(fresh, ignore_errors=True)
        os.makedirs(fresh)

    for level in (2, 3, 4):
        command = [
            bench.bin["deltascope"],
            "verify",
            source,
            "--level",
            str(level),
            "--threads",
            bench.threads,
            "--json",
        ]
        clear()
        bench.timed(command, fresh)
        result = bench.last_json()["result"]
        if result not in ("verified", "consistent", "first_sight", "unverified"):
            sys.exit(f"verify --level {level} says {result} of a sound run; the run is void")
        bench.compare(
            f"W5 verify --level {level}, 51 steps, {total / 1e9:.2f} GB",
            {
                "ours": (clear, lambda c=command: (c, fresh), clear),
                "xxhsum -H2": (clear, lambda: (["xxhsum", "-H2", "-q", *files],), clear),
            },
            {"xxhsum -H2": ("at_most", None)},
        )


def w9(bench):
    count = 500 if bench.small else 10_000
    source, steps = bench.make(
        f"steps-{count}",
        layout="trl-v2",
        tensors=8,
        elements=2048,
        steps=count,
        anchor_every=100,
        density=0.01,
        seed=1,
    )
    fresh = os.path.join(bench.work, "fresh-home")
    kept = os.path.join(bench.work, "kept-home")
    shutil.rmtree(kept, ignore_errors=True)
    os.makedirs(kept)

    def clear():
        shutil.rmtree(fresh, ignore_errors=True)
        os.makedirs(fresh)

    command = [bench.bin["deltascope"], "log", source, "--headers-only", "--json"]
    for home in (kept, kept):
        bench.timed(command, home)
        document = bench.last_json()
        seen = {s["step"]: s for e in document["epochs"] for s in e["steps"]}
        if (
            any(
                seen.get(n, {}).get(f) != s[f]
                for n, s in steps.items()
                for f in ("kind", "base_step", "wire_bytes", "restorable")
            )
            or len(seen) != count
        ):
            sys.exit("log shows another run; the run is void")
    scan = [bench.bin["deltascope-bench-replay"], "--scan", source]
    nothing = lambda: None
    bench.compare(
        f"W9 open {count} steps for the first time",
        {
            "ours": (clear, lambda: (command, fresh), clear),
            "parse every header": (nothing, lambda: (scan,), nothing),
        },
        {"parse every header": ("at_most", None)},
    )
    seconds = bench.compare(
        f"W9 reopen {count} steps",
        {
            "ours": (nothing, lambda: (command, kept), nothing),
            "parse every header": (nothing, lambda: (scan,), nothing),
        },
        {"parse every header": ("at_most", None)},
    )
    worst = max(seconds["ours"])
    bench.notes.append(
        f"W9: the slowest of {len(seconds['ours'])} reopenings took {worst:.3f} s; goal < 1 s: {'met' if worst < 1 else '**missed**'}."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--work", default=os.path.join(HERE, "..", "..", "build", "bench-data"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--only", default="W4,W5,W6,W9")
    parser.add_argument("--out")
    parser.add_argument("--small", action="store_true", help="sizes that only show that the bench works")
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error("at least two rounds: the first is dropped")
    load_before = os.getloadavg()
    bench = Bench(options)
    for name in options.only.split(","):
        print(name, file=sys.stderr, flush=True)
        {"W4": w4, "W5": w5, "W6": w6, "W9": w9, "W10": w10, "W11": w11}[name.strip().upper()](bench)
    page = bench.page(options, load_before)
    print(page)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as f:
            f.write(page)


if __name__ == "__main__":
    main()
