"""Counts what CTest ran: cases of GoogleTest programs one by one, and each other test as one."""

import collections
import dataclasses
import heapq
import pathlib
import re
import xml.etree.ElementTree as xml


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: list = dataclasses.field(default_factory=list)  # names
    told: list = dataclasses.field(default_factory=list)  # of each failure: what failed, and what it printed
    times: list = dataclasses.field(default_factory=list)  # (seconds, name)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.told += other.told
        self.times += other.times

    def fail(self, name, printed, cases=1):
        self.failed += cases
        self.told.append(f"== {name}\n{printed}")

    def slowest(self, count):
        return heapq.nlargest(count, self.times)


def tally_of(build, preset):
    """What the last run of CTest in a build folder came to."""
    build = pathlib.Path(build)
    tally = Tally()
    suites = cases_of(build / "suites")
    for test in xml.parse(build / "tests.xml").getroot().iter("testcase"):
        name, printed = test.get("name"), test.findtext("system-out", "")
        tally.times.append((float(test.get("time")), f"{name} ({preset})"))
        ended_well = test.get("status") == "run"
        if name not in suites:
            if ended_well:
                tally.passed += 1
            else:
                tally.fail(name, printed)
            continue
        passed, skipped = outcome(build / "suites" / f"{name}.xml", printed)
        bad = [case for case in suites[name] if case not in passed and case not in skipped]
        tally.passed += len(suites[name]) - len(bad) - len(skipped)
        tally.skipped += [f"{name}.{case} ({preset})" for case in skipped]
        if bad:
            tally.fail(f"{name}, {len(bad)} of {len(suites[name])} cases: {', '.join(bad)}", printed, len(bad))
        elif not ended_well:  # leaks are found at the end of a process
            tally.fail(f"{name}, behind its last case", printed)
    return tally


def cases_of(folder):
    """{test: names of its cases}, as the programs listed them when they were built."""
    suites = collections.defaultdict(list)
    for path in folder.glob("*.txt"):
        for line in path.read_text(encoding="utf-8").splitlines():
            suite, case = line.split(" ", 1)
            suites[suite].append(case)
    return suites


def outcome(path, printed):
    """({cases that passed}, {cases that were skipped}) of a suite: as GoogleTest wrote it at the end, else what it
    printed on the way to a crash."""
    if not path.exists():
        return set(re.findall(r"^\[       OK \] .*?\.(\S+) \(", printed, re.MULTILINE)), set()
    passed, skipped = set(), set()
    for case in xml.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None:
            continue
        (passed if case.get("result") == "completed" else skipped).add(case.get("name"))
    return passed, skipped
