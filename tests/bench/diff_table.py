#!/usr/bin/env python3
"""Finding changes with one thread and with two, as a share of the plain two-stream read by as many threads.

  diff_table.py --bench DIR/deltascope-bench-diff [--rounds 5]

Standard library only. Each round runs the bench anew; every pass in it is followed by a pass of its reference
(diff_bench.cpp). Prints a Markdown table: medians of the rounds and their range.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys

GOAL = 0.80  # extract at 1 %


def measure(bench, rounds):
    """{(backend, threads): {per mille: [share of the read]}}, and GB/s and spreads of the read itself by threads."""
    shares, rates, spreads = {}, {}, []
    for i in range(rounds):
        command = [bench, "--benchmark_filter=BM_read2|BM_diff_extract|BM_diff_scalar", "--benchmark_format=json"]
        report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for row in report["benchmarks"]:
            name, per_mille, threads = re.fullmatch(r"(.+)/per_mille:(\d+)/.*threads:(\d+)", row["name"]).groups()
            spreads.append(row["spread"])
            if name == "BM_read2":
                rates.setdefault(threads, []).append(row["GB/s"])
                continue
            backend = name.removeprefix("BM_diff_").removeprefix("extract/")
            shares.setdefault((backend, threads), {}).setdefault(int(per_mille), []).append(row["x_read2"])
        print(f"  round {i + 1}/{rounds}", file=sys.stderr, flush=True)
    return shares, rates, spreads


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    shares, rates, spreads = measure(options.bench, options.rounds)
    densities = sorted(next(iter(shares.values())))
    print("| extract | threads | " + " | ".join(f"p = {density / 10:g} %" for density in densities) + " |")
    print("|---|---|" + "---|" * len(densities))
    for (backend, threads), row in sorted(shares.items()):
        cells = [f"{statistics.median(row[d]):.2f} ({min(row[d]):.2f}–{max(row[d]):.2f})" for d in densities]
        print(f"| {backend} | {threads} | " + " | ".join(cells) + " |")
    print()
    for threads, values in sorted(rates.items()):
        share, backend = max((statistics.median(row[10]), name) for (name, n), row in shares.items() if n == threads)
        rate = f"{statistics.median(values):.1f} GB/s ({min(values):.1f} to {max(values):.1f})"
        verdict = "met" if share >= GOAL else "**missed**"
        print(f"Threads: {threads}. Two-stream read {rate}; goal at 1 % {GOAL:.2f}, {backend} {share:.2f}: {verdict}.")
    noisy = sum(spread > 1.25 for spread in spreads)
    print(f"{noisy} of {len(spreads)} references spread by more than 1.25.")
    print(f"Load average {load:.2f} before, {os.getloadavg()[0]:.2f} after.")


if __name__ == "__main__":
    main()
