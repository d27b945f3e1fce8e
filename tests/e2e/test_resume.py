#!/usr/bin/env python3
"""What an interrupted `materialize` left behind is only used after it was checked: against rot, against a source that
changed, against other processes, and against things that somebody planted there."""

import glob
import os
import shutil
import signal

from support import CONFLICT, MIB, NOT_FOUND, OK, E2ETest, main, tree_state, wait_until


class Resume(E2ETest):
    def prepare(self):
        self.run_made = self.make_run(tensors=12, elements=4 << 20, steps=4)
        self.folder = self.path("out")
        os.mkdir(self.folder)
        self.destination = os.path.join(self.folder, "checkpoint")
        self.command = ["materialize", self.run_made.at(4), "-o", self.destination, "--threads", 1]

    def written(self):
        """Files of the private folder."""
        return [
            os.path.join(path, f)
            for name in os.listdir(self.folder)
            if name.startswith(".checkpoint.ds-")
            for path, _, files in os.walk(os.path.join(self.folder, name))
            for f in files
        ]

    def interrupt(self):
        """Stops a rebuild in the middle: part of the weights is there."""
        for _ in range(5):
            process = self.start(*self.command)

            def begun(process=process):
                if process.poll() is not None:
                    return True
                try:
                    blocks = sum(os.stat(f).st_blocks for f in self.written() if f.endswith(".safetensors"))
                except FileNotFoundError:  # renamed between two calls
                    return False
                return blocks * 512 > 8 * MIB

            wait_until(begun, 60, "the rebuild to write something")
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=60)
            if not os.path.lexists(self.destination):
                self.assertTrue(self.written())
                return
            shutil.rmtree(self.destination)  # it was faster than we were
        self.fail("never fast enough to interrupt it")

    def finish(self, step_truth=None):
        """Leftovers that are not of this very rebuild are never removed without being asked."""
        self.ok(*self.command)
        self.assertTrue(self.assert_no_half_result(self.destination, step_truth or self.run_made.truth(4)))

    def test_rotten_leftovers(self):
        self.prepare()
        for damage in ("zero", "flip", "cut", "lengthen"):
            with self.subTest(damage=damage):
                self.interrupt()
                for path in self.written():
                    with open(path, "r+b") as f:
                        size = os.path.getsize(path)
                        if damage == "zero":
                            f.write(bytes(min(size, 3 * MIB)))
                        elif damage == "flip" and path.endswith(".safetensors"):
                            for at in range(1000, size, MIB // 2):
                                f.seek(at)
                                byte = f.read(1)
                                f.seek(at)
                                f.write(bytes([byte[0] ^ 1]))
                        elif damage == "cut":
                            f.truncate(size // 2)
                        elif damage == "lengthen":
                            f.truncate(size + 100)
                self.finish()
            shutil.rmtree(self.folder)
            os.mkdir(self.folder)

    def test_a_source_that_changed_meanwhile(self):
        self.prepare()
        other = self.make_run("other", tensors=12, elements=4 << 20, steps=4, seed=2)
        self.interrupt()
        shutil.rmtree(self.run_made.source)
        os.rename(other.source, self.run_made.source)
        self.finish(other.truth(4))

    def test_another_step_to_the_same_place(self):
        self.prepare()
        self.interrupt()
        self.command[1] = self.run_made.at(2)
        self.finish(self.run_made.truth(2))

    def test_two_at_once(self):
        self.prepare()
        before = tree_state(self.run_made.source)
        both = [self.start(*self.command), self.start(*self.command)]
        errors = [p.communicate(timeout=120)[1].decode() for p in both]
        codes = sorted(p.returncode for p in both)
        self.assertEqual(codes[0], OK, errors)
        self.assertIn(codes[1], (OK, CONFLICT), errors)
        self.assertTrue(self.assert_no_half_result(self.destination, self.run_made.truth(4)))
        self.assertEqual(before, tree_state(self.run_made.source))

    def test_planted_links_are_not_followed(self):
        self.prepare()
        self.interrupt()
        precious = self.path("precious")
        with open(precious, "wb") as f:
            f.write(b"mine" * 1000)
        for path in self.written():
            os.unlink(path)
            os.symlink(precious, path)
        self.run_ds(*self.command)
        with open(precious, "rb") as f:
            self.assertEqual(f.read(), b"mine" * 1000, "a planted link was followed")
        if os.path.lexists(self.destination):
            self.assert_no_half_result(self.destination, self.run_made.truth(4))
            self.assertFalse(
                [f for f in os.listdir(self.destination) if os.path.islink(os.path.join(self.destination, f))]
            )

    def test_a_result_inside_the_source(self):
        """A checkpoint in the middle of a run would be taken for part of it."""
        run = self.make_run("plain", layout="hf", steps=3)
        out = os.path.join(run.source, "checkpoint-9")
        outcome = self.run_ds("materialize", run.at(2), "-o", out)
        if outcome.code == OK:
            self.assert_checkpoint(out, run.truth(2))
        else:
            self.refused(outcome)
            self.assertFalse(os.path.exists(out))

    def test_leftovers_are_listed_and_removed(self):
        self.prepare()
        self.assertIn("no leftovers", self.ok("leftovers", self.folder).out)
        self.refused(self.run_ds("leftovers", self.path("none")), NOT_FOUND, "DS-NOT-FOUND")
        self.refused(self.run_ds("discard", self.path("none")), NOT_FOUND, "DS-NOT-FOUND")
        self.assertEqual(self.ok_json("discard", self.folder, "--yes")["leftovers"], [])
        self.interrupt()
        (name,) = os.listdir(self.folder)
        planted = [f".checkpoint.ds-{'0' * 16}-1-{'0' * 8}", ".checkpoint.ds-notes"]
        for other in planted:
            os.mkdir(os.path.join(self.folder, other))
            with open(os.path.join(self.folder, other, "notes.txt"), "w", encoding="utf-8") as f:
                f.write("not ours")
        live = os.path.join(self.folder, "live")
        worker = self.start("materialize", self.run_made.at(4), "-o", live, "--threads", 1)
        wait_until(lambda: glob.glob(os.path.join(glob.escape(self.folder), ".live.ds-*", "*")), 60, "work")
        worker.send_signal(signal.SIGSTOP)
        wait_until(lambda: self.state(worker.pid) == "T", 60, "the worker to stand still")
        listed = {one["path"]: one for one in self.ok_json("leftovers", self.folder)["leftovers"]}
        self.assertEqual(len(listed), 2, str(listed))
        dead = listed.pop(os.path.join(self.folder, name))
        self.assertEqual(dead["destination"], self.destination)
        self.assertEqual(dead["bytes"], sum(os.path.getsize(f) for f in self.written() if name in f))
        self.assertFalse(dead["at_work"] or dead["shared"])
        (working,) = listed.values()
        self.assertTrue(working["at_work"])
        self.assertEqual(working["process"], worker.pid)
        self.assertIn(name, self.ok("leftovers", self.folder).out)
        there = sorted(os.listdir(self.folder))
        plan = self.path("plan.json")
        self.assertIn("nothing is done yet", self.ok("discard", self.folder, "--plan", plan).out)
        self.ok("discard", self.folder, "--dry-run")
        self.assertEqual(sorted(os.listdir(self.folder)), there)
        planned = self.ok_json("discard", self.folder)["plan"]["deletes"]
        self.assertEqual({one["store"] + one["key"].split("/")[0] for one in planned}, {dead["path"]})
        found = {os.path.join(self.folder, name, inner) for inner in os.listdir(dead["path"])}
        self.assertEqual({one["store"] + one["key"] for one in planned}, {*found, dead["path"] + "/"})
        self.assertEqual(self.run_ds("discard", self.folder, "--name", "other", "--apply", plan).code, CONFLICT)
        removed = self.ok_json("discard", self.folder, "--apply", plan)["leftovers"]
        self.assertEqual([one["path"] for one in removed if one["removed"]], [dead["path"]])
        (stays,) = [one for one in removed if not one["removed"]]
        self.assertEqual((stays["path"], stays["problem"]["code"]), (working["path"], "DS-EXISTS"))
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([*planted, os.path.basename(working["path"])]))
        worker.send_signal(signal.SIGCONT)
        self.assertEqual(worker.wait(60), OK)
        self.assert_checkpoint(live, self.run_made.truth(4))
        shutil.rmtree(live)
        self.finish()

    @staticmethod
    def state(process):
        with open(f"/proc/{process}/stat", encoding="utf-8") as f:
            return f.read().rpartition(")")[2].split()[0]


if __name__ == "__main__":
    main()
