#!/usr/bin/env python3
"""A second copy of a run, named by --mirror: whatever single object the source loses or damages, every step is rebuilt to
the trainer's bits. What the source merely offers is told, and not read."""

import json
import os
import shutil

from support import DAMAGED, GOLDEN, NOT_FOUND, USAGE, E2ETest, main, tree_state
from sweep import Sweep

SWEEP = Sweep("e2e.mirror", 12)
SOUND = (
    "dcp dcp-hf dcp-ranks grail hf-sharded hf-single modelexpress prime-rl skyrl slime-v1-deltas slime-v1-indices "
    "slime-v2-adler32 slime-v2-overwrite slime-v2-xor trl-adapter trl-v1.0 trl-v1.1 trl-v1.2 trl-v2-empty-step trl-v2-gap "
    "trl-v2-partial-anchor trl-v2-raw"
).split()


def objects(folder):
    """The keys below a folder."""
    paths = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
    return sorted(os.path.relpath(path, folder) for path in paths)


def flip(path):
    """Turns a bit in the middle of a file, as a disk does that rots: its time stays."""
    times = os.stat(path)
    with open(path, "r+b") as f:
        f.seek(os.path.getsize(path) // 2)
        byte = f.read(1)[0]
        f.seek(-1, os.SEEK_CUR)
        f.write(bytes([byte ^ 4]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


class Mirrored:
    """A golden run in a folder of its own, and a copy of it."""

    def __init__(self, case, folder):
        golden = os.path.join(GOLDEN, case)
        self.source, self.mirror = os.path.join(folder, "bucket"), os.path.join(folder, "mirror")
        shutil.copytree(os.path.join(golden, "bucket"), self.source)
        shutil.copytree(os.path.join(golden, "bucket"), self.mirror)
        with open(os.path.join(golden, "expected.json"), encoding="utf-8") as f:
            self.steps = [s for s in json.load(f)["steps"] if s["restorable"] and s.get("tensors")]
        base = os.path.join(golden, "base")
        self.base = ["--base", base] if os.path.isdir(base) else []
        self.options = [*self.base, "--mirror", self.mirror]

    def object(self, key):
        return os.path.join(self.source, key)

    def restore(self, key):
        shutil.copy2(os.path.join(self.mirror, key), self.object(key))


class Listing(E2ETest):
    def test_a_copy_that_nobody_compared_makes_up_for_nothing(self):
        run = Mirrored("trl-v2-raw", self.path("run"))
        flip(os.path.join(run.mirror, "deltas", "step_000005.safetensors"))

        def needed(*options):
            return {o["key"]: o["needed_by"] for o in self.ok_json("ls", run.source, *options)["objects"]}

        alone = needed()
        self.assertEqual(alone["deltas/step_000005.safetensors"], 5)
        self.assertEqual(needed(*run.options), alone)


class EveryObject(E2ETest):
    def expect_all_right(self, run, message):
        for step in run.steps:
            document = self.ok_json("digest", f"{run.source}@{step['epoch']}:{step['step']}", *run.options)
            self.assert_digest(document, step["tensors"], f"{message}, step {step['step']}:")

    @SWEEP
    def test_lost_or_flipped_it_is_read_of_the_mirror(self, number):
        place = 0
        for case in SOUND:
            run = Mirrored(case, self.path(case))
            here = [key for i, key in enumerate(objects(run.source), place) if i % SWEEP.slices == number]
            place += len(objects(run.source))
            before = tree_state(run.mirror)
            self.run_ds("verify", run.source, "--level", 2, *run.base)  # what is there now is on record
            for key in here:
                os.remove(run.object(key))
                self.expect_all_right(run, f"{case}: {key} is gone")
                run.restore(key)
                if os.path.getsize(run.object(key)) == 0:
                    continue
                flip(run.object(key))
                self.expect_all_right(run, f"{case}: {key} is flipped")
                run.restore(key)
            self.assertEqual(tree_state(run.mirror), before, f"{case}: the mirror was changed")


class OneRun(E2ETest):
    LOST = "deltas/step_000007.safetensors"

    def setUp(self):
        super().setUp()
        self.run_ = Mirrored("trl-v2-raw", self.path("run"))
        self.source, self.mirror = self.run_.source, self.run_.mirror
        self.truth = next(s["tensors"] for s in self.run_.steps if s["step"] == 8)

    def lose(self):
        os.remove(self.run_.object(self.LOST))

    def offer(self, *addresses):
        folder = self.run_.object(".deltascope/v1")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "mirror.json"), "w", encoding="utf-8") as f:
            json.dump({"mirrors": list(addresses)}, f)

    def told(self, document, words):
        return [n for n in document if n["code"] == "DS-MIRROR" and words in n["text"]]

    def test_what_is_rebuilt_with_it_says_so_and_where_it_is_from(self):
        self.lose()
        out = self.path("out")
        self.refused(self.run_ds("materialize", f"{self.source}@8", "-o", out), word="DS-CHAIN-GAP")
        report = self.ok_json("materialize", f"{self.source}@8", "-o", out, "--mirror", self.mirror)
        self.assert_checkpoint(out, self.truth)
        self.assertTrue(self.told(report["notices"], "1 object of this state is read from the mirror"), report["notices"])
        with open(os.path.join(out, "deltascope.provenance.json"), encoding="utf-8") as f:
            provenance = json.load(f)
        keys = [o["key"] for link in provenance["deltas"] for o in link["objects"]]
        self.assertIn(f"file://{self.mirror}/{self.LOST}", keys)

    def test_it_is_kept_among_the_events(self):
        self.lose()
        self.ok("digest", f"{self.source}@8", "--mirror", self.mirror)
        self.ok("digest", f"{self.source}@8", "--mirror", self.mirror)
        events = self.ok_json("log", self.source)["events"]
        self.assertEqual(len(self.told(events, "gone from the source")), 1, events)
        self.assertEqual(len(self.told(events, "is read from the mirror")), 1, events)

    def test_a_copy_with_other_bytes_is_refused_where_the_source_was_on_record(self):
        self.ok("verify", self.source)
        self.lose()
        flip(os.path.join(self.mirror, self.LOST))
        outcome = self.run_ds("digest", f"{self.source}@8", "--mirror", self.mirror)
        self.refused(outcome, code=DAMAGED, word="DS-REWRITTEN")
        self.assertIn(self.LOST, outcome.err)
        accepted = self.run_ds("digest", f"{self.source}@8", "--mirror", self.mirror, "--accept-rewritten")
        self.refused(accepted, code=DAMAGED, word="DS-REWRITTEN")

    def test_deletions_do_not_travel(self):
        os.remove(os.path.join(self.mirror, self.LOST))
        self.assert_digest(self.ok_json("digest", f"{self.source}@8", "--mirror", self.mirror), self.truth)
        shutil.rmtree(self.mirror)
        os.mkdir(self.mirror)
        self.assert_digest(self.ok_json("digest", f"{self.source}@8", "--mirror", self.mirror), self.truth)

    def test_an_offer_is_told_and_followed_only_after_it_was_named_once(self):
        self.lose()
        self.offer(self.mirror)
        before = self.ok_json("log", self.source)
        self.assertTrue(self.told(before["problems"], "offers a mirror"), before["problems"])
        self.refused(self.run_ds("digest", f"{self.source}@8"), word="DS-CHAIN-GAP")
        self.ok("digest", f"{self.source}@8", "--mirror", self.mirror)
        self.assert_digest(self.ok_json("digest", f"{self.source}@8"), self.truth)
        self.offer(os.path.relpath(self.mirror, self.source))
        self.refused(self.run_ds("digest", f"{self.source}@8"), word="DS-CHAIN-GAP")

    def test_another_source_gets_nothing_of_what_was_named_for_this_one(self):
        self.ok("log", self.source, "--mirror", self.mirror)
        other = self.path("other")
        shutil.copytree(self.source, other)
        self.run_.source = other
        self.lose()
        self.offer(self.mirror)
        self.refused(self.run_ds("digest", f"{other}@8"), word="DS-CHAIN-GAP")

    def test_what_is_named_must_be_a_second_copy(self):
        self.refused(self.run_ds("log", self.source, "--mirror", self.path("none")), code=NOT_FOUND)
        self.refused(self.run_ds("log", self.source, "--mirror", self.source + "/."), code=USAGE)
        self.refused(self.run_ds("log", self.source, "--mirror", self.run_.object(self.LOST)), word="DS-USAGE")
        two = self.run_ds("diff", f"{self.source}@3", f"{self.mirror}@3", "--mirror", self.mirror)
        self.refused(two, code=USAGE)

    def test_nothing_is_written_into_a_mirror(self):
        before = tree_state(self.mirror)
        out = os.path.join(self.mirror, "out")
        self.refused(self.run_ds("materialize", f"{self.source}@8", "-o", out, "--mirror", self.mirror), code=USAGE)
        self.offer("file://" + self.mirror)  # it was named above
        self.refused(self.run_ds("materialize", f"{self.source}@8", "-o", out), code=USAGE)
        self.assertEqual(tree_state(self.mirror), before)

    def test_a_relative_path_is_meant_from_here(self):
        self.lose()
        here = os.path.relpath(self.mirror)
        self.assert_digest(self.ok_json("digest", f"{self.source}@8", "--mirror", here), self.truth)

    def test_verify_names_a_copy_with_other_bytes(self):
        flip(os.path.join(self.mirror, self.LOST))
        report = self.run_ds("verify", self.source, "--level", 3, "--mirror", self.mirror, "--json").json()
        problems = [p for s in report["steps"] for p in s["problems"] if self.LOST in json.dumps(p)]
        self.assertTrue(problems, report["problems"])


if __name__ == "__main__":
    main()
