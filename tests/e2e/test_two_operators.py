#!/usr/bin/env python3
"""Two operators at one run, and an operator at a run whose trainer goes on: who loses leaves nothing behind, and is given
the next thing to do."""

import os
import random
import shutil
import subprocess
import threading

from support import CONFLICT, GOLDEN, OK, E2ETest, main, need_strace, wait_until
from sweep import Sweep

SWEEP = Sweep("e2e.two_operators", 50)
ROUNDS = 2  # in a slice, of each pair of acts
NEWEST = 15


class Operators(E2ETest):
    def setUp(self):
        super().setUp()
        self.made = 0
        self.fresh()
        self.roots = {step: self.root(step) for step in (10, 12, NEWEST)}

    def fresh(self):
        self.made += 1
        self.source = self.path(f"wordle-{self.made}")
        shutil.copytree(os.path.join(GOLDEN, "trl-v2-gap", "bucket"), self.source, copy_function=shutil.copyfile)

    def roll_back(self, step, *options):
        return ["rollback", f"{self.source}@{step}", *(options or ["--yes"])]

    def root(self, step):
        return self.ok_json("digest", f"{self.source}@{step}")["root"]

    def names(self, *folders):
        found = set()
        for folder in folders:
            for path, _, names in os.walk(os.path.join(self.source, folder)):
                found |= {os.path.relpath(os.path.join(path, name), self.source) for name in names}
        return found

    def states(self):
        """The steps behind the newest of the trainer: which step each of them restores."""
        steps = self.ok_json("log", self.source)["epochs"][-1]["steps"]
        return [self.ok_json("show", f"{self.source}@{s['step']}").get("restores") for s in steps if s["step"] > NEWEST]

    def journal(self):
        return [(e["phase"], e["text"]) for e in self.ok_json("journal", self.source)["journal"]]

    def assert_whole(self):
        """What is there is sound, and what the journal says is done is there, once."""
        done = [text for phase, text in self.journal() if phase == "done"]
        restored = [f"step {NEWEST + n} restores step {to}" for n, to in enumerate(self.states(), 1)]
        self.assertEqual(done, restored)
        self.ok("verify", self.source, "--strict", "--level", "3")
        self.assertEqual({name for name in self.names(".") if ".ds-tmp-" in name}, set())

    def assert_says_what_to_do(self, err):
        self.assertRegex(err, "DS-EXISTS")
        self.assertRegex(err, r"→ .*(repeat this|start again|new plan)", err)


class TwoOperators(Operators):
    def race(self, number, first, second):
        """Starts both at nearly the same time. Returns the exit status and stderr of each."""
        chance = random.Random(f"{self._testMethodName} {number} {self.made}")
        a = self.start(*first, stdout=subprocess.DEVNULL)
        threading.Event().wait(chance.uniform(0, 0.3))
        b = self.start(*second, stdout=subprocess.DEVNULL)
        ends = [(process.communicate(timeout=60)[1].decode(), process.returncode) for process in (a, b)]
        for err, code in ends:
            self.assertIn(code, (OK, CONFLICT), err)
            if code == CONFLICT:
                self.assert_says_what_to_do(err)
        codes = [code for _, code in ends]
        self.assertIn(OK, codes, f"nobody won: {ends}")
        return codes

    def rounds(self, number, prepare, pair, possible):
        """`possible`: for the exit status of both, the steps that may be restored behind the trainer's newest, in order."""
        refused = 0
        for n in range(ROUNDS):
            with self.subTest(round=n):
                self.fresh()
                prepare()
                codes = self.race(number, *pair())
                refused += CONFLICT in codes
                self.assertIn(self.states(), possible(*codes), codes)
                self.assert_whole()
        print(f"{refused} of {ROUNDS} refused", flush=True)

    @SWEEP
    def test_two_targets(self, number):
        both = ([12, 10], [10, 12])
        self.rounds(number, lambda: None, lambda: (self.roll_back(12), self.roll_back(10)),
                    lambda a, b: both if a == b else ([12],) if a == OK else ([10],))

    @SWEEP
    def test_one_target(self, number):
        self.rounds(number, lambda: None, lambda: (self.roll_back(12), self.roll_back(12)), lambda a, b: ([12],))

    @SWEEP
    def test_one_takes_back_while_one_rolls_back(self, number):
        """Who undoes second takes the other roll back back, to the state of step 16."""
        both = ([12, 15, 10], [12, 10, 16])
        self.rounds(number, lambda: self.ok(*self.roll_back(12)),
                    lambda: (["undo", self.source, "--yes"], self.roll_back(10)),
                    lambda a, b: both if a == b else ([12, 15],) if a == OK else ([12, 10],))


