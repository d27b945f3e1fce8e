#!/usr/bin/env python3
"""The numpy way to find changes, beside ours in the same minutes.

  numpy_diff.py [--bench DIR/deltascope-bench-diff] [--rounds 5] [--mib 256]

Needs numpy; the peers' packages have it:
  python3 tests/peers/make_venv.py build/peers requirements.txt && build/peers/bin/python tests/bench/numpy_diff.py …

What is timed: not_equal into a kept mask, flatnonzero, take; one thread, 16-bit elements. GB/s counts the bytes of both
inputs. With --bench, its fastest extract runs in turn with numpy (A B A B …) at the same density, and the ratio of medians is
printed. Found positions are compared with the ones that were changed before anything is timed.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import time

import numpy as np

PER_MILLES = (0, 2, 10, 30, 100)


def make_after(before, per_mille, random):
    after = before.copy()
    changed = np.flatnonzero(random.random(before.size, dtype=np.float32) < per_mille / 1000)
    after[changed] += 1
    return after, changed


def numpy_diff(before, after, mask):
    np.not_equal(before, after, out=mask)
    positions = np.flatnonzero(mask)
    return positions, np.take(after, positions)


def numpy_rate(before, after, mask, passes=5):
    """GB/s of both inputs, median."""
    seconds = []
    for _ in range(passes):
        began = time.perf_counter()
        numpy_diff(before, after, mask)
        seconds.append(time.perf_counter() - began)
    return 2 * before.nbytes / statistics.median(seconds) / 1e9


def fastest_backend(bench):
    listed = subprocess.run([bench, "--benchmark_list_tests"], check=True, capture_output=True, text=True).stdout
    names = re.findall(r"^BM_diff_extract/(\w+)/", listed, re.MULTILINE)
    if not names:
        sys.exit("the benchmark has no vector backend on this machine")
    return names[-1]  # registered from slow to fast


def our_rate(bench, backend, per_mille):
    wanted = f"^BM_diff_extract/{backend}/per_mille:{per_mille}/.*threads:1$"
    command = [bench, f"--benchmark_filter={wanted}", "--benchmark_format=json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    (row,) = report["benchmarks"]
    return row["GB/s"], row["x_read2"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mib", type=int, default=256)
    options = parser.parse_args()

    random = np.random.default_rng(1)
    before = random.integers(0, 1 << 16, options.mib << 19, dtype=np.uint16)
    mask = np.empty(before.size, dtype=bool)
    backend = fastest_backend(options.bench) if options.bench else None
    print(f"numpy {np.__version__}, {options.mib} MiB per input, one thread, medians of {options.rounds} rounds")
    for per_mille in PER_MILLES:
        after, changed = make_after(before, per_mille, random)
        positions, values = numpy_diff(before, after, mask)
        if not (np.array_equal(positions, changed) and np.array_equal(values, after[changed])):
            sys.exit("numpy found other changes than were made")
        theirs, ours, of_read = [], [], []
        for _ in range(options.rounds):
            theirs.append(numpy_rate(before, after, mask))
            if backend:
                rate, ratio = our_rate(options.bench, backend, per_mille)
                ours.append(rate)
                of_read.append(ratio)
        line = f"p = {per_mille / 10:4.1f} %  numpy {statistics.median(theirs):5.2f} GB/s ({min(theirs):.2f} to {max(theirs):.2f})"
        if backend:
            ratio = statistics.median(ours) / statistics.median(theirs)
            line += f"  {backend} {statistics.median(ours):5.2f} GB/s, {statistics.median(of_read):.2f} of the two-stream read"
            line += f", {ratio:.1f} x numpy"
        print(line, flush=True)


if __name__ == "__main__":
    main()
