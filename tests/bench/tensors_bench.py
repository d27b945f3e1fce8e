"""W11: runs of many small tensors, where nothing but the cost of a tensor counts."""

import os
import shutil
import statistics
import sys

from harness import HERE
from publish_bench import peers_python

TENSORS = 20_000
GOAL_US = 20
RUNS = {
    "trl-v2": {"layout": "trl-v2", "steps": 11, "anchor_every": 100},
    "hf": {"layout": "hf", "steps": 3},
    "slime-v2": {"layout": "slime-v2", "steps": 6},
}


def w11(bench):
    count = 500 if bench.small else TENSORS
    python = peers_python(bench)
    fresh = os.path.join(bench.work, "fresh-home")
    bundle = os.path.join(bench.work, "run.dscope")

    def clear():
        shutil.rmtree(fresh, ignore_errors=True)
        os.makedirs(fresh)
        if os.path.exists(bundle):
            os.remove(bundle)

    for layout, options in RUNS.items():
        name = f"tensors-{count}-{layout}"
        base = os.path.join(bench.work, name, "base")
        if layout == "slime-v2":
            options = options | {"base_out": base}
        source, steps = bench.make(name, tensors=count, elements=64, density=0.05, seed=1, **options)
        on_base = ["--base", base] if layout == "slime-v2" else []
        files = sorted(os.path.join(p, f) for p, _, names in os.walk(source) for f in names if f.endswith(".safetensors"))
        peer = [python, os.path.join(HERE, "deserialize.py"), *files]
        threads = ["--threads", bench.threads]
        ours = {
            "open": [bench.bin["deltascope"], "log", source, *on_base, *threads, "--json"],
            "verify --level 3": [bench.bin["deltascope"], "verify", source, *on_base, "--level", "3", *threads, "--json"],
            "bundle": [bench.bin["deltascope"], "export", source, *on_base, "--bundle", bundle, *threads, "--json"],
        }
        for what, command in ours.items():
            clear()
            before = processor_seconds()
            bench.timed(command, fresh)
            busy = 1e6 * (processor_seconds() - before) / (count * len(steps))
            expect_sound(what, bench.last_json(), steps)
            seconds = bench.compare(
                f"W11 {what}, {layout}, {len(steps)} steps of {count} tensors",
                {
                    "ours": (clear, lambda c=command: (c, fresh), clear),
                    "safetensors": (lambda: None, lambda: (peer,), lambda: None, True),
                },
                {"safetensors": ("at_most", None)},
            )["ours"]
            each, worst = (1e6 * f(seconds) / (count * len(steps)) for f in (statistics.median, max))
            met = "met" if worst <= GOAL_US else "**missed**"
            bench.notes.append(
                f"W11 {what}, {layout}: {each:.1f} µs for each tensor of each step, {worst:.1f} in the slowest round, "
                f"{busy:.1f} of processor time; goal ≤ {GOAL_US} µs: {met}.\n"
            )


def processor_seconds():
    """Of all commands so far: what others do on the machine changes it less than the clock."""
    times = os.times()
    return times.children_user + times.children_system


def expect_sound(what, document, steps):
    """What is timed has done its work."""
    if what == "open":
        seen = {s["step"]: s for e in document["epochs"] for s in e["steps"]}
        sound = seen.keys() == steps.keys() and all(
            seen[n][f] == s[f] for n, s in steps.items() for f in ("kind", "changed_elems", "restorable")
        )
    elif what == "bundle":
        sound = document["steps"] == len(steps)
    else:
        sound = document["result"] in ("verified", "consistent", "first_sight", "unverified")
        sound = sound and len(document["steps"]) == len(steps)
    if not sound:
        sys.exit(f"{what} shows another run; the run is void")
