#!/usr/bin/env python3
"""What was on record and is gone, came back from a copy, or was written again by another run, in made buckets of every
layout. Beside each loss stands what looks like it and is none: retention, a restart, a copy, a step without a change.

What is found by what is listed in docs/damage.md.
"""

import json
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time
import unittest

import numpy
from bucket import FIRST_TIME, Bucket, memory
from case_model import Case
from make_case import CASES

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from sweep import Sweep  # noqa: E402

PARTS = 12
SWEEP = Sweep("damage.losses", PARTS)
STEPS = 9
ANCHOR_EVERY = 4
ALONE = ("trl-adapter", "hf", "dcp")
SOUND = ("verified", "consistent", "first_sight", "unverified")
# lossy by design, or the bucket of another word with another codec
LEFT_OUT = ("grail-old-arithmetic", "modelexpress-plain-keys", "prime-rl-update-i64", "slime-v1-indices")
WORDS = [word for word in CASES if word not in LEFT_OUT]
CHAINS = [word for word in WORDS if word not in ALONE]
# the last of so many versions changes nothing
ENDS_EMPTY = {word: 3 for word in CHAINS if word.startswith(("slime-v2", "skyrl", "prime-rl-update"))}
ENDS_EMPTY |= {"trl-v1.0": 3, "modelexpress": 4, "grail-v2": 5, "grail-v3": 5, "grail-v3.1": 5}


class RunOfAnotherSeed(Case):
    """It starts where the run of `start` does."""

    def __init__(self, folder, layout, start, anchor_every):
        super().__init__(folder, layout, "", small=True, anchor_every=anchor_every)
        self.start = start

    def model(self, seed, **options):
        model = super().model(self.start, **options)
        step = model.step

        def first_step(number):
            model.random = numpy.random.default_rng(seed)
            model.step = step
            return step(number)

        model.step = first_step
        return model


class Run(Bucket):
    def __init__(self, word, folder, seed, steps=STEPS, start=None, anchor_every=ANCHOR_EVERY):
        self.start = start
        self.strict = False  # whether --strict has nothing against the sound bucket
        self.epoch = ""  # "0:" for steps of an earlier run
        super().__init__(word, folder, seed, steps, anchor_every)

    def make(self, word, folder, seed, steps, anchor_every):
        if self.start is None:
            super().make(word, folder, seed, steps, anchor_every)
        else:
            layout, encode = CASES[word]
            encode(RunOfAnotherSeed(folder, layout, self.start, anchor_every), seed, steps)

    def remove(self, step):
        for key in self.objects[step]:
            self.path(key).unlink()
            if not any(self.path(key).parent.iterdir()):
                self.path(key).parent.rmdir()

    def ask(self, *arguments, home=None):
        return super().ask(*(str(argument).replace("@", f"@{self.epoch}") for argument in arguments), home=home)

    def take_over(self, other):
        """Another run writes under the same keys."""
        for number, step in enumerate(other.steps):
            for key in other.objects[step]:
                self.time[key] = FIRST_TIME + 100_000 + 60 * number
                self.write(key, other.read(key))

    def copy(self, keys, seconds):
        """A copy makes new files in this order, so many seconds apart."""
        for number, key in enumerate(keys):
            data = self.read(key)
            self.path(key).unlink()
            self.time[key] = FIRST_TIME + 100_000 + seconds * number
            self.write(key, data)

    def verify(self, home, *options):
        return self.ask("verify", self.source, "--level", 4, *options, home=home)


def texts(answer):
    return [f"{problem['code']} {problem['text']}" for problem in answer.problems()]


def names(answer, step, code=""):
    """Whether a problem of this code is about the step."""
    named = re.compile(rf"\b{step}\b")
    return any(
        problem["code"].startswith(code) and (problem["step"] == step or named.search(problem["text"]))
        for problem in answer.problems()
    )


