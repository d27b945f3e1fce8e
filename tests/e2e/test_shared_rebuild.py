#!/usr/bin/env python3
"""One rebuild shared by several processes: the same files as a plain one, and no result before all parts are there."""

import os

from support import E2ETest, main, tree_state

PARTS = 3


class SharedRebuild(E2ETest):
    def prepare(self):
        self.run_made = self.make_run(tensors=10, elements=500_000, steps=6)
        self.before = tree_state(self.run_made.source)
        self.folder = self.path("out")
        os.mkdir(self.folder)
        self.destination = os.path.join(self.folder, "checkpoint")
        self.address = self.run_made.at(6)
        self.common = ["-o", self.destination, "--shard-size", str(2_000_000)]

    def part(self, i):
        return ["materialize", self.address, *self.common, "--shard", f"{i}/{PARTS}"]

    def commit(self):
        return self.run_ds("materialize", self.address, *self.common, "--commit", "--json")

    @staticmethod
    def files(folder):
        out = {}
        for name in os.listdir(folder):
            if name != "deltascope.provenance.json":  # says when and how
                with open(os.path.join(folder, name), "rb") as f:
                    out[name] = f.read()
        return out

    def test_parts_in_parallel_equal_a_plain_rebuild(self):
        self.prepare()
        plain = self.path("plain")
        self.ok("materialize", self.address, "-o", plain, "--shard-size", "2000000")
        self.assertGreater(len([n for n in os.listdir(plain) if n.endswith(".safetensors")]), PARTS)
        processes = [self.start(*self.part(i)) for i in range(PARTS)]
        for process in processes:
            _, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, err)
        self.assertFalse(os.path.lexists(self.destination), "a result before the commit")
        outcome = self.commit()
        self.assertEqual(outcome.code, 0, str(outcome))
        self.assertTrue(self.assert_no_half_result(self.destination, self.run_made.truth(6)))
        self.assertEqual(os.listdir(self.folder), ["checkpoint"])
        self.assertEqual(self.files(plain), self.files(self.destination))
        self.assertEqual(self.ok_json("digest", plain)["root"], self.ok_json("digest", self.destination)["root"])
        self.assertEqual(self.before, tree_state(self.run_made.source))

    def test_a_commit_without_all_parts_is_refused(self):
        self.prepare()
        self.refused(self.commit())
        for i in (0, 2):
            self.ok(*self.part(i))
            self.refused(self.commit())
            self.assertFalse(os.path.lexists(self.destination))
        self.ok(*self.part(1))
        outcome = self.commit()
        self.assertEqual(outcome.code, 0, str(outcome))
        self.assertTrue(self.assert_no_half_result(self.destination, self.run_made.truth(6)))

    def test_a_part_may_be_repeated(self):
        self.prepare()
        for i in (0, 1, 1, 2):
            self.ok(*self.part(i))
        self.assertEqual(self.commit().code, 0)
        self.assertTrue(self.assert_no_half_result(self.destination, self.run_made.truth(6)))

    def test_wrong_parts_are_usage_errors(self):
        self.prepare()
        for wrong in ("3/3", "x/3", "1/0", "-1/3", "1"):
            with self.subTest(shard=wrong):
                self.assertEqual(self.run_ds("materialize", self.address, *self.common, f"--shard={wrong}").code, 2)
                self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    main()
