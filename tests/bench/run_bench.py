#!/usr/bin/env python3
"""End-to-end benchmarks: ours and the peers alternately, on the same files, in one run. Standard library only; builds nothing.

  run_bench.py --bin DIR [--work DIR] [--rounds 7] [--threads 2] [--only W4,W5,W9] [--out FILE.md] [--small]

DIR holds deltascope, deltascope-make-run and deltascope-bench-replay. What is printed is a Markdown page.

  W4  materialize step anchor+1, +10, +50 of a 1 GiB model, against `cp` + fsync of the anchor and against applying the
      deltas one after another to the whole model (deltascope-bench-replay, equal thread count, writes and syncs as well)
  W5  verify a run of 51 steps, against `xxhsum -H2` over the same bytes
  W9  open 10,000 steps and reopen them, against parsing every header (deltascope-bench-replay --scan)

Rules: results are compared with the expected digests before anything is timed. Rounds are A B C A B C …; the first one is
dropped. Shown are medians and the ratio of medians with a 95 % bootstrap interval; a goal is met only if the worse end of the
interval meets it. A row whose reference spreads by more than 1.25 (max/min of its middle five) is measured once more, and
marked noisy and not passed if it stays so. Exit status 0 says that the run is valid, not that goals are met.
"""

import argparse
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SPREAD_LIMIT = 1.25


