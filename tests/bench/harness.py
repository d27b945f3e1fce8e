"""What the end-to-end benchmarks share: contestants in turn, medians and intervals, made models, the page."""

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
        self.table, self.notes, self.sections = [], [], []
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
        """{name: [seconds, first round dropped]}. A contestant: (prepare, command, clean), and True if its own "seconds"
        on stdout count, not those of the process."""
        seconds = {name: [] for name in contestants}
        for i in range(self.rounds):
            for name, (prepare, command, clean, *own_clock) in contestants.items():
                prepare()
                os.sync()  # the backlog of one contestant must not slow the next
                took = self.timed(*command())
                if own_clock:
                    took = self.last_json()["seconds"]
                clean()
                if i > 0:
                    seconds[name].append(took)
            now = ", ".join(f"{n} {s[-1]:.3f}" for n, s in seconds.items() if s)
            print(f"  round {i + 1}/{self.rounds}: {now}", file=sys.stderr, flush=True)
        return seconds

    def peak_mib(self, contestant):
        prepare, command, clean, *_ = contestant
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
            *self.sections,
            *self.notes,
            "",
            f"Command: `run_bench.py {' '.join(sys.argv[1:])}`; {options.rounds} rounds interleaved, the first dropped; {options.threads} threads unless a row says otherwise.",
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
