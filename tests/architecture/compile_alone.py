#!/usr/bin/env python3
"""Has the compiler look at each source file that a build folder knows, alone, with warnings as errors.

A file that is only ever compiled in company (DELTASCOPE_UNITY) can lack an include or choose another overload. No code is
made. Qt's own headers are precompiled, for they take most of the time; all others are what the file includes. It is a sweep
(tests/support/sweep.py): each slice looks at every sixth file.

usage: compile_alone.py BUILD_FOLDER

BUILD_FOLDER: configured without DELTASCOPE_UNITY, which hides the files. What is built there was looked at.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
from sweep import Sweep

SWEEP = Sweep("compile_alone", 6)
OUTPUT = ("-c", "-o", "-MT", "-MF")  # with the word behind them
DROPPED = ("-MD", "-fsanitize", "-fno-sanitize", "-g", "-include", "-include-pch")
QT = "QtWidgets"


class Look:
    """What the compiler is asked about one file."""

    def __init__(self, entry):
        self.source = pathlib.Path(entry["file"])
        self.folder = pathlib.Path(entry["directory"])
        words = shlex.split(entry["command"])
        self.made = self.folder / words[words.index("-o") + 1]
        self.moc = [re.search(r"/([^/]+)/include$", word)[1] for word in words if word.endswith("_autogen/include")]
        self.flags = tuple(flags_of(words))

    def is_due(self, build):
        ours = self.source.is_relative_to(ROOT) and not self.source.is_relative_to(build)
        return ours and not self.made.exists()

    def uses_qt(self):
        return any(word.endswith(f"/{QT}") for word in self.flags)

    def ask(self, precompiled):
        """Returns what the compiler says; empty if nothing."""
        company = ["-include-pch", precompiled[self.flags]] if self.flags in precompiled else []
        command = [*self.flags, *company, "-fsyntax-only", "-Werror", self.source]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr if done.returncode or done.stderr else ""


def flags_of(words):
    """The compiler and its flags, without launchers, what is compiled, sanitizers and precompiled headers."""
    start = next(i for i, word in enumerate(words) if re.search(r"(clang|g|c)\+\+[-\d.]*$", word))
    words = iter(words[start:])
    for word in words:
        if word in OUTPUT:
            next(words)
        elif word == "-Xclang":
            next(words)
        elif not word.startswith(DROPPED):
            yield word


def precompile(flags, folder, number):
    """Qt's headers as a file with these flags sees them."""
    header = folder / f"qt-{number}.h"
    header.write_text(f"#include <{QT}>\n", encoding="utf-8")
    made = header.with_suffix(".pch")
    subprocess.run([*flags, "-x", "c++-header", header, "-o", made], check=True)
    return made


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    looks = [Look(entry) for entry in entries if entry["file"].endswith(".cpp")]
    looks = sorted((look for look in looks if look.is_due(build)), key=lambda look: look.source)
    looks = [look for at, look in enumerate(looks) if at % SWEEP.slices in SWEEP.chosen()]
    if not looks:
        sys.exit(f"{build} has built all that it knows: there is nothing to look at")
    moc = sorted({target for look in looks for target in look.moc})
    if moc:  # what it makes is included by sources
        subprocess.run(["cmake", "--build", build, "--target", *moc], check=True, stdout=subprocess.DEVNULL)
    folder = build / "alone"
    folder.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        flags = sorted({look.flags for look in looks if look.uses_qt()})
        precompiled = dict(zip(flags, pool.map(lambda at: precompile(flags[at], folder, at), range(len(flags)))))
        said = "".join(pool.map(lambda look: look.ask(precompiled), looks))
    print(f"{said}{len(looks)} files")
    sys.exit(1 if said else 0)


if __name__ == "__main__":
    main()
