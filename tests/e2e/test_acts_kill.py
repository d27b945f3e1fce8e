#!/usr/bin/env python3
"""Acts that write into a run, killed with SIGKILL at random moments: the run is the old one or the new one, the journal
says what happened and nothing else, and the same command again ends with the act done exactly once."""

import json
import os
import random
import shutil
import subprocess
import time

from support import GOLDEN, OK, E2ETest, main
from sweep import Sweep

SWEEP = Sweep("e2e.acts_kill", 250)
KILLS = 4  # in a slice, of each act
MOST = 20  # where none of them comes in time
WHY = "eval 0.71"


def objects(folder):
    """{key: bytes} below a folder, without what a put has not finished."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            if not name.startswith("."):
                with open(os.path.join(path, name), "rb") as f:
                    found[os.path.relpath(os.path.join(path, name), folder)] = f.read()
    return found


def payload(found):
    return {key: data for key, data in found.items() if not key.startswith(".deltascope/")}


def beside(found, kind):
    """The JSON objects of a kind beside a run, by number. Half of one is an error."""
    return [json.loads(found[key]) for key in sorted(found) if key.startswith(f".deltascope/v1/{kind}/")]


class ActsKill(E2ETest):
    def prepare(self, number, case="trl-v2-gap"):
        self.chance = random.Random(f"{self._testMethodName} {number}")
        self.template = self.path("template")
        shutil.copytree(os.path.join(GOLDEN, case, "bucket"), self.template, copy_function=shutil.copyfile)
        base = os.path.join(GOLDEN, case, "base")
        self.base = ["--base", base] if os.path.isdir(base) else []
        log = self.ok_json("log", self.template, *self.base)
        self.newest, self.target = [step["step"] for step in log["epochs"][-1]["steps"]][-1:-3:-1]
        if case == "trl-v2-gap":
            self.target = 12
        self.made = 0

    def fresh(self):
        """Records remember a folder, so each trial has one of its own."""
        self.made += 1
        self.source, self.into = self.path(f"run-{self.made}"), self.path(f"branch-{self.made}")
        shutil.copytree(self.template, self.source, copy_function=shutil.copyfile)

    def root(self, address):
        return self.ok_json("digest", address, *self.base)["root"]

    def run_and_kill(self, args):
        """Returns the exit status."""
        began = time.monotonic()
        process = self.start(*args, stdout=subprocess.DEVNULL)
        try:
            process.wait(self.chance.uniform(0, self.longest))
            self.longest = min(self.longest, time.monotonic() - began)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.assertIn(process.returncode, (OK, -9), process.stderr.read())
        return process.returncode

    def sweep(self, args, check, repeats=lambda journal: True):
        """`args()`: the act. `check(before, after, code)`: that the run is the old one or the new one, and its journal
        true; returns whether it is the new one. `repeats(journal)`: whether the same command again is the same act."""
        self.fresh()
        before = objects(self.source)
        self.longest = self.ok(*args()).seconds
        self.assertTrue(check(before, objects(self.source), OK))
        hit = new = 0
        for trial in range(MOST):
            if trial >= KILLS and hit > 0:
                break
            with self.subTest(kill=trial):
                self.fresh()
                before = objects(self.source)
                code = self.run_and_kill(args())
                killed = objects(self.source)
                is_new = check(before, killed, code)
                hit += code != OK
                new += is_new and code != OK
                if code != OK and repeats(beside(killed, "journal")):
                    self.ok(*args())
                after = objects(self.source)
                self.assertTrue(check(before, after, OK))
                for key, data in killed.items():
                    if "/lease/" not in key and key in after:
                        self.assertEqual(after[key], data, f"{key} is overwritten")
                    elif "/lease/" not in key and is_new:
                        self.fail(f"{key} is removed, and it was done")
                self.ok("verify", self.source, "--strict", *self.base)
                shutil.rmtree(self.source)
        print(f"{hit} killed, {new} of them behind the act", flush=True)
        self.assertGreater(hit, 0, "the kills came too late to mean anything")

    def story(self, found, act, text, is_new, code):
        """Checks the entries that an act with a begin and an end adds to the journal."""
        phases = []
        for entry in beside(found, "journal")[self.told :]:
            self.assertEqual((entry["act"], entry["text"]), (act, text))
            phases.append(entry["phase"])
        self.assertEqual("done" in phases and not is_new, False, "done, and not there")
        self.assertEqual(is_new and "begun" not in phases, False, "there, and never begun")
        self.assertLessEqual(phases.count("done"), 1)
        if code == OK:
            self.assertEqual(phases[-1], "done")

    def check_restored(self, newest, target):
        """A check that a roll back publishes one step behind `newest`."""
        def check(before, after, code):
            names = set(payload(after)) - set(payload(before))
            for key in payload(before):
                self.assertEqual(after.get(key), before[key], key)
            is_new = self.ok_json("log", self.source, *self.base)["latest"] == newest + 1
            if is_new:
                self.assertEqual(self.root(f"{self.source}@{newest + 1}"), self.expected)
                self.assertTrue(names)
            else:  # readers do not take an unfinished version for one
                unfinished = f"weight_v{newest + 1:06}/" if self.base else "none"
                self.assertEqual({key for key in names if not key.startswith(unfinished)}, set())
            self.assertEqual(code == OK and not is_new, False)
            self.story(after, "rollback", f"step {newest + 1} restores step {target}", is_new, code)
            return is_new
        self.told = len(beside(objects(self.template), "journal"))
        self.expected = self.root(f"{self.template}@{target}")
        return check

    def case(self, number):
        return ("trl-v2-gap", "slime-v2-xor")[number % 2]

    @SWEEP
    def test_rollback(self, number):
        self.prepare(number, self.case(number))
        self.sweep(lambda: ["rollback", f"{self.source}@{self.target}", "--yes", *self.base],
                   self.check_restored(self.newest, self.target))

    @SWEEP
    def test_undo(self, number):
        self.prepare(number, self.case(number))
        self.ok("rollback", f"{self.template}@{self.target}", "--yes", *self.base)
        self.sweep(lambda: ["undo", self.source, "--yes", *self.base], self.check_restored(self.newest + 1, self.newest),
                   lambda journal: len(journal) == self.told or journal[-1]["phase"] != "done")  # else it takes that back

    @SWEEP
    def test_branch(self, number):
        self.prepare(number)
        self.told, expected = 0, self.root(f"{self.template}@12")

        def check(before, after, code):
            self.assertEqual(after, before, "the run that it comes from is only read")
            found = objects(self.into)
            is_new = set(payload(found)) == {"anchors/step_000001.safetensors"}
            self.assertEqual(is_new or payload(found) == {}, True, list(found))
            if is_new:
                self.assertEqual(self.root(f"{self.into}@1"), expected)
                self.ok("verify", self.into, "--strict", "--level", "3")
            self.assertEqual(code == OK and not is_new, False)
            origin = f"file://{os.path.realpath(self.source)}@12"
            self.story(found, "branch", f"step 1 begins with the state of {origin}", is_new, code)
            return is_new

        self.sweep(lambda: ["branch", f"{self.source}@12", "--into", self.into, "--yes"], check)

    def check_word(self, act, folder, text):
        """A check that each object in the folder means step 12, and that each entry of the journal stands for one."""
        def check(before, after, code):
            self.assertEqual(payload(after), payload(before))
            words = beside(after, folder)
            self.assertTrue(all(word["step"] == 12 for word in words))
            entries = beside(after, "journal")
            self.assertTrue(all((e["act"], e["phase"]) == (act, "done") and text in e["text"] for e in entries), entries)
            self.assertLessEqual(len(entries), len(words), "the journal names only what happened")
            if code == OK:
                self.assertEqual((len(entries), len(words)), (1, 1), "written once, and told once")
            return bool(words)
        return check

    @SWEEP
    def test_ref(self, number):
        self.prepare(number)
        self.sweep(lambda: ["ref", f"{self.source}@12", "good", "--why", WHY],
                   self.check_word("ref", "refs/good", "good: step 12"))

    @SWEEP
    def test_pin(self, number):
        self.prepare(number)
        self.sweep(lambda: ["pin", f"{self.source}@12"], self.check_word("pin", "pins/step-12", "step-12"))

    @SWEEP
    def test_note(self, number):
        self.prepare(number)
        self.sweep(lambda: ["note", f"{self.source}@12", WHY], self.check_word("note", "notes", "step 12"))


if __name__ == "__main__":
    main()