class Bench:
    def __init__(self, options):
        self.bin = {
            n: os.path.join(os.path.abspath(options.bin), n)
            for n in ("deltascope", "deltascope-make-run", "deltascope-bench-replay")
        }
        for path in self.bin.values():
            if not os.access(path, os.X_OK):
                sys.exit(f"{path} is not there")
        self.rounds, self.threads, self.small = options.rounds, str(options.threads), options.small
        self.work = os.path.abspath(options.work)
        os.makedirs(self.work, exist_ok=True)
        self.home = os.path.join(self.work, "home")
        self.table, self.notes = [], []
        os.environ["DELTASCOPE_BIN"] = self.bin["deltascope"]
        os.environ["DELTASCOPE_MAKE_RUN"] = self.bin["deltascope-make-run"]
        sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
        import support

        self.read_checkpoint, self.peak_of = support.read_checkpoint, support.peak_of

    # --- running -----------------------------------------------------------------------------------------------------

    def timed(self, command, home=None):
        """Seconds of a command that must succeed."""
        env = os.environ | {"DELTASCOPE_HOME": home or self.home}
        with open(os.path.join(self.work, "stdout"), "wb") as out, open(os.path.join(self.work, "stderr"), "wb") as err:
            began = time.perf_counter()
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env)
            process.wait()
            seconds = time.perf_counter() - began
        if process.returncode != 0:
            with open(os.path.join(self.work, "stderr"), encoding="utf-8", errors="replace") as f:
                sys.exit(f"{' '.join(command)}: exit {process.returncode}\n{f.read()}")
        return seconds

    def last_json(self):
        with open(os.path.join(self.work, "stdout"), encoding="utf-8") as f:
            return json.load(f)

    def interleaved(self, contestants):
        """{name: [seconds, first round dropped]}. A contestant: (prepare, command, clean)."""
        seconds = {name: [] for name in contestants}
        for i in range(self.rounds):
            for name, (prepare, command, clean) in contestants.items():
                prepare()
                os.sync()  # the backlog of one contestant must not slow the next
                took = self.timed(*command())
                clean()
                if i > 0:
                    seconds[name].append(took)
            now = ", ".join(f"{n} {s[-1]:.3f}" for n, s in seconds.items() if s)
            print(f"  round {i + 1}/{self.rounds}: {now}", file=sys.stderr, flush=True)
        return seconds

    def peak_mib(self, contestant):
        prepare, command, clean = contestant
        prepare()
        arguments, *home = command()
        outcome = self.peak_of(arguments, os.environ | {"DELTASCOPE_HOME": home[0] if home else self.home})
        clean()
        return outcome.peak_kib / 1024

    def compare(self, title, contestants, goals):
        """`goals`: {reference: (kind, figure)}: ours/reference "at_most", or reference/ours "at_least" the figure."""

        def noise(seconds):
            return [r for r in goals if spread(seconds[r]) > SPREAD_LIMIT]

        ours = next(iter(contestants))
        peak = self.peak_mib(contestants[ours])
        seconds = self.interleaved(contestants)
        if noise(seconds):
            print(f"  {title}: {', '.join(noise(seconds))} is noisy, measured once more", file=sys.stderr, flush=True)
            again = self.interleaved(contestants)
            if sum(spread(again[r]) for r in goals) < sum(spread(seconds[r]) for r in goals):
                seconds = again
        noisy = noise(seconds)
        for reference, (kind, figure) in goals.items():
            at_most = kind == "at_most"
            top, bottom = (ours, reference) if at_most else (reference, ours)
            ratio, low, high = ratio_of_medians(seconds[top], seconds[bottom])
            goal = "–" if figure is None else f"({'≤' if at_most else '≥'} {figure})"
            if reference in noisy:
                goal = f"noisy {goal}"
            elif figure is not None:
                goal = ("met " if (high <= figure if at_most else low >= figure) else "**missed** ") + goal
            figures = {n: f"{statistics.median(seconds[n]):.3f} ({min(seconds[n]):.3f})" for n in (ours, reference)}
            name = "ours / ref" if at_most else "ref / ours"
            self.table.append(
                [
                    title,
                    figures[ours],
                    reference,
                    f"{figures[reference]}, {spread(seconds[reference]):.2f}",
                    f"{name} = {ratio:.2f} [{low:.2f}, {high:.2f}]",
                    goal,
                    f"{peak:.0f}",
                ]
            )
        return seconds

    # --- data --------------------------------------------------------------------------------------------------------

    def make(self, name, **options):
        folder = os.path.join(self.work, name)
        source, expected = os.path.join(folder, "bucket"), os.path.join(folder, "expected.json")
        wanted = json.dumps(options, sort_keys=True)
        stamp = os.path.join(folder, "made")
        if not os.path.exists(stamp) or open(stamp, encoding="utf-8").read() != wanted:
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            command = [self.bin["deltascope-make-run"], "--out", source, "--expected", expected]
            for key, value in options.items():
                command += ["--" + key.replace("_", "-"), str(value)]
            print(f"  making {name}: {wanted}", file=sys.stderr, flush=True)
            subprocess.run(command, check=True)
            with open(stamp, "w", encoding="utf-8") as f:
                f.write(wanted)
        with open(expected, encoding="utf-8") as f:
            steps = {s["step"]: s for s in json.load(f)["steps"]}
        for path, _, files in os.walk(source):  # everything warm
            for file in files:
                with open(os.path.join(path, file), "rb") as f:
                    while f.read(1 << 22):
                        pass
        return source, steps

    def model(self):
        elements = (1 << 17) if self.small else (1 << 23)
        return self.make(
            "small" if self.small else "gib",
            layout="trl-v2",
            tensors=64,
            elements=elements,
            steps=51,
            density=0.01,
            seed=1,
        )

    def gate(self, folder, truth, what):
        got = self.read_checkpoint(folder)
        want = {n: (t["dtype"], t["shape"], t["xxh3_128"]) for n, t in truth.items()}
        if got != want:
            sys.exit(f"{what}: wrong bytes; the run is void")

    # --- workloads ---------------------------------------------------------------------------------------------------

    def w4(self):
        source, steps = self.model()
        anchor = os.path.join(source, "anchors", "step_000001.safetensors")
        out = os.path.join(self.work, "out")
        file = os.path.join(self.work, "out-file", "model.safetensors")

        def clear():
            shutil.rmtree(out, ignore_errors=True)
            shutil.rmtree(os.path.dirname(file), ignore_errors=True)
            os.makedirs(os.path.dirname(file))

        def ours(k):
            return [
                self.bin["deltascope"],
                "materialize",
                f"{source}@{1 + k}",
                "-o",
                out,
                "--threads",
                self.threads,
                "--json",
            ]

        def replay(k):
            return [
                self.bin["deltascope-bench-replay"],
                "--source",
                source,
                "--step",
                str(1 + k),
                "--out",
                file,
                "--threads",
                self.threads,
            ]

        for k in (1, 10, 50):
            for command, folder in ((ours(k), out), (replay(k), os.path.dirname(file))):
                clear()
                self.timed(command)
                self.gate(folder, steps[1 + k]["tensors"], " ".join(command))
        clear()
        copy = ["sh", "-c", 'cp "$0" "$1" && sync "$1"', anchor, file]
        for k, cp_goal, replay_goal in ((1, 1.3, None), (10, 1.3, 3.0), (50, None, 3.0)):
            self.compare(
                f"W4 materialize anchor+{k}",
                {
                    "ours": (clear, lambda k=k: (ours(k),), clear),
                    "cp + fsync": (clear, lambda: (copy,), clear),
                    "delta by delta": (clear, lambda k=k: (replay(k),), clear),
                },
                {"cp + fsync": ("at_most", cp_goal), "delta by delta": ("at_least", replay_goal)},
            )

    def w5(self):
        source, _ = self.model()
        files = sorted(os.path.join(p, f) for p, _, names in os.walk(source) for f in names)
        total = sum(map(os.path.getsize, files))
        fresh = os.path.join(self.work, "fresh-home")

        def clear():
            shutil.rmtree(fresh, ignore_errors=True)
            os.makedirs(fresh)

        for level in (2, 3, 4):
            command = [
                self.bin["deltascope"],
                "verify",
                source,
                "--level",
                str(level),
                "--threads",
                self.threads,
                "--json",
            ]
            clear()
            self.timed(command, fresh)
            result = self.last_json()["result"]
            if result not in ("verified", "consistent", "first_sight", "unverified"):
                sys.exit(f"verify --level {level} says {result} of a sound run; the run is void")
            self.compare(
                f"W5 verify --level {level}, 51 steps, {total / 1e9:.2f} GB",
                {
                    "ours": (clear, lambda c=command: (c, fresh), clear),
                    "xxhsum -H2": (clear, lambda: (["xxhsum", "-H2", "-q", *files],), clear),
                },
                {"xxhsum -H2": ("at_most", None)},
            )

    def w9(self):
        count = 500 if self.small else 10_000
        source, steps = self.make(
            f"steps-{count}",
            layout="trl-v2",
            tensors=8,
            elements=2048,
            steps=count,
            anchor_every=100,
            density=0.01,
            seed=1,
        )
        fresh = os.path.join(self.work, "fresh-home")
        kept = os.path.join(self.work, "kept-home")
        shutil.rmtree(kept, ignore_errors=True)
        os.makedirs(kept)

        def clear():
            shutil.rmtree(fresh, ignore_errors=True)
            os.makedirs(fresh)

        command = [self.bin["deltascope"], "log", source, "--headers-only", "--json"]
        for home in (kept, kept):
            self.timed(command, home)
            document = self.last_json()
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
        scan = [self.bin["deltascope-bench-replay"], "--scan", source]
        nothing = lambda: None
        self.compare(
            f"W9 open {count} steps for the first time",
            {
                "ours": (clear, lambda: (command, fresh), clear),
                "parse every header": (nothing, lambda: (scan,), nothing),
            },
            {"parse every header": ("at_most", None)},
        )
        seconds = self.compare(
            f"W9 reopen {count} steps",
            {
                "ours": (nothing, lambda: (command, kept), nothing),
                "parse every header": (nothing, lambda: (scan,), nothing),
            },
            {"parse every header": ("at_most", None)},
        )
        worst = max(seconds["ours"])
        self.notes.append(
            f"W9: the slowest of {len(seconds['ours'])} reopenings took {worst:.3f} s; goal < 1 s: {'met' if worst < 1 else '**missed**'}."
        )

    # --- the page ----------------------------------------------------------------------------------------------------

    def page(self, options, load_before):
        def version(command):
            try:
                p = subprocess.run(command, capture_output=True, text=True, check=False)
                return (p.stdout or p.stderr).strip().splitlines()[0]
            except (OSError, IndexError):
                return "not found"

        lines = [
            "| workload | ours: median s (best) | reference | median s (best), spread | ratio of medians [95 %] | goal | our peak MiB |",
            "|---|---|---|---|---|---|---|",
            *("| " + " | ".join(row) + " |" for row in self.table),
            "",
            *self.notes,
            "",
            f"Command: `run_bench.py {' '.join(sys.argv[1:])}`; {options.rounds} rounds interleaved, the first dropped; {options.threads} threads for ours and for delta by delta.",
            f"Machine: {cpu_model()}, {os.cpu_count()} CPUs, {memory_gib():.0f} GiB, Linux {platform.release()}, {file_system(self.work)}.",
            f"Load average {load_before[0]:.2f} before, {os.getloadavg()[0]:.2f} after. Page cache warm.",
            f"Versions: {version([self.bin['deltascope'], '--version'])}; {version(['xxhsum', '--version'])}; {version(['cp', '--version'])}; Python {platform.python_version()}.",
            f"Data: uniform positions, steps of one ulp, density 1 %{', small sizes' if self.small else ''}. Every result was compared with its expected digests before timing.",
        ]
        return "\n".join(lines) + "\n"