class LiveTrainer(Operators):
    """The trainer drops steps as TRL does, by a rename, and knows nothing of leases."""

    HELD = f"deltas/step_{NEWEST:06}.safetensors"

    def hold_back(self):
        self.fresh()
        os.rename(os.path.join(self.source, self.HELD), self.path("held"))

    def drop(self, old=False):
        shutil.copyfile(self.path("held"), self.path("dropped"))
        if old:
            os.utime(self.path("dropped"), (1e9, 1e9))
        os.rename(self.path("dropped"), os.path.join(self.source, self.HELD))

    def assert_nothing_of_ours(self, expected):
        self.assertEqual(self.names("anchors", "deltas"), expected | {self.HELD})
        self.assertEqual({phase for phase, _ in self.journal()} - {"begun", "failed"}, set())
        self.assertEqual(self.root(NEWEST), self.roots[NEWEST])
        self.assert_whole()

    def test_a_step_between_plan_and_run(self):
        for old in (False, True):
            with self.subTest(old=old):
                self.hold_back()
                before = self.names("anchors", "deltas")
                plan = self.path(f"plan-{old}.json")
                self.ok(*self.roll_back(12, "--plan", plan))
                self.drop(old)
                outcome = self.run_ds(*self.roll_back(12, "--apply", plan))
                self.refused(outcome, CONFLICT, "DS-EXISTS")
                self.assert_says_what_to_do(outcome.err)
                self.assertEqual(self.names(".deltascope"), set())
                self.assert_nothing_of_ours(before)

    def test_a_step_while_it_is_carried_out(self):
        """The operator pauses behind each put; the trainer drops its step behind that of the lease, the journal, or the step
        itself, which it overwrites."""
        need_strace()
        slow = ["strace", "-f", "-o", os.devnull, "-e", "trace=linkat", "-e", "inject=linkat:delay_exit=150000"]
        for at in (".deltascope/v1/lease", ".deltascope/v1/journal", self.HELD):
            with self.subTest(at=at):
                self.hold_back()
                before = self.names("anchors", "deltas")
                process = self.start(*self.roll_back(12), wrapper=slow, stdout=subprocess.DEVNULL)
                wait_until(lambda: any(name.startswith(at) for name in self.names(".")), 30, f"a put of {at}")
                self.drop()
                err = process.communicate(timeout=60)[1].decode()
                self.assertEqual(process.returncode, CONFLICT, err)
                self.assert_says_what_to_do(err)
                self.assert_nothing_of_ours(before)

    def test_a_trainer_that_goes_on(self):
        run = self.make_run(steps=80, anchor_every=1000)
        goes_on, dropped = os.path.join(run.source, "deltas"), self.path("later")
        later = sorted(os.listdir(goes_on))[20:]
        os.mkdir(dropped)
        for name in later:
            os.rename(os.path.join(goes_on, name), os.path.join(dropped, name))
        self.source = run.source
        ended = threading.Event()

        def train():
            for name in later:
                os.utime(os.path.join(dropped, name))
                os.rename(os.path.join(dropped, name), os.path.join(goes_on, name))
                if ended.wait(0.1):
                    return

        trainer = threading.Thread(target=train, daemon=True)
        trainer.start()
        wait_until(lambda: len(os.listdir(goes_on)) > 25, 30, "a trainer that goes on")
        try:
            for _ in range(4):
                outcome = self.run_ds(*self.roll_back(12))
                self.refused(outcome, CONFLICT, "DS-EXISTS")
                self.assert_says_what_to_do(outcome.err)
        finally:
            self.assertTrue(trainer.is_alive(), "it went on to the end")
            ended.set()
            trainer.join()
        self.assertEqual({phase for phase, _ in self.journal()} - {"begun", "failed"}, set())
        steps = self.ok_json("log", self.source)["epochs"][-1]["steps"]
        self.assertEqual([s for s in steps if self.ok_json("show", f"{self.source}@{s['step']}").get("restores")], [])
        self.ok("verify", self.source, "--strict", "--level", "3")


if __name__ == "__main__":
    main()
