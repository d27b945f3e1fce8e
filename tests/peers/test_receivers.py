#!/usr/bin/env python3
"""What `publish`, `rollback` and `undo` write, loaded by SGLang's own receiver (the code behind /pull_weights).

Opt-in: DELTASCOPE_SGLANG names a checkout of SGLang that has python/sglang/srt/weight_sync/local_checkpoint.py. That file
needs numpy, zstandard, xxhash and blake3, and nothing else of SGLang.
"""

import importlib.util
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import goldens
import support
from container import read_checkpoint, write_checkpoint

CHECKOUT = os.environ.get("DELTASCOPE_SGLANG")


def receiver():
    path = pathlib.Path(CHECKOUT, "python/sglang/srt/weight_sync/local_checkpoint.py")
    spec = importlib.util.spec_from_file_location("local_checkpoint", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Receivers(support.E2ETest):
    def setUp(self):
        super().setUp()
        if not CHECKOUT:
            support.loudly_skip("DELTASCOPE_SGLANG names no checkout of SGLang")
    def pull(self, local, base, source, version):
        """The state of a host that has what it pulled before."""
        self.receiver.pull(local, base, source, version)
        return read_checkpoint(local)

    def check(self, encoding, checksum):
        self.receiver = receiver()
        chain = goldens.states("slime-v2-xor")
        base, *folders = [write_checkpoint(self.path(f"{encoding}-{checksum}-{at}"), state) for at, state in enumerate(chain)]
        run, local = self.path(f"run-{encoding}-{checksum}"), self.path(f"local-{encoding}-{checksum}")
        for version, (a, b) in enumerate(zip([base, *folders], folders), 1):
            self.ok("publish", "--into", run, "--layout", "slime-v2", "--encoding", encoding, "--checksum", checksum,
                    "--from", a, "--to", b, "--base", base)
            self.assertEqual(self.pull(local, base, run, version), chain[version], f"version {version}")
        newest = len(folders)
        now = ["--base", base, "--yes"]
        for path in pathlib.Path(run).rglob("*.safetensors*"):
            support.age(path, 3600)  # no trainer seems to run
        self.ok("rollback", f"{run}@{newest - 2}", *now)
        self.assertEqual(self.pull(local, base, run, newest + 1), chain[newest - 2], "the roll back")
        self.ok("undo", run, *now)
        self.assertEqual(self.pull(local, base, run, newest + 2), chain[newest], "the undo")
        self.assertEqual(self.pull(f"{local}-fresh", base, run, newest + 2), chain[newest], "a fresh host")

    def test_xor(self):
        for checksum in ("xxh3-128", "blake3", "adler32"):
            with self.subTest(checksum=checksum):
                self.check("xor", checksum)

    def test_overwrite(self):
        self.check("overwrite", "xxh3-128")


if __name__ == "__main__":
    support.main()