def spread(seconds):
    """Max/min of the middle five."""
    ordered = sorted(seconds)
    cut = max(0, (len(ordered) - 5) // 2)
    middle = ordered[cut : len(ordered) - cut] if len(ordered) % 2 else ordered[cut : cut + 5]
    return middle[-1] / middle[0]


def ratio_of_medians(top, bottom, samples=4000):
    rng = random.Random(1)
    drawn = sorted(
        statistics.median(rng.choices(top, k=len(top))) / statistics.median(rng.choices(bottom, k=len(bottom)))
        for _ in range(samples)
    )
    return statistics.median(top) / statistics.median(bottom), drawn[int(0.025 * samples)], drawn[int(0.975 * samples)]


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), platform.machine())


def memory_gib():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)


def file_system(folder):
    best = ("", "?")
    with open("/proc/mounts", encoding="utf-8") as f:
        for line in f:
            _, where, kind = line.split()[:3]
            if folder.startswith(where) and len(where) >= len(best[0]):
                best = (where, kind)
    return best[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--work", default=os.path.join(HERE, "..", "..", "build", "bench-data"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--only", default="W4,W5,W9")
    parser.add_argument("--out")
    parser.add_argument("--small", action="store_true", help="sizes that only show that the bench works")
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error("at least two rounds: the first is dropped")
    load_before = os.getloadavg()
    bench = Bench(options)
    for name in options.only.split(","):
        print(name, file=sys.stderr, flush=True)
        {"W4": bench.w4, "W5": bench.w5, "W9": bench.w9}[name.strip().upper()]()
    page = bench.page(options, load_before)
    print(page)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as f:
            f.write(page)


if __name__ == "__main__":
    main()
