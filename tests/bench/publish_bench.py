"""W6: publishing a step, against the numpy way of the frameworks' writers (numpy_publish.py), and its size."""

import os
import shutil
import subprocess
import sys

from harness import HERE

FORMS = [("trl-v2", "gap_delta"), ("trl-v2", "raw"), ("slime-v2", "xor"), ("slime-v2", "overwrite")]
STEP = 3  # the one that is published; 1 and 2 are there before


class Runs:
    """The states 1, 2 and 3 of a model as checkpoints, and a run of each layout that ends with state 2."""

    def __init__(self, bench):
        self.bench = bench
        elements = (1 << 17) if bench.small else (1 << 23)
        options = {"layout": "trl-v2", "tensors": 64, "elements": elements, "steps": 3, "density": 0.01, "seed": 1}
        self.source, self.steps = bench.make("small-3" if bench.small else "gib-3", **options)
        self.folder = os.path.join(bench.work, "publish")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        for step in (1, 2, 3):
            self.call("materialize", f"{self.source}@{step}", "-o", self.state(step), "--threads", bench.threads)
            bench.gate(self.state(step), self.steps[step]["tensors"], f"state {step}")
        for layout in ("trl-v2", "slime-v2"):
            self.call(*self.publish(layout, None, 1, 2, bench.threads))
            self.call("log", self.run(layout), *self.base(layout))  # a publisher knows the run that it goes on with
        self.home = os.path.join(self.folder, "home")
        shutil.copytree(bench.home, self.home)

    def call(self, *arguments):
        self.bench.timed([self.bench.bin["deltascope"], *arguments])

    def state(self, step):
        return os.path.join(self.folder, f"state-{step}")

    def file(self, step):
        return os.path.join(self.state(step), os.listdir(self.state(step))[0])

    def run(self, layout):
        return os.path.join(self.folder, layout)

    def version(self, layout):
        """trl-v2 begins with state 1 as step 1, slime-v2 with state 1 as its base."""
        return STEP if layout == "trl-v2" else STEP - 1

    def base(self, layout):
        return ["--base", self.state(1)] if layout == "slime-v2" else []

    def publish(self, layout, encoding, a, b, threads):
        return [
            *("publish", "--into", self.run(layout), "--layout", layout),
            *(["--encoding", encoding] if encoding else []),
            *("--from", self.state(a), "--to", self.state(b), *self.base(layout), "--threads", threads, "--json"),
        ]

    def clean(self, layout):
        """The run ends with state 2 again, and the program remembers no other."""
        step = self.version(layout)
        shutil.rmtree(os.path.join(self.run(layout), f"weight_v{step:06d}"), ignore_errors=True)
        shutil.rmtree(self.bench.home, ignore_errors=True)
        shutil.copytree(self.home, self.bench.home)
        delta = os.path.join(self.run(layout), "deltas", f"step_{step:06d}.safetensors")
        if os.path.exists(delta):
            os.remove(delta)

    def published_bytes(self, layout):
        step = self.version(layout)
        if layout == "trl-v2":
            return os.path.getsize(os.path.join(self.run(layout), "deltas", f"step_{step:06d}.safetensors"))
        with os.scandir(os.path.join(self.run(layout), f"weight_v{step:06d}")) as entries:
            return sum(entry.stat().st_size for entry in entries)


def peers_python(bench):
    folder = os.path.join(bench.work, "peers")
    maker = os.path.join(HERE, "..", "peers", "make_venv.py")
    subprocess.run([sys.executable, maker, folder, "requirements.txt"], check=True, stdout=sys.stderr)
    return os.path.join(folder, "bin", "python")


def versions(python):
    frozen = subprocess.run([python, "-m", "pip", "freeze"], check=True, capture_output=True, text=True).stdout
    return ", ".join(line.replace("==", " ") for line in frozen.split())


def w6(bench):
    runs = Runs(bench)
    python = peers_python(bench)
    truth = {n: (t["dtype"], t["shape"], t["xxh3_128"]) for n, t in runs.steps[STEP]["tensors"].items()}
    changed = runs.steps[STEP]["changed_elems"]
    rows = []
    for layout, encoding in FORMS:
        clean = lambda layout=layout: runs.clean(layout)

        def ours(threads):
            return [bench.bin["deltascope"], *runs.publish(layout, encoding, STEP - 1, STEP, str(threads))]

        def numpy_way(workers):
            return [
                *(python, "-B", os.path.join(HERE, "numpy_publish.py"), "--layout", layout, "--encoding", encoding),
                *("--from", runs.file(STEP - 1), "--to", runs.file(STEP), "--into", runs.run(layout)),
                *("--step", str(runs.version(layout)), "--workers", str(workers)),
            ]

        sizes = []
        for command in (ours(1), ours(2), numpy_way(1), numpy_way(2)):
            clean()
            bench.timed(command)
            sizes.append(runs.published_bytes(layout))
            address = f"{runs.run(layout)}@{runs.version(layout)}"
            bench.timed([bench.bin["deltascope"], "digest", address, *runs.base(layout), "--json"])
            got = {t["name"]: (t["dtype"], t["shape"], t["xxh3_128"]) for t in bench.last_json()["tensors"]}
            if got != truth:
                sys.exit(f"{' '.join(command)}: wrong bytes; the run is void")
        costs = [f"{size / changed:.2f}" for size in (sizes[0], sizes[2])]
        rows.append(f"| {layout} {encoding} | {' | '.join(costs)} | {sizes[0] / 1e6:.1f} |")
        for count, reference in ((1, "numpy, one thread"), (2, "numpy, two processes")):
            bench.compare(
                f"W6 publish {layout} {encoding}, {count} thread{'s' * (count > 1)}",
                {
                    "ours": (clean, lambda: (ours(count),), clean),
                    reference: (clean, lambda: (numpy_way(count),), clean, True),
                },
                {reference: ("at_least", 3.0)},
            )
    shutil.rmtree(runs.folder)
    bench.sections += [
        f"Bytes of a published step per changed element ({changed} of BF16, 1 %, one ulp each), all its files counted:",
        "",
        "| layout and encoding | ours | numpy way | MB |",
        "|---|---|---|---|",
        *rows,
        "",
        "W6: ours is the whole process, which also proves that A is the newest state of the run; the numpy way counts",
        "from opening its two files, after Python and its imports are up. Both sync what they write, and its folder.",
        "",
        f"Packages: {versions(python)}.",
        "",
    ]
