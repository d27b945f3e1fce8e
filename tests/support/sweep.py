"""Sweeps: many trials of one kind, cut into numbered slices.

A test that tries something at many random moments or places, or on one case after another, is a sweep. Its slices are
numbered from 0, and a slice is the same every time it runs: its number is the seed of all that is random in it.

DELTASCOPE_SLICE chooses what runs. A whole number n: each sweep runs its slice n modulo its own number of slices. The
word `all`: each sweep runs all its slices, one after another. Where it is not set, n is the days since 1970-01-01 UTC,
so that every slice has its turn. A failure prints the command that repeats its slice.
"""

import functools
import os
import sys
import time

CHOICE = os.environ.get("DELTASCOPE_SLICE", str(int(time.time()) // 86_400))
if CHOICE != "all" and not CHOICE.isdecimal():
    sys.exit(f"DELTASCOPE_SLICE is {CHOICE!r}; it must be a whole number, which chooses a slice, or the word all")


class Sweep:
    """The sweep of a test, under the name that CTest knows, in the build of a preset.

    It decorates test methods of unittest that take the number of a slice. Each becomes one test per slice that runs."""

    def __init__(self, name, slices, preset="release"):
        self.name, self.slices, self.preset = name, slices, preset

    def chosen(self):
        """The numbers of the slices that run."""
        return range(self.slices) if CHOICE == "all" else [int(CHOICE) % self.slices]

    def begin(self, number):
        """Prints which slice runs. Returns the command that repeats it."""
        print(f"\n{self.name}: slice {number} of {self.slices}", flush=True)
        return f"DELTASCOPE_SLICE={number} ctest --preset {self.preset} -R '^{self.name}$'"

    def __call__(self, method):
        return _SlicedTest(self, method)


class _SlicedTest:
    def __init__(self, sweep, method):
        self.sweep, self.method = sweep, method

    def __set_name__(self, owner, name):
        for number in self.sweep.chosen():
            setattr(owner, f"{name}_{number}", self.slice(number))

    def slice(self, number):
        @functools.wraps(self.method)
        def test(case):
            with case.subTest(repeat=self.sweep.begin(number)):
                self.method(case, number)

        return test
