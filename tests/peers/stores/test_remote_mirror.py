#!/usr/bin/env python3
"""A mirror in a remote store, and a source there with a mirror in a folder: whatever single object the source loses or
damages, every step is rebuilt to the trainer's bits."""

import os
import sys

import remote  # finds the modules of e2e and support
from sweep import Sweep
from test_mirror import Mirrored, flip, objects

STORE = sys.argv[1] if len(sys.argv) > 1 else ""
SWEEP = Sweep(f"peers.remote_mirror_{STORE}", 36)
CASES = ("grail", "hf-sharded", "slime-v2-xor", "trl-v1.2", "trl-v2-raw")


class RemoteMirror(remote.RemoteTest):
    def runs(self, number):
        """(name, run in two folders, the same run in the store, keys of this slice) of each case."""
        place = 0
        for case in CASES:
            run = Mirrored(case, self.path(case))
            keys = [key for i, key in enumerate(objects(run.source), place) if i % SWEEP.slices == number]
            place += len(objects(run.source))
            if not keys:
                continue
            there = self.store.place(f"{self.id()}/{case}")
            there.put(run.source)
            yield case, run, there, keys

    def expect_all_right(self, source, mirror, run, message):
        for step in run.steps:
            version = f"{source}@{step['epoch']}:{step['step']}"
            document = self.ok_json("digest", version, *run.base, "--mirror", mirror)
            self.assert_digest(document, step["tensors"], f"{message}, step {step['step']}:")

    @SWEEP
    def test_in_the_store(self, number):
        for case, run, there, keys in self.runs(number):
            before = there.times()
            self.run_ds("verify", run.source, "--level", 2, *run.base)  # what is there now is on record
            for key in keys:
                os.remove(run.object(key))
                self.expect_all_right(run.source, there.url, run, f"{case}: {key} is gone")
                run.restore(key)
                if os.path.getsize(run.object(key)) == 0:
                    continue
                flip(run.object(key))
                self.expect_all_right(run.source, there.url, run, f"{case}: {key} is flipped")
                run.restore(key)
            self.assertEqual(there.times(), before, f"{case}: the mirror was changed")

    @SWEEP
    def test_of_the_store(self, number):
        for case, run, there, keys in self.runs(number):
            self.run_ds("verify", there.url, "--level", 2, *run.base)
            for key in keys:
                with open(run.object(key), "rb") as file:
                    data = file.read()
                there.remove(key)
                self.expect_all_right(there.url, run.mirror, run, f"{case}: {key} is gone")
                if data and not key.endswith(".json"):  # a young index that does not fit is that of an unfinished step
                    there.put_object(key, remote.other_bytes(data))
                    self.expect_all_right(there.url, run.mirror, run, f"{case}: {key} is flipped")
                there.put_object(key, data)


if __name__ == "__main__":
    remote.main()
