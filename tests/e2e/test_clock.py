#!/usr/bin/env python3
"""Roll backs while the clock jumps, and between plan and run of a source that changes its rights or its objects."""

import glob
import os
import shutil
import subprocess
import time

from support import CONFLICT, DAMAGED, GOLDEN, NOT_AUTHORIZED, E2ETest, loudly_skip, main

HOUR = 3600
FAKETIME = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")


class BetweenPlanAndRun(E2ETest):
    def setUp(self):
        super().setUp()
        self.source, self.plan = self.path("wordle"), self.path("plan.json")
        shutil.copytree(os.path.join(GOLDEN, "trl-v2-gap", "bucket"), self.source, copy_function=shutil.copyfile)
        self.date(-2 * HOUR)

    def step(self, number, kind="deltas"):
        return os.path.join(self.source, kind, f"step_{number:06}.safetensors")

    def date(self, seconds):
        """A step a minute, the newest so many seconds from now."""
        for step in range(1, 16):
            for kind in ("anchors", "deltas"):
                if os.path.exists(self.step(step, kind)):
                    at = time.time() + seconds - 60 * (15 - step)
                    os.utime(self.step(step, kind), (at, at))

    def files(self):
        found = {}
        for path, _, names in os.walk(self.source):
            for name in names:
                with open(os.path.join(path, name), "rb") as f:
                    found[os.path.relpath(os.path.join(path, name), self.source)] = f.read()
        return found

    def make_plan(self):
        self.ok("rollback", f"{self.source}@12", "--plan", self.plan)

    def apply(self, **options):
        return self.run_ds("rollback", f"{self.source}@12", "--apply", self.plan, **options)

    def assert_refused(self, outcome, before, code=None, word=None):
        self.refused(outcome, code, word)
        self.assertIn("→", outcome.err, "it says what to do")
        self.assertEqual(self.files(), before)

    def assert_done(self, outcome):
        self.assertEqual(outcome.code, 0, str(outcome))
        self.assertEqual(self.ok_json("show", f"{self.source}@16")["restores"], 12)
        self.ok("verify", self.source, "--strict", "--level", "3")


class Clock(BetweenPlanAndRun):
    def at(self, seconds):
        """The environment of a program whose clock is that many seconds off."""
        if not FAKETIME:
            loudly_skip("the package libfaketime is missing; no clock can jump")
        return self.environment(LD_PRELOAD=FAKETIME[0], FAKETIME=f"{seconds:+}s", FAKETIME_DONT_FAKE_MONOTONIC="1", NO_FAKE_STAT="1")

    def test_it_jumps_between_plan_and_run(self):
        template = shutil.copytree(self.source, self.path("template"))
        for seconds in (HOUR, -HOUR):
            with self.subTest(seconds=seconds):
                self.source, self.plan = self.path(f"run{seconds}"), self.path(f"plan{seconds}.json")
                shutil.copytree(template, self.source)
                self.make_plan()
                self.assert_done(self.apply(env=self.at(seconds)))

    def test_it_jumps_back_before_the_newest_step(self):
        self.make_plan()
        before = self.files()
        outcome = self.apply(env=self.at(-3 * HOUR))
        self.assert_refused(outcome, before, CONFLICT, "DS-EXISTS")
        self.assertIn("clock", outcome.err)
        self.assert_done(self.apply())

    def test_it_is_ahead_of_a_trainer_that_goes_on(self):
        """The newest step looks old; the step that comes behind the plan is seen all the same."""
        os.rename(self.step(15), self.path("held"))
        ahead = self.at(HOUR)
        self.ok("rollback", f"{self.source}@12", "--plan", self.plan, env=ahead)
        os.rename(self.path("held"), self.step(15))
        before = self.files()
        self.assert_refused(self.apply(env=ahead), before, CONFLICT, "DS-EXISTS")

    def test_the_times_of_the_store_lie_in_the_future(self):
        self.date(HOUR)
        before = self.files()
        outcome = self.run_ds("rollback", f"{self.source}@12", "--yes")
        self.assert_refused(outcome, before, CONFLICT, "DS-EXISTS")
        self.assertIn("clock", outcome.err)
        self.assertNotIn("0 s ago", outcome.err)


class Source(BetweenPlanAndRun):
    def read_only(self):
        if os.geteuid() != 0:
            os.chmod(self.source, 0o555)
            self.addCleanup(os.chmod, self.source, 0o755)
            return
        if subprocess.run(["mount", "--bind", self.source, self.source], check=False).returncode:
            self.skipTest("this machine cannot mount a folder read-only")
        self.addCleanup(subprocess.run, ["umount", self.source], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", self.source], check=True)

    def test_it_becomes_read_only(self):
        self.make_plan()
        before = self.files()
        self.read_only()
        outcome = self.apply()
        self.assert_refused(outcome, before, NOT_AUTHORIZED, "DS-AUTH")
        self.assertIn("Remount the file system" if os.geteuid() == 0 else "owner and mode", outcome.err)

    def test_an_object_is_published_again(self):
        """With the same bytes and the same time, or with the bytes of another step: the plan names the object that it was."""
        for other, code in ((12, CONFLICT), (11, DAMAGED)):
            with self.subTest(other=other):
                self.make_plan()
                shutil.copy2(self.step(other), self.path("again"))
                os.replace(self.path("again"), self.step(12))
                before = self.files()
                self.assert_refused(self.apply(), before, code)
                os.remove(self.plan)


if __name__ == "__main__":
    main()
