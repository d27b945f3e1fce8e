#!/usr/bin/env python3
"""Builds and runs every test, and ends with one line: N passed, M failed. installers/test.sh calls it.

usage: main.py [--long] [--began SECONDS]

--long also runs what is too long for each change: sweeps whole, both sanitizers, the window under one, transformers. Without it each
sweep runs one slice, which DELTASCOPE_SLICE chooses (tests/support/sweep.py), and the unit tests run under one
sanitizer: ASan in four slices of seven, TSan in three. SECONDS: when the run began, by `date +%s`.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from beside import Beside
from ledger import Ledger, finish, run, stated_costs
from tally import tally_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = "find app cuda engine tests ui/desktop -name '*.cpp' -o -name '*.cu' -o -name '*.h' | xargs clang-format --dry-run -Werror"
PROGRAMS = ROOT / "tests" / "peers" / "stores" / "programs.py"
SERVERS = ["versitygw", "local_cas_server"]
LONG_SERVERS = ["minio", "moto"]
JOBS = 2 * (os.cpu_count() or 1)  # of tests: more than half of their time is waiting
# Suites with one thread have no races; they take a fifth of the time of all. Threads of a device have suites of their own.
ONE_THREAD = (
    "(Backend|DiffApply|DiffMoments|ElementCounts)Conformance|StatisticsOf|BlockBatches|Device(Find|ModuleTest|Verify)|DcpStream"
    "|JsonLimits|Pickle|ReadChunks"
)
SANITIZED = {
    "asan": ["--label-regex", "unit|fuzz"],
    "tsan": ["--label-regex", "unit", "--exclude-regex", ONE_THREAD],
}
FILES_ALONE = """cmake --preset clang -DDELTASCOPE_WITH_WEB=OFF > build/clang.log &&
    exec python3 -B tests/architecture/compile_alone.py build/clang"""


class BuildFailed(Exception):
    pass


def fixed_addresses():
    """What runs a program without address randomization: with more than 28 random bits, which some kernels take, sanitizers of
    Debian's clang fail to start now and then, and with them all cases of a suite. Empty where that is not allowed."""
    words = ["setarch", "-R"]
    with contextlib.suppress(OSError):
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            return words
    return []


class TestRun:
    def __init__(self, arguments):
        self.long = arguments.long
        self.ledger = Ledger(arguments.began)
        chosen = os.environ["DELTASCOPE_SLICE"] = "all" if self.long else os.environ.get("DELTASCOPE_SLICE", today())
        self.sanitizers = list(SANITIZED) if chosen == "all" else [sanitizer_of(int(chosen))]
        servers = SERVERS + (LONG_SERVERS if self.long else [])
        self.servers = Beside([sys.executable, "-B", PROGRAMS, *servers], ROOT / "build" / "servers.log")

    def check(self, name, command):
        """One test that is not CTest's."""
        with self.ledger.phase(name) as phase, tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
            status = run(phase, command, stdout=log, stderr=subprocess.STDOUT, cwd=ROOT)
            log.seek(0)
            printed = log.read()
            if status == 0:
                phase.tally.passed += 1
            else:
                phase.tally.fail(name, printed)
            print(printed, end="", flush=True)

    def build(self, preset, *options, targets=()):
        with self.ledger.phase(f"build {preset}") as phase:
            configure = ["cmake", "--preset", preset, f"-DDELTASCOPE_LONG={'ON' if self.long else 'OFF'}",
                         *([] if self.long else ["-DDELTASCOPE_CUDA_TARGETS=90"]), *options]
            build = ["cmake", "--build", "--preset", preset, *(["--target", *targets] if targets else [])]
            if run(phase, configure, cwd=ROOT, stdout=subprocess.DEVNULL) or run(phase, build, cwd=ROOT):
                phase.tally.fail(f"build {preset}", "its output stands above")
                raise BuildFailed

    def wait_for_servers(self):
        """What could not be built is told here; the tests that need it try again, and fail."""
        with self.ledger.phase("servers of stores") as phase:
            self.servers.wait(lambda process: finish(phase, process))

    def test(self, preset, *options, name=None):
        with self.ledger.phase(f"tests {name or preset}") as phase:
            folder = ROOT / "build" / preset
            for old in [folder / "tests.xml", *(folder / "suites").glob("*.xml")]:
                old.unlink(missing_ok=True)
            command = ["ctest", "--preset", preset, "--parallel", str(JOBS), "--output-junit", folder / "tests.xml"]
            if preset in SANITIZED:
                command = [*fixed_addresses(), *command]
            with open(folder / "tests.log", "wb") as out:
                run(phase, [*command, *options], stdout=out, stderr=subprocess.STDOUT, cwd=ROOT)
            if (folder / "tests.xml").exists():
                phase.tally.add(tally_of(folder, preset))
            if phase.tally.passed == 0:
                phase.tally.fail(f"tests {preset}", "no test passed: " + (folder / "tests.log").read_text(errors="replace"))
            print(f"{phase.tally.passed} passed, {phase.tally.failed} failed", flush=True)
            for told in phase.tally.told:
                print(f"\n{told}", flush=True)

    def everything(self):
        self.check("form of the code", ["sh", "-c", SOURCES])
        self.build("release", "-DDELTASCOPE_WITH_TESTS=ON", "-DDELTASCOPE_WERROR=ON")
        self.test("release", "--label-exclude", "stores")
        for preset in self.sanitizers:
            self.build(preset)
            self.test(preset, *SANITIZED[preset])
        self.wait_for_servers()
        self.test("release", "--label-regex", "stores", name="stores")
        self.check("files alone", ["sh", "-c", FILES_ALONE])
        if self.long:
            self.build("tsan", targets=["deltascope_desktop_tests"])
            self.test("tsan", "--label-regex", "desktop", "--exclude-regex", r"^desktop\.[a-z]")

    def conclude(self):
        tally = self.ledger.tally()
        for told in tally.told:  # again: the end of a log is read first
            print(f"\n{told}")
        print(f"\n{self.ledger.table({} if self.long else stated_costs(ROOT / 'docs' / 'benchmarks.md'))}")
        if tally.skipped:
            print(f"\nskipped: {', '.join(tally.skipped)}")
        failed = [told.split("\n", 1)[0].removeprefix("== ") for told in tally.told]
        print("\nfailed: " + "; ".join(failed) if failed else "", flush=True)  # short, at the end: what is looked for first
        print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
        return 0 if tally.passed and not tally.failed else 1


def sanitizer_of(number):
    """They take turns in the slices. No sweep has seven slices or a multiple, so that each slice of each has its turn under both."""
    return list(SANITIZED)[number % 7 % 2]


def today():
    return str(int(time.time()) // 86_400)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--began", type=float, default=time.time())
    test_run = TestRun(parser.parse_args())
    try:
        test_run.everything()
    except BuildFailed:
        pass
    finally:
        test_run.servers.stop()
    sys.exit(test_run.conclude())


if __name__ == "__main__":
    main()