class Losses(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="ds-losses-"))
        self.addCleanup(shutil.rmtree, self.work)
        self.number = 0

    def run_of(self, word, seed=1, steps=STEPS, **more):
        self.number += 1
        if word == "trl-adapter":
            steps = min(steps, 6)  # then the values of its maker come back
        return Run(word, self.work / f"{word}-{self.number}", seed, steps, **more)

    def each(self, number, words, check):
        """check(run, home) for the buckets of a slice, each seen by a verify."""
        for word in words[number % PARTS :: PARTS]:
            run = self.run_of(word)
            with self.subTest(word=word), memory() as home:
                self.assertEqual(run.verify(home).code, 0)
                run.strict = run.verify(home, "--strict").code == 0
                check(run, home)

    def is_sound(self, run, home):
        """Nothing is said to be lost or rewritten, and --strict lets pass what it did before."""
        for options in [(), ("--strict",)] if run.strict else [()]:
            answer = run.verify(home, *options)
            self.assertEqual(answer.code, 0, f"{answer}\n{texts(answer)}")
            self.assertFalse([text for text in texts(answer) if text.startswith(("DS-VANISHED", "DS-REWRITTEN"))])

    def are_right(self, run, home, steps):
        states = {step: run.digest(step, home) for step in steps}
        self.assertEqual(states, dict.fromkeys(steps, "right"))

    def are_refused(self, run, home, steps, lost):
        for step in steps:
            answer = run.ask("digest", f"{run.source}@{step}", home=home)
            self.assertIsNotNone(answer.error, f"step {step} needs step {lost}")
            self.assertTrue(names(answer, lost), f"step {step} needs step {lost}: {answer.error}")

    # --- losses ------------------------------------------------------------------------------------------------------

    @SWEEP
    def test_the_newest_version_is_gone(self, number):
        def check(run, home):
            gone, before = run.steps[-1], run.steps[-2]
            run.remove(gone)
            answer = run.verify(home)
            self.assertEqual(answer.code, 0 if run.word in ALONE else 7, texts(answer))
            self.assertTrue(names(answer, gone, "DS-VANISHED"), texts(answer))
            self.assertEqual(run.verify(home, "--strict").code, 6 if run.word in ALONE else 7)
            self.assertTrue(names(run.ask("log", run.source, home=home), gone, "DS-VANISHED"))
            built = run.ask("materialize", run.source, "-o", self.work / f"out-{run.word}", home=home)
            self.assertEqual((built.code, built.document.get("step")), (0, before), str(built))
            self.assertTrue(any(str(gone) in str(notice) for notice in built.document["notices"]), built.document)
            self.are_right(run, home, [before])
            self.assertEqual(run.verify(home, "--accept-rewritten").code, 0)
            self.is_sound(run, home)

        self.each(number, WORDS, check)

    @SWEEP
    def test_a_version_in_the_middle_is_gone(self, number):
        def check(run, home):
            deltas = [step for step in run.steps[2:-1] if run.truth[step]["kind"] == "delta"]
            before_anchor = [step for step in deltas if run.needed_by(step) == [step]]
            for gone in {*deltas[-2:-1], *before_anchor[-1:]} or run.steps[-3:-2]:
                with run.kept(run.objects[gone]), memory() as home, self.subTest(gone=gone):
                    run.verify(home)
                    needing = set(run.needed_by(gone)) - {gone}
                    run.remove(gone)
                    answer = run.verify(home)
                    self.assertTrue(names(answer, gone), texts(answer))
                    if needing:
                        self.assertIn(answer.code, (6, 7), texts(answer))
                        self.are_refused(run, home, sorted(needing), gone)
                    else:
                        self.assertEqual(answer.code, 0, texts(answer))
                    self.are_right(run, home, sorted(set(run.steps) - needing - {gone}))

        self.each(number, WORDS, check)

    @SWEEP
    def test_retention(self, number):
        """All in front of the newest complete state goes."""

        def check(run, home):
            complete = [s for s in run.steps if run.truth[s]["kind"] == "anchor" or run.truth[s].get("full_objects")]
            if not complete:
                return
            front = run.steps[:3] if run.word in ALONE else [s for s in run.steps if s < complete[-1]]
            for step in front:
                run.remove(step)
            self.is_sound(run, home)
            self.are_right(run, home, [s for s in run.steps if s not in front])

        self.each(number, WORDS, check)

    @SWEEP
    def test_the_newest_version_is_cut(self, number):
        def check(run, home):
            newest = run.steps[-1]
            for at, step in enumerate(run.steps):
                for key in run.objects[step]:
                    run.time[key] = int(time.time()) - 60 * (len(run.steps) - at)
                    run.touch(key)
            key = max(run.objects[newest], key=lambda key: len(run.read(key)))
            run.write(key, run.read(key)[:-5])
            answer = run.verify(home)
            self.assertIn(answer.code, (0, 6, 7), texts(answer))
            self.assertTrue(names(answer, newest), texts(answer))
            self.assertNotEqual(run.digest(newest, home), "wrong")
            self.are_right(run, home, run.steps[-2:-1])

        self.each(number, WORDS, check)

    @SWEEP
    def test_a_version_in_the_middle_is_cut_and_dated_ahead(self, number):
        def check(run, home):
            one_form = [step for step in run.steps[2:-2] if not run.truth[step].get("full_objects")]
            cut = {run.truth[step]["kind"]: step for step in one_form}.get("delta", run.steps[-3])
            key = max(run.objects[cut], key=lambda key: len(run.read(key)))
            run.time[key] = 4_102_444_800
            run.write(key, run.read(key)[:-5])
            for seen in (home, None):
                answer = run.ask("verify", run.source, "--level", 4, home=seen)
                self.assertTrue(names(answer, cut), texts(answer))
                if run.word in ALONE:  # nothing builds on it: it may be being written, by a machine whose clock is ahead
                    continue
                self.assertIn(answer.code, (6, 7), texts(answer))
                waits = ("DS-PUBLISHING", "whole yet", "being written")
                self.assertFalse([text for text in texts(answer) if any(word in text for word in waits)])
            for step in set(run.needed_by(cut)):
                self.assertNotIn(run.digest(step, home), ("right", "wrong"))
            self.are_right(run, home, [s for s in run.steps if s not in run.needed_by(cut)])

        self.each(number, WORDS, check)

    @SWEEP
    def test_the_records_are_gone(self, number):
        def check(run, home):
            records = pathlib.Path(home) / "state" / "records.sqlite"
            kept = records.read_bytes()
            for lose in (lambda: records.write_bytes(b""), records.unlink):
                lose()
                self.assertNotEqual(run.verify(home).code, 0)
                self.assertTrue(names(run.ask("log", run.source, home=home), "records", "DS-CATALOG"))
                self.assertEqual(run.verify(home, "--accept-rewritten").code, 0)
                self.is_sound(run, home)
            records.write_bytes(kept)
            shutil.rmtree(pathlib.Path(home) / "cache")
            self.is_sound(run, home)

        self.each(number, WORDS, check)

    # --- what is no loss ---------------------------------------------------------------------------------------------

    def restart(self, number, another_start, steps, wiped):
        def check(run, home):
            start = None if another_start and not run.base else run.seed
            new = self.run_of(run.word, 2, steps, start=start)
            if wiped:
                shutil.rmtree(run.source)
            run.take_over(new)
            new.source, new.strict = run.source, run.strict
            tail = [] if wiped else run.steps[len(new.steps) :]
            for _ in range(2):
                if tail:
                    self.only_a_tail_is_lost(new, home, tail)
                else:
                    self.is_sound(new, home)
            self.are_right(new, home, new.steps)
            for step in tail:
                run.epoch = "0:"
                self.assertNotEqual(run.digest(step, home), "wrong", f"step {step} of the earlier run")

        self.each(number, CHAINS, check)

    def only_a_tail_is_lost(self, run, home, tail):
        """What a new run left of an earlier one stands alone, and lacks what was written over."""
        answer = run.verify(home)
        self.assertIn(answer.code, (0, 7), f"{answer}\n{texts(answer)}")
        self.assertFalse([text for text in texts(answer) if text.startswith(("DS-VANISHED", "DS-REWRITTEN"))])
        lost = {row["step"] for row in answer.document["steps"] if row["result"] not in SOUND}
        self.assertLessEqual(lost, set(tail), texts(answer))

    @SWEEP
    def test_a_longer_run_from_the_same_start(self, number):
        self.restart(number, False, STEPS + 2, False)

    @SWEEP
    def test_a_shorter_run_from_the_same_start_in_a_wiped_folder(self, number):
        self.restart(number, False, STEPS - 2, True)

    @SWEEP
    def test_a_shorter_run_before_the_tail_of_the_old_one(self, number):
        self.restart(number, False, STEPS - 2, False)

    @SWEEP
    def test_a_longer_run_from_another_start(self, number):
        self.restart(number, True, STEPS + 2, False)

    @SWEEP
    def test_a_shorter_run_from_another_start_in_a_wiped_folder(self, number):
        self.restart(number, True, STEPS - 2, True)

    @SWEEP
    def test_a_shorter_run_from_another_start_before_the_tail_of_the_old_one(self, number):
        self.restart(number, True, STEPS - 2, False)

    def test_a_run_with_anchors_elsewhere(self):
        """Files of the earlier ones stay in the folders of deltas."""
        run = self.run_of("modelexpress")
        new = self.run_of("modelexpress", 2, STEPS + 2, start=1, anchor_every=20)
        with memory() as home:
            self.assertEqual(run.verify(home).code, 0)
            run.take_over(new)
            new.source = run.source
            for _ in range(2):
                answer = new.verify(home)
                self.assertFalse([text for text in texts(answer) if text.startswith("DS-REWRITTEN")])
            self.are_right(new, home, new.steps)

    @SWEEP
    def test_a_copy(self, number):
        def check(run, home):
            keys = sorted(key for step in run.steps for key in run.objects[step])
            shuffled = random.Random(f"{run.word} {number}").sample(keys, len(keys))
            for order, seconds in ((shuffled, 5), (keys, 5), (keys, 0), (list(reversed(keys)), 5)):
                run.copy(order, seconds)
                with self.subTest(order=order[0], seconds=seconds):
                    self.is_sound(run, home)
            self.are_right(run, home, run.steps)

        self.each(number, WORDS, check)

    @SWEEP
    def test_the_newest_version_changes_nothing(self, number):
        for word in list(ENDS_EMPTY)[number % PARTS :: PARTS]:
            run = self.run_of(word, steps=ENDS_EMPTY[word])
            with self.subTest(word=word), memory() as home:
                self.is_sound(run, home)
                self.is_sound(run, home)
                self.are_right(run, home, run.steps)

    @SWEEP
    def test_two_runs_below_one_folder(self, number):
        for word in WORDS[number % PARTS :: PARTS]:
            folder = self.work / f"{word}-both"
            for name, seed in (("first", 1), ("second", 2)):
                run = self.run_of(word, seed, 5, start=1)
                shutil.copytree(run.source, folder / name)
            run.source = folder
            with self.subTest(word=word):
                for answer in (run.ask("log", folder), run.ask("verify", folder, "--level", 4)):
                    said = json.dumps(answer.document) + answer.err
                    self.assertTrue("first" in said and "second" in said, f"{answer}\n{said[:600]}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
