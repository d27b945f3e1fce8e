#!/usr/bin/env python3
"""What is not there is said: a newest version that was removed, a number without objects, files that a rebuild leaves out."""

import json
import os
import shutil

from publication import Trainer
from support import GAP, GOLDEN, OK, main


class RemovedVersions(Trainer):
    def publish_all(self):
        self.train(count=4)
        self.drop(1, 2, 3, 4)
        self.assertEqual(self.run_ds(*self.publish_args("--watch", self.checkpoints, "--once", "--json")).code, OK)
        return self.run_ds("verify", self.into, "--level", "4", "--json")

    def test_the_newest_version_was_removed(self):
        sound = self.publish_all()
        self.assertEqual(sound.code, OK, str(sound))
        self.assertEqual(sound.json()["result"], "verified")
        removed = [os.path.join(path, name) for path, _, files in os.walk(self.into) for name in files if "step_000004" in name]
        self.assertTrue(removed)
        for path in removed:
            os.unlink(path)
        outcome = self.run_ds("verify", self.into, "--level", "4", "--json")
        self.assertEqual(outcome.code, GAP, str(outcome))
        self.assertEqual(outcome.json()["result"], "incomplete")
        lost = [problem for problem in outcome.json()["problems"] if problem["code"] == "DS-VANISHED"]
        self.assertEqual([problem["step"] for problem in lost], [4], str(outcome))

    def test_versions_that_retention_removed_are_no_loss(self):
        self.publish_all()
        first = [os.path.join(path, name) for path, _, files in os.walk(self.into) for name in files if "step_000001" in name]
        for path in first:
            os.unlink(path)
        problems = self.run_ds("verify", self.into, "--level", "4", "--json").json()["problems"]
        self.assertFalse([problem for problem in problems if "published step" in problem["text"]], problems)


class EmptyVersions(Trainer):
    """slime-v1 leaves an empty folder for a version without a change."""

    def copied(self):
        """A golden run whose newest version moves one number up; the base."""
        golden = os.path.join(GOLDEN, "slime-v1-deltas")
        run = self.path("run")
        shutil.copytree(os.path.join(golden, "bucket"), run)
        return run, ["--base", os.path.join(golden, "base")]

    def move_up(self, run, step):
        """The version gets the next number, in its folder and in its files."""
        old, new = (os.path.join(run, f"weight_v{n:06d}") for n in (step, step + 1))
        os.rename(old, new)
        for name in os.listdir(new):
            path = os.path.join(new, name)
            with open(path, "rb") as file:
                data = file.read()
            size = int.from_bytes(data[:8], "little")
            header = json.loads(data[8 : 8 + size])
            header["__metadata__"]["current_version"] = str(step + 1)
            text = json.dumps(header).encode()
            with open(path, "wb") as file:
                file.write(len(text).to_bytes(8, "little") + text + data[8 + size :])
            os.utime(path, (1_767_225_600, 1_767_225_600))  # what was just written may still grow
        return old

    def test_an_empty_folder_is_a_version_without_a_change(self):
        run, base = self.copied()
        empty = self.move_up(run, 5)
        outcome = self.run_ds("verify", run, "--level", "4", *base, "--json")
        self.assertIn("DS-UNPROVEN", outcome.out)
        self.assertIn("DS-CHAIN-GAP", outcome.out)
        os.mkdir(empty)
        outcome = self.run_ds("verify", run, "--level", "4", *base, "--json")
        self.assertEqual(outcome.code, OK, str(outcome))
        self.assertNotIn("DS-UNPROVEN", outcome.out)
        self.assertNotIn("DS-CHAIN-GAP", outcome.out)
        self.assertEqual([step["result"] for step in outcome.json()["steps"]], ["first_sight"] * 6)

    def test_a_folder_that_holds_anything_is_none(self):
        run, base = self.copied()
        empty = self.move_up(run, 5)
        os.mkdir(empty)
        with open(os.path.join(empty, "rank0000_flush000000.safetensors.tmp"), "wb") as file:
            file.write(b"half")
        self.assertIn("DS-UNPROVEN", self.run_ds("verify", run, "--level", "4", *base, "--json").out)


class LeftOut(Trainer):
    STATE = ["optimizer.pt", "rng_state_0.pth", "scheduler.pt", "trainer_state.json"]

    def test_materialize_names_what_it_does_not_copy(self):
        self.train(count=2)
        checkpoint = os.path.join(self.made, self.name(1))
        plain = self.ok_json("materialize", checkpoint, "-o", self.path("plain"))
        self.assertEqual(plain["left_out"], [])
        for name in [*self.STATE, "README.md"]:
            with open(os.path.join(checkpoint, name), "w", encoding="utf-8") as file:
                file.write("{}")
        result = self.ok_json("materialize", checkpoint, "-o", self.path("result"))
        self.assertEqual(result["left_out"], self.STATE)
        self.assertFalse(set(self.STATE) & set(os.listdir(self.path("result"))))
        with open(os.path.join(self.path("result"), "deltascope.provenance.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["left_out"], self.STATE)
        self.assertIn("optimizer.pt", self.ok("materialize", checkpoint, "-o", self.path("told")).out)


if __name__ == "__main__":
    main()
