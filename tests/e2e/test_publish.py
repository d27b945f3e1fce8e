#!/usr/bin/env python3
"""What is published reads back as the same bits: golden states, both layouts, every encoding, new runs and runs that go on."""

import json
import os
import struct

from support import GAP, GOLDEN, OK, USAGE, E2ETest, main, tree_state

FORMS = [
    ("trl-v2", "gap_delta", None),
    ("trl-v2", "raw", None),
    ("slime-v2", "xor", "xxh3-128"),
    ("slime-v2", "xor", "blake3"),
    ("slime-v2", "overwrite", "adler32"),
]


OWN = (".deltascope",)  # lease and spans lie there; no reader of the run looks at it


def published(folder):
    """Files of the run itself."""
    return [os.path.join(path, name) for path, folders, files in os.walk(folder) for name in files if ".deltascope" not in path]


def golden(name):
    with open(os.path.join(GOLDEN, name, "expected.json"), encoding="utf-8") as f:
        expected = json.load(f)
    base = ["--base", os.path.join(GOLDEN, name, expected["base"])] if expected.get("base") else []
    return os.path.join(GOLDEN, name, expected["source"]), base, expected


class Publish(E2ETest):
    def state(self, source, base, step):
        """The checkpoint of a step, written once."""
        folder = self.path(f"state-{os.path.basename(os.path.dirname(source))}-{step}")
        if not os.path.exists(folder):
            self.ok("materialize", f"{source}@{step}", "-o", folder, *base)
        return folder

    def roots(self, address, *options):
        document = self.ok_json("digest", address, *options)
        return document["root"], document["strong_root"]

    def publish(self, into, form, a, b, *more):
        layout, encoding, checksum = form
        options = ["--encoding", encoding] + (["--checksum", checksum] if checksum else [])
        return self.run_ds("publish", "--into", into, "--layout", layout, *options, "--from", a, "--to", b, "--json", *more)

    def test_golden_states_read_back(self):
        for name in ("trl-v2-gap", "trl-v2-raw", "slime-v2-xor", "slime-v2-overwrite"):
            source, base, expected = golden(name)
            steps = [s["step"] for s in expected["steps"]][:5]
            for form in FORMS:
                with self.subTest(name=name, form=form):
                    into = self.path(f"run-{name}-{'-'.join(filter(None, form))}")
                    states = [self.state(source, base, step) for step in steps]
                    external = ["--base", states[0]] if form[0] == "slime-v2" else []
                    first = 1 if form[0] == "trl-v2" else 0
                    number = first
                    for a, b in zip(states, states[1:]):
                        outcome = self.publish(into, form, a, b, *external)
                        self.assertEqual(outcome.code, OK, str(outcome))
                        if not outcome.json()["nothing_changed"]:
                            number += 1
                        self.assertEqual(self.roots(f"{into}@{max(number, 1)}", *external), self.roots(b))
                    log = self.ok_json("log", into, *external)
                    self.assertEqual(log["layout"], form[0])
                    self.assertEqual(log["problems"], [])
                    verify = self.run_ds("verify", into, "--level", "4", *external, "--json")
                    self.assertEqual(verify.code, OK, str(verify))

    def test_from_must_be_the_newest_state(self):
        source, base, _ = golden("trl-v2-gap")
        one, two, three = (self.state(source, base, step) for step in (1, 2, 3))
        into = self.path("run")
        form = FORMS[0]
        self.assertEqual(self.publish(into, form, one, two).code, OK)
        before = tree_state(into, without=OWN)
        outcome = self.publish(into, form, one, three)
        self.refused(outcome, GAP, "DS-BASE-MISMATCH")
        self.assertEqual(tree_state(into, without=OWN), before)
        self.assertEqual(self.publish(into, form, two, three).code, OK)

    def test_the_command_that_is_suggested_is_taken(self):
        source, base, _ = golden("trl-v2-gap")
        one, two = (self.state(source, base, step) for step in (1, 2))
        checkpoints = self.make_run(layout="hf", steps=2).source
        first = (one, os.path.join(one, "model.safetensors"), f"{source}@1", f"{checkpoints}@1")
        for number, (place, to) in enumerate(zip(first, (two, two, two, f"{checkpoints}@2"))):
            into = self.path(f"suggested-{number}")
            outcome = self.run_ds("publish", "--into", into, "--layout", "slime-v2", "--from", place, "--to", to)
            self.assertEqual(outcome.code, OK, str(outcome))
            self.assertIn(f"deltascope log {into} --base {place if place == one else 'DIR'}\n", outcome.err + outcome.out)
        self.ok("log", self.path("suggested-0"), "--base", one)

    def trained(self, checkpoint, number):
        """A copy of a checkpoint in which one element of one tensor of BF16 differs."""
        folder = self.path(f"trained-{number}")
        self.ok("materialize", checkpoint, "-o", folder)
        with open(os.path.join(folder, "model.safetensors"), "r+b") as f:
            (size,) = struct.unpack("<Q", f.read(8))
            tensors = json.loads(f.read(size))
            begin = min(t["data_offsets"][0] for t in tensors.values() if t.get("dtype") == "BF16")
            f.seek(8 + size + begin)
            byte = f.read(1)[0]
            f.seek(-1, os.SEEK_CUR)
            f.write(bytes([byte ^ number]))
        return folder

    def test_what_slime_v2_stands_on_is_read_as_its_base(self):
        adapters = os.path.join(GOLDEN, "trl-adapter", "bucket", "out", ".vllm_lora", "trl-policy-v")
        save = os.path.join(GOLDEN, "dcp", "bucket", "step-0")
        for kind, (one, two, three) in (("adapters", [f"{adapters}{n}" for n in (3, 4, 5)]),
                                        ("saves", [save, self.trained(save, 1), self.trained(save, 2)])):
            with self.subTest(kind=kind):
                into, base = self.path(kind), ["--base", one]
                for number, (a, b) in enumerate(((one, two), (two, three)), 1):
                    outcome = self.publish(into, FORMS[2], a, b, *(base if number > 1 else []))
                    self.assertEqual(outcome.code, OK, str(outcome))
                    self.assertEqual(self.roots(f"{into}@{number}", *base), self.roots(b))
                verify = self.run_ds("verify", into, "--level", "4", *base, "--json")
                self.assertEqual(verify.code, OK, str(verify))
                self.ok("materialize", f"{into}@2", "-o", self.path(f"{kind}-2"), *base)
                self.assertEqual(self.roots(self.path(f"{kind}-2")), self.roots(three))

    def test_nothing_changed(self):
        source, base, _ = golden("trl-v2-gap")
        one = self.state(source, base, 1)
        outcome = self.publish(self.path("trl"), FORMS[0], one, one)
        self.assertEqual(outcome.code, OK, str(outcome))
        self.assertTrue(outcome.json()["nothing_changed"])
        slime = self.publish(self.path("slime"), FORMS[2], one, one)
        self.assertEqual(slime.code, OK, str(slime))
        self.assertEqual(slime.json()["steps"][0]["state"], "noop")

    def test_other_tensors_are_refused(self):
        a, _, _ = golden("trl-v2-gap")
        b, _, _ = golden("trl-v2-raw")
        into = self.path("run")
        outcome = self.publish(into, FORMS[0], f"{a}@1", f"{b}@1")
        self.refused(outcome, GAP, "DS-BASE-MISMATCH")
        self.assertEqual(published(into), [])

    def test_a_refused_first_step_begins_no_run(self):
        states = self.make_run(layout="hf", dtype="F32", steps=2).source
        outcome = self.publish(self.path("trl"), FORMS[0], f"{states}@1", f"{states}@2")
        self.refused(outcome, word="DS-UNSUPPORTED")
        self.assertEqual(published(self.path("trl")), [])

    def test_wrong_words_are_usage(self):
        source, _, _ = golden("trl-v2-gap")
        for form in (("trl-v2", "xor", None), ("slime-v2", "raw", "blake3"), ("hf", "xor", None)):
            with self.subTest(form=form):
                self.refused(self.publish(self.path("run"), form, f"{source}@1", f"{source}@2"), USAGE, "DS-USAGE")

    def test_an_occupied_step_is_never_overwritten(self):
        source, base, _ = golden("trl-v2-gap")
        one, two, three = (self.state(source, base, step) for step in (1, 2, 3))
        into = self.path("run")
        self.assertEqual(self.publish(into, FORMS[0], one, two).code, OK)
        before = tree_state(into, without=OWN)
        self.refused(self.publish(into, FORMS[0], one, three), GAP, "DS-BASE-MISMATCH")
        self.assertEqual(tree_state(into, without=OWN), before)

    def test_the_same_step_again_is_already_published(self):
        source, base, _ = golden("trl-v2-gap")
        one, two, three = (self.state(source, base, step) for step in (1, 2, 3))
        for form in (FORMS[0], FORMS[2]):
            for named in ([], ["--base", one]):
                with self.subTest(form=form, base=bool(named)):
                    into = self.path(f"run-{form[0]}-{len(named)}")
                    self.assertEqual(self.publish(into, form, one, two, *named).code, OK)
                    before = tree_state(into, without=OWN)
                    again = self.publish(into, form, one, two, *named)
                    self.assertEqual(again.code, OK, str(again))
                    document = again.json()
                    self.assertRegex(" ".join(document["notices"]), r"already published, as step \d")
                    self.assertEqual(document["steps"], [])
                    self.assertFalse(document["nothing_changed"])
                    self.assertEqual(tree_state(into, without=OWN), before)
                    self.refused(self.publish(into, form, one, three, "--base", one), GAP, "DS-BASE-MISMATCH")
                    self.assertEqual(tree_state(into, without=OWN), before)

    def test_a_plan_is_carried_out_as_it_was_shown(self):
        source, base, _ = golden("trl-v2-gap")
        one, two, three = (self.state(source, base, step) for step in (1, 2, 3))
        for form in (FORMS[0], FORMS[2]):
            with self.subTest(form=form):
                into, plan = self.path(f"planned-{form[0]}"), self.path(f"plan-{form[0]}.json")
                shown = self.publish(into, form, one, two, "--dry-run")
                self.assertEqual(shown.code, OK, str(shown))
                self.assertEqual(self.publish(into, form, one, two, "--plan", plan).code, OK)
                self.assertFalse(os.path.exists(into), "a plan makes no folder")
                done = self.publish(into, form, one, two, "--apply", plan)
                self.assertEqual(done.code, OK, str(done))
                written = sorted(os.path.relpath(path, into) for path in published(into))
                self.assertEqual(written, sorted(o["key"] for o in shown.json()["plan"]["writes"]))
                named = ["--base", one] if form[0] == "slime-v2" else []
                before = tree_state(into, without=OWN)
                self.refused(self.publish(into, form, one, two, "--apply", plan), word="DS-EXISTS")
                again = self.publish(into, form, one, two, "--dry-run")  # slime-v2 finds its base in `one`
                self.assertEqual(again.code, OK, str(again))
                self.assertEqual(tree_state(into, without=OWN), before)
                self.assertEqual(self.publish(into, form, two, three, *named).code, OK)
        self.refused(self.run_ds("publish", "--into", into, "--layout", "trl-v2", "--watch", one, "--dry-run"), USAGE, "DS-USAGE")


if __name__ == "__main__":
    main()
