#!/usr/bin/env python3
"""`publish` while single system calls fail, once or from then on, or are its last: no half version, nothing wrong, no
success without a version, and the same command again ends with the step published exactly once."""

import os
import shutil

from publication import Trainer
from support import OK, count_calls, main, need_strace, spread, tree_state
from call_faults import FAULTS, KILLED
from sweep import Sweep

SLICES = 20
SWEEP = Sweep("e2e.publish_faults", SLICES)
OWN = (".deltascope",)
MOST = 12  # places of each call


class PublishFaults(Trainer):
    def prepare(self, layout, goes_on):
        """A run that begins with this step, or one that goes on with it."""
        need_strace()
        self.train(layout, count=3, tensors=3, elements=60_000)
        a = 2 if goes_on else 1
        self.steps = (a, a + 1)
        self.trials = 0
        self.template = self.at("template")
        os.mkdir(self.template)
        if goes_on:
            self.ok(*self.step_args(1, 2, self.template))
        self.made_before = tree_state(self.made)
        self.expected = self.names(*range(self.first, a + 2))

    def step_args(self, a, b, into):
        states = [os.path.join(self.made, self.name(n)) for n in (a, b)]
        return self.publish_args("--from", states[0], "--to", states[1], into=into)

    def fresh(self):
        """Records remember a folder, so each trial has one of its own."""
        if os.path.exists(self.into):
            shutil.rmtree(self.into)
        self.trials += 1
        self.into = self.at(f"run-{self.trials}")
        shutil.copytree(self.template, self.into)
        return self.step_args(*self.steps, self.into)

    def places(self):
        """(call, error, number, lasting) of every fault."""
        trace = self.at("trace")
        calls = sorted({call for call, _ in FAULTS})
        self.ok(*self.fresh(), wrapper=["strace", "-f", "-o", trace, "-e", "trace=" + ",".join(calls)])
        self.assert_published(self.expected)
        with open(trace, encoding="utf-8", errors="replace") as f:
            lines = f.readlines()
        return [
            (call, error, n, lasting)
            for call, error in FAULTS
            for n in spread(count_calls(lines, call), MOST)
            for lasting in (("",) if error == KILLED else ("", "+"))
        ]

    def temporaries(self):
        return [f for _, _, files in os.walk(self.into) for f in files if ".ds-tmp-" in f]

    def sweep(self, layout, number):
        self.prepare(layout, goes_on=number % 2 == 1)
        places = self.places()[number // 2 :: SLICES // 2]
        failed = committed = 0
        for call, error, n, lasting in places:
            with self.subTest(layout=layout, step=self.steps, call=call, error=error, n=n, lasting=bool(lasting)):
                args = self.fresh()
                what = f"signal={error}" if error == KILLED else f"error={error}"
                inject = ["-e", f"trace={call}", "-e", f"inject={call}:{what}:when={n}{lasting}"]
                outcome = self.run_ds(*args, wrapper=["strace", "-f", "-o", os.devnull, *inject])
                if outcome.code == 127 and "shared libraries" in outcome.err:
                    continue  # the loader failed before the program began
                there = self.origins()[-1:] == self.expected[-1:]
                failed += outcome.code != OK
                committed += outcome.code != OK and there
                if outcome.code == OK:
                    self.assertTrue(there, f"exit 0 and no version: {outcome}")
                elif error != KILLED:
                    self.assertTrue(0 < outcome.code < 124, f"crashed: {outcome}")
                    if call != "write":  # stderr itself may be what fails there
                        self.refused(outcome)
                if there:
                    self.assert_published(self.expected)
                before = tree_state(self.into, without=OWN) if there else None
                again = self.ok(*args)
                self.assertEqual("already published" in again.out, there, f"{outcome}\n{again}")
                if there:
                    self.assertEqual(tree_state(self.into, without=OWN), before, "what was published was touched")
                self.assert_published(self.expected)
                self.assertEqual(self.temporaries(), [])
                self.assertEqual(self.log()[0]["ignored_objects"], 0, "leftovers")
                self.assertEqual(tree_state(self.made), self.made_before, "a checkpoint was changed")
        print(f"{layout}: {len(places)} faults, {failed} failed, {committed} of them behind the commit", flush=True)
        self.assertGreater(failed, len(places) // 4)

    @SWEEP
    def test_trl(self, number):
        self.sweep("trl-v2", number)

    @SWEEP
    def test_slime(self, number):
        self.sweep("slime-v2", number)


if __name__ == "__main__":
    main()
