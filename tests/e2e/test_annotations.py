#!/usr/bin/env python3
"""Refs, pins, notes and the journal of a run: a word means the version that it was given to, and nothing else."""

import os
import shutil
import subprocess

from support import GOLDEN, NOT_FOUND, OK, USAGE, E2ETest, main


class Annotations(E2ETest):
    def setUp(self):
        super().setUp()
        self.source = self.path("run")
        shutil.copytree(os.path.join(GOLDEN, "trl-v2-gap", "bucket"), self.source, copy_function=shutil.copyfile)
        self.beside = os.path.join(self.source, ".deltascope", "v1")

    def refs(self):
        return {ref["word"]: ref for ref in self.ok_json("refs", self.source)["refs"]}

    def test_a_word_is_an_address(self):
        self.ok("ref", f"{self.source}@12", "good", "--why", "eval 0.71")
        self.ok("pin", f"{self.source}@3")
        digest = self.ok_json("digest", f"{self.source}@12")["root"]
        self.assertEqual(self.ok_json("digest", f"{self.source}@good")["root"], digest)
        for word, step in (("good", 12), ("pin/step-3", 3)):
            self.assertEqual(self.ok_json("show", f"{self.source}@{word}")["step"], step)
            self.assertEqual(self.ok_json("show", f"{self.source}@{word}")["refs"], [word])
        self.assertTrue(self.ok_json("diff", f"{self.source}@12", f"{self.source}@good")["equal"])
        self.ok("materialize", f"{self.source}@good", "-o", self.path("out"))
        verified = self.ok_json("verify", f"{self.source}@good")["steps"]
        self.assertEqual([step["step"] for step in verified], [12])
        steps = {step["step"]: step for step in self.ok_json("log", self.source)["epochs"][0]["steps"]}
        self.assertEqual([step for step in steps if "refs" in steps[step]], [3, 12])
        self.assertIn("(good)", self.ok("log", self.source).out)
        ref = self.refs()["good"]
        self.assertEqual((ref["step"], ref["why"], ref["here"], ref["local"]), (12, "eval 0.71", True, False))
        self.assertIn("@", ref["by"])

    def test_words_move_and_go(self):
        self.ok("ref", f"{self.source}@12", "good")
        self.assertIn("good: step 11, was step 12", self.ok("ref", f"{self.source}@11", "good").out)
        self.assertEqual(self.ok_json("show", f"{self.source}@good")["step"], 11)
        self.ok("unref", self.source, "good")
        outcome = self.run_ds("show", f"{self.source}@good")
        self.refused(outcome, NOT_FOUND, "DS-NOT-FOUND")
        self.refused(self.run_ds("unref", self.source, "good"), NOT_FOUND, "DS-NOT-FOUND")
        self.refused(self.run_ds("unpin", self.source, "none"), NOT_FOUND, "DS-NOT-FOUND")
        entries = self.ok_json("journal", self.source)["journal"]
        self.assertEqual([(e["number"], e["act"], e["phase"], e["text"]) for e in entries],
                         [(1, "ref", "done", "good: step 12"), (2, "ref", "done", "good: step 11, was step 12"),
                          (3, "ref", "done", "good: removed, was step 11")])

    def test_what_was_taken_back_may_be_given_again(self):
        for give, take in (("ref", "unref"), ("pin", "unpin")):
            for step in (12, 11, 12):
                self.ok(give, f"{self.source}@{step}", "good")
                self.ok(take, self.source, "good")
        self.ok("ref", f"{self.source}@9", "good")
        self.assertEqual(self.ok_json("show", f"{self.source}@good")["step"], 9)

    def test_names_with_a_meaning_are_refused(self):
        for name in ("latest", "anchor", "12", "pin/x", "undo", "a b", "a..b"):
            self.refused(self.run_ds("ref", f"{self.source}@12", name), USAGE, "DS-USAGE")
        self.refused(self.run_ds("ref", f"{self.source}@77", "good"), NOT_FOUND)
        self.assertFalse(os.path.exists(self.beside), "a refusal writes nothing")

    def test_a_word_does_not_slip_to_another_version(self):
        self.ok("ref", f"{self.source}@12", "good")
        path = os.path.join(self.source, "deltas", "step_000012.safetensors")
        other = os.path.join(self.source, "deltas", "step_000011.safetensors")
        self.assertNotEqual(os.path.getsize(path), os.path.getsize(other), "else the test shows nothing")
        moved = self.path("copy")
        shutil.copytree(self.source, moved, copy_function=shutil.copyfile)
        self.assertEqual(self.ok_json("show", f"{moved}@good")["step"], 12, "a copied run keeps its words")
        shutil.copyfile(other, path)
        self.refused(self.run_ds("digest", f"{self.source}@good"), word="DS-REWRITTEN")
        ref = self.refs()["good"]
        self.assertEqual((ref["here"], ref["problem"]["code"]), (False, "DS-REWRITTEN"))

    def test_notes(self):
        self.ok("note", f"{self.source}@12", "reward collapsed here")
        self.ok("note", f"{self.source}@latest", "ends here")
        notes = self.ok_json("refs", self.source)["notes"]
        self.assertEqual([(n["number"], n["step"], n["text"]) for n in notes],
                         [(1, 12, "reward collapsed here"), (2, 15, "ends here")])
        self.assertIn("step 12: reward collapsed here", self.ok("log", self.source).out)
        self.refused(self.run_ds("note", f"{self.source}@12", ""), USAGE)
        self.assertEqual(len(os.listdir(os.path.join(self.beside, "notes"))), 2)

    def test_a_plan_writes_nothing_and_binds_what_is_written(self):
        plan = self.path("plan.json")
        acts = [["ref", f"{self.source}@12", "good"], ["pin", f"{self.source}@12"], ["note", f"{self.source}@12", "text"]]
        for act in acts:
            with self.subTest(act=act[0]):
                before = self.ok_json("refs", self.source)
                for more in (["--dry-run"], ["--plan", plan]):
                    self.assertIn("step 12", self.ok(*act, *more).out)
                    self.assertEqual(self.ok_json("refs", self.source), before)
                shown = self.ok_json(*act, "--dry-run")
                self.assertEqual((shown["done"], shown["plan"]["writes"], shown["plan"]["deletes"]), (False, [], []))
                self.assertEqual(shown["plan"]["beside"]["journal"], "1")
                self.refused(self.run_ds(*act, "--confirm", "other"), USAGE)
                self.assertTrue(self.ok_json(*act, "--apply", plan)["done"])
                self.assertTrue(self.ok_json(*act, "--yes")["was_there"])
                os.remove(plan)
        self.ok("ref", f"{self.source}@11", "good", "--plan", plan)
        self.ok("ref", f"{self.source}@10", "good")
        self.refused(self.run_ds("ref", f"{self.source}@11", "good", "--apply", plan), word="DS-EXISTS")
        self.assertEqual(self.ok_json("show", f"{self.source}@good")["step"], 10)
        self.assertEqual(len(self.ok_json("journal", self.source)["journal"]), 4)

    def test_nothing_of_it_changes_what_the_run_is(self):
        before = self.ok_json("verify", self.source, "--strict")
        self.ok("ref", f"{self.source}@12", "good")
        self.ok("note", f"{self.source}@12", "text")
        after = self.ok_json("verify", self.source, "--strict")
        for key in ("steps", "problems"):
            self.assertEqual(after[key], before[key])

    def test_a_source_that_cannot_be_written_keeps_its_words_here(self):
        if os.geteuid() == 0 and subprocess.run(["mount", "--bind", self.source, self.source], check=False).returncode:
            self.skipTest("this machine cannot mount a folder read-only")
        if os.geteuid() == 0:
            self.addCleanup(subprocess.run, ["umount", self.source], check=True)
            subprocess.run(["mount", "-o", "remount,ro,bind", self.source], check=True)
        else:
            os.chmod(self.source, 0o555)
            self.addCleanup(os.chmod, self.source, 0o755)
        outcome = self.ok("ref", f"{self.source}@12", "good")
        self.assertIn("on this machine only", outcome.out)
        self.assertEqual(self.ok_json("show", f"{self.source}@good")["step"], 12)
        self.assertTrue(self.refs()["good"]["local"])
        self.assertIn("on this machine only", self.ok("refs", self.source).out)
        self.assertIn("good: step 11, was step 12", self.ok("ref", f"{self.source}@11", "good").out)
        elsewhere = self.run_ds("show", f"{self.source}@good", env=self.environment(DELTASCOPE_HOME=self.path("other")))
        self.refused(elsewhere, NOT_FOUND)
        self.assertEqual(self.ok_json("journal", self.source)["journal"][0]["local"], True)


if __name__ == "__main__":
    main()
