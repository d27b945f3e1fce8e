#!/usr/bin/env python3
"""Runs a build with Ninja and says every ten seconds how far it is and how long it will take; all it printed if it fails.

usage: progress.py WHAT COMMAND...
"""

import re
import subprocess
import sys
import time

PERIOD = 10  # seconds
ENOUGH = 0.1  # of the parts, to judge the others by


def left(done, whole, seconds):
    if done < ENOUGH * whole:
        return ""
    rest = seconds / done * (whole - done)
    return ", less than a minute left" if rest < 50 else f", about {max(1, round(rest / 60))} min left"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    what, command = sys.argv[1], sys.argv[2:]
    began = told = time.monotonic()
    printed = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as build:
        for line in build.stdout:
            printed.append(line)
            count = re.match(r"\[(\d+)/(\d+)\]", line)
            now = time.monotonic()
            if count and now - told >= PERIOD:
                told = now
                done, whole = map(int, count.groups())
                print(f"   {what}: {done} of {whole} parts{left(done, whole, now - began)}", flush=True)
    if build.returncode != 0:
        print("".join(printed), end="")
        sys.exit(f"building {what} failed: {' '.join(command)}")
    print(f"   {what}: built in {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
