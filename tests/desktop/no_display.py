#!/usr/bin/env python3
"""Where there is no display the program says so in a sentence, and what needs none works.

usage: no_display.py PROGRAM
"""
import os
import subprocess
import sys


def run(*words, **variables):
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", **variables}
    return subprocess.run([sys.argv[1], *words], env=environment, capture_output=True, text=True, check=False, timeout=60)


def main():
    for word in ("--help", "-h", "--version", "-v"):
        told = run(word)
        assert (told.returncode, told.stderr) == (0, ""), told
        assert "deltascope-desktop" in told.stdout, told
    assert "--connect" in run("--help").stdout
    for variables in ({}, {"DISPLAY": ":4711"}, {"QT_QPA_PLATFORM": "nothing"}):
        refused = run("/tmp", **variables)
        assert refused.returncode == 1, refused
        lines = refused.stderr.splitlines()
        assert len(lines) == 1 and "no window can be shown" in lines[0] and "serve" in lines[0], refused


if __name__ == "__main__":
    main()
