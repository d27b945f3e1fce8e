"""What the tests of `publish` share: checkpoints that a trainer drops, and the proof that every step is one of them."""

import json
import os
import shutil
import tempfile

from support import OK, E2ETest, log_steps


class Trainer(E2ETest):
    """train() makes checkpoints aside, in a folder of their own each time; drop() puts them into self.checkpoints. self.into: the run."""

    def train(self, layout="trl-v2", count=6, **options):
        self.folder = tempfile.mkdtemp(dir=self.work)
        made = self.make_run(os.path.join(self.folder, "made"), layout="hf", steps=count, **({"tensors": 3, "elements": 4000} | options))
        self.made, self.layout, self.count = made.source, layout, count
        self.roots = {self.name(n): self.root(os.path.join(self.made, self.name(n))) for n in range(1, count + 1)}
        self.checkpoints, self.into = self.at("checkpoints"), self.at("run")
        os.mkdir(self.checkpoints)
        self.base = []
        if layout == "slime-v2":
            self.base = ["--base", os.path.join(self.made, self.name(1))]

    @property
    def first(self):
        """The first checkpoint to publish: slime-v2 begins behind its base."""
        return 2 if self.base else 1

    def at(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def name(n):
        return f"checkpoint-{n}"

    def names(self, *numbers):
        return [self.name(n) for n in numbers]

    def root(self, address, *options):
        return self.ok_json("digest", address, *options)["root"]

    def drop(self, *numbers):
        for n in numbers:
            shutil.copytree(os.path.join(self.made, self.name(n)), self.at("on-its-way"))  # times too: it looks old
            os.rename(self.at("on-its-way"), os.path.join(self.checkpoints, self.name(n)))

    def publish_args(self, *options, into=None):
        return ["publish", "--into", into or self.into, "--layout", self.layout, *self.base, *options]

    def watch_args(self, *options, into=None, quiet=0):
        complete = () if "--marker" in options else ("--quiet-seconds", quiet)
        return self.publish_args("--watch", self.checkpoints, *complete, *options, into=into)

    def facts(self, into=None):
        """{step: metadata} of what is committed, read without the program."""
        into, found = into or self.into, {}
        if self.layout == "slime-v2":
            for name in os.listdir(into) if os.path.isdir(into) else []:
                index = os.path.join(into, name, "model.safetensors.index.json")
                if name.startswith("weight_v") and os.path.exists(index):
                    with open(index, encoding="utf-8") as f:
                        found[int(name[8:])] = json.load(f)["metadata"]
            return found
        for kind in ("anchors", "deltas"):
            folder = os.path.join(into, kind)
            for name in os.listdir(folder) if os.path.isdir(folder) else []:
                if name.startswith("step_"):
                    with open(os.path.join(folder, name), "rb") as f:
                        header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
                    step = int(name[5:11])
                    self.assertNotIn(step, found, "a step is published twice")
                    found[step] = header["__metadata__"]
        return found

    def origins(self, into=None):
        facts = self.facts(into)
        self.assertEqual(sorted(facts), list(range(1, len(facts) + 1)), "numbers have no holes")
        return [facts[step].get("ds.origin") for step in sorted(facts)]

    def assert_published(self, expected, into=None, leftovers=False):
        """The steps are these checkpoints, in this order, bit for bit; all of it verifies, but for what a publisher that
        was killed may have left behind them."""
        into = into or self.into
        self.assertEqual(self.origins(into), expected)
        for step, origin in enumerate(expected, 1):
            self.assertEqual(self.root(f"{into}@{step}", *self.base), self.roots[origin], f"step {step} is not {origin}")
        self.assert_sound(f"{into}@1..{len(expected)}" if leftovers else into)

    def assert_sound(self, into=None):
        verify = self.run_ds("verify", into or self.into, "--level", 3, *self.base, "--json")
        self.assertEqual(verify.code, OK, str(verify))
        self.assertEqual(verify.json()["result"], "verified", str(verify))

    def log(self, into=None):
        """(document, {(epoch, step): record})"""
        document = self.ok_json("log", into or self.into, *self.base)
        return document, log_steps(document)
