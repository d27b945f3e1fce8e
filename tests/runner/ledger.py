"""What each phase of a test run cost: processor time, wall clock, tests, and the table that says so."""

import contextlib
import dataclasses
import os
import pathlib
import re
import resource
import subprocess
import time

from tally import Tally

TOLERATED = 1.25  # times the processor seconds that docs/benchmarks.md states
HEADING = "## Time to build and to test"
SLOWEST = 10


@dataclasses.dataclass
class Phase:
    name: str
    cpu: float = 0
    wall: float = 0
    tally: Tally = dataclasses.field(default_factory=Tally)


class Ledger:
    """Phases in the order of their beginning."""

    def __init__(self, began):
        """`began`: when the run began, as time.time() tells it. What ran since then is the first phase."""
        self.began = began
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.phases = [Phase("packages", used.ru_utime + used.ru_stime, time.time() - began)]

    @contextlib.contextmanager
    def phase(self, name):
        phase = Phase(name)
        self.phases.append(phase)
        print(f"\n== {name}", flush=True)
        began = time.time()
        try:
            yield phase
        finally:
            phase.wall = time.time() - began

    def tally(self):
        whole = Tally()
        for phase in self.phases:
            whole.add(phase.tally)
        return whole

    def table(self, stated):
        """`stated`: {phase: processor seconds}, of a run like this one."""
        rows = [("phase", "CPU s", "wall s", "tests")]
        for phase in self.phases:
            tests = phase.tally.passed + phase.tally.failed
            rows.append((phase.name, f"{phase.cpu:.0f}", f"{phase.wall:.0f}", str(tests or "")))
        tally = self.tally()
        rows.append(
            (
                "all",
                f"{sum(phase.cpu for phase in self.phases):.0f}",
                f"{time.time() - self.began:.0f}",
                str(tally.passed + tally.failed),
            )
        )
        width = max(len(row[0]) for row in rows)
        lines = [f"{name:<{width}} {cpu:>7} {wall:>7} {tests:>7}" for name, cpu, wall, tests in rows]
        lines += ["", "slowest tests:"]
        lines += [f"{seconds:>7.1f} s  {name}" for seconds, name in tally.slowest(SLOWEST)]
        over = [
            f"{phase.name}: {phase.cpu:.0f} CPU s, more than {TOLERATED} times the {stated[phase.name]:.0f} that "
            "docs/benchmarks.md states"
            for phase in self.phases
            if phase.name in stated and phase.cpu > TOLERATED * stated[phase.name]
        ]
        return "\n".join(lines + [""] * bool(over) + over)


def run(phase, command, **options):
    """Runs a command and books its processor time, and that of what it started and waited for. Returns its status."""
    return finish(phase, subprocess.Popen(command, **options))


def finish(phase, process):
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    phase.cpu += used.ru_utime + used.ru_stime
    return process.returncode


def stated_costs(page):
    """{phase: processor seconds} of the table behind HEADING: the first cell and the second one of each row."""
    _, found, section = pathlib.Path(page).read_text(encoding="utf-8").partition(HEADING + "\n")
    section = section.partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+?) \| ([\d,]+) \|", section, re.MULTILINE)
    if not found or not rows:
        raise ValueError(f"{page} has no table behind {HEADING!r}")
    return {name: float(cpu.replace(",", "")) for name, cpu in rows}
