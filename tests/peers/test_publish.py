#!/usr/bin/env python3
"""What `deltascope publish` writes, read back by the independent decoder: the intended state, bit for bit.

In every layout, encoding and checksum: all golden states in a row, made states, and changes that a layout cannot carry.

A slice (tests/support/sweep.py) publishes each row of golden states in a quarter of the forms, a different one for each row.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import goldens
import states
import support
import writer_rules
from container import read_checkpoint, write_checkpoint
from decode import SlimeReceiver, TrlReceiver

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from sweep import Sweep  # noqa: E402

SWEEP = Sweep("peers.publish", 4)
TRL = [("trl-v2", "gap_delta", None), ("trl-v2", "raw", None)]
SLIME = [("slime-v2", e, c) for e in ("xor", "overwrite") for c in ("xxh3-128", "blake3", "adler32")]


def word(form):
    return "-".join(filter(None, form))


class Run:
    """A run that is published into, and the receiver that follows it."""

    def __init__(self, test, form, start, folder):
        self.test, self.form, self.folder = test, form, folder
        self.layout, self.encoding, self.checksum = form
        self.base = ["--base", start] if self.layout == "slime-v2" else []
        self.receiver = SlimeReceiver(start) if self.base else TrlReceiver()
        self.known = set()

    def publish(self, a, b):
        checksum = ["--checksum", self.checksum] if self.checksum else []
        return self.test.run_ds(
            *("publish", "--into", self.folder, "--layout", self.layout, "--encoding", self.encoding, *checksum),
            "--allow-suspect",  # made states hold what a sound model does not
            *("--from", a, "--to", b, *self.base, "--json"),
        )

    def receive(self, before, after):
        """Lets the receiver take what is new and checks it against the writers' rules. Returns the newest version."""
        versions = self.receiver.versions(self.folder)
        for version in sorted(versions.keys() - self.known):
            self.receiver.receive(versions[version])
            if self.base:
                writer_rules.check_slime(versions[version], before, after, self.encoding, self.checksum)
            else:
                begins = not self.known  # a run begins with the state that its first delta builds on
                writer_rules.check_trl(versions[version], before, before if begins else after)
            self.known.add(version)
        return max(versions)


class Publish(support.E2ETest):
    def check_steps(self, form, folders, chain):
        """Publishes the states one after the other; `folders`: the checkpoints that hold them."""
        run = Run(self, form, folders[0], f"{folders[0]}-{word(form)}")
        for a, b, before, after in zip(folders, folders[1:], chain, chain[1:]):
            outcome = run.publish(a, b)
            self.assertEqual(outcome.code, support.OK, str(outcome))
            if outcome.json()["nothing_changed"]:
                self.assertEqual((form[0], before), ("trl-v2", after))
                continue
            newest = run.receive(before, after)
            self.assert_same_state(run.receiver.state, after)
            digest = self.ok_json("digest", f"{run.folder}@{newest}", *run.base)
            rows = {row.pop("name"): row for row in digest["tensors"]}
            self.assertEqual(rows, goldens.sums(after))

    def assert_same_state(self, got, wanted):
        wrong = sorted(name for name in got.keys() | wanted.keys() if got.get(name) != wanted.get(name))
        self.assertFalse(wrong, f"{len(wrong)} of {len(wanted)} tensors read back differently, first {wrong[:2]}")

    def write(self, name, chain):
        return [write_checkpoint(self.path(f"{name}-{at}"), state) for at, state in enumerate(chain)]

    def check_refused(self, form, before, refused, tensor):
        """Refused with a reason that names the tensor, in a new run and in one that goes on; nothing is published."""
        a, b, c = self.write(f"refused-{word(form)}-{tensor}", [before, states.next_bf16(before, 7), refused])
        fresh = Run(self, form, a, self.path(f"fresh-{word(form)}-{tensor}"))
        outcome = fresh.publish(a, c)
        self.refused(outcome, support.OTHER, "DS-UNSUPPORTED")
        self.assertIn(f'"{tensor}" changed', outcome.err)
        self.assertEqual(fresh.receiver.versions(fresh.folder), {})
        run = Run(self, form, a, self.path(f"kept-{word(form)}-{tensor}"))
        self.assertEqual(run.publish(a, b).code, support.OK)
        tree = support.tree_state(run.folder, without=(".deltascope",))
        self.refused(run.publish(b, c), support.OTHER, "DS-UNSUPPORTED")
        self.assertEqual(support.tree_state(run.folder, without=(".deltascope",)), tree)

    @SWEEP
    def test_golden_states(self, number):
        done = set()
        for name in goldens.names():
            chain = goldens.states(name)
            key = str([goldens.sums(state) for state in chain])
            if len(chain) < 2 or key in done:
                continue  # refused from the first step on, or the same states as in another bucket
            done.add(key)
            folders = self.write(f"state-{name}", chain)
            for form in (TRL + SLIME)[(number + len(done)) % SWEEP.slices :: SWEEP.slices]:
                with self.subTest(name=name, form=word(form)):
                    self.check_steps(form, folders, chain)

    def test_checkpoints_of_transformers(self):
        root = goldens.GOLDEN / "hf-sharded" / "bucket"
        chain = [read_checkpoint(folder) for folder in (root, root / "checkpoint-10", root / "checkpoint-20")]
        folders = self.write("hf", chain)
        for form in TRL + SLIME:
            with self.subTest(form=word(form)):
                self.check_steps(form, folders, chain)

    def test_rare_states(self):
        first = states.model()
        chain = [first, states.next_bf16(first, 1)]
        chain += [chain[1], states.next_bf16(chain[1], 2)]  # a step without a change in between
        folders = self.write("rare", chain)
        for form in TRL + SLIME:
            with self.subTest(form=word(form)):
                self.check_steps(form, folders, chain)

    def test_what_only_some_layouts_carry(self):
        first = states.model()
        scalar = [first, states.with_scalar(first)]
        folders = self.write("scalar", scalar)
        for form in TRL:
            with self.subTest(form=word(form), change="a BF16 scalar"):
                self.check_steps(form, folders, scalar)
        others = [first, states.with_other_dtypes(first)]
        folders = self.write("others", others)
        for form in SLIME:
            with self.subTest(form=word(form), change="other dtypes"):
                self.check_steps(form, folders, others)

    def test_what_a_layout_cannot_carry_is_refused(self):
        first = states.model()
        scalar = states.with_scalar(states.next_bf16(first, 7))
        fp32 = dict(states.next_bf16(first, 7))
        fp32["norm.fp32"] = states.with_other_dtypes(first)["norm.fp32"]
        for form in TRL:
            with self.subTest(form=word(form)):
                self.check_refused(form, first, fp32, "norm.fp32")
        for form in SLIME:
            with self.subTest(form=word(form)):
                self.check_refused(form, first, scalar, "scalar")


if __name__ == "__main__":
    support.main()
