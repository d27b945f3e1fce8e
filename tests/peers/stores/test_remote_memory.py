#!/usr/bin/env python3
"""A checkpoint of 100 GB in one object of an S3 store: its list, its headers and the values of one of its tensors are read
within 256 MiB and the memory of what was read (docs/stores/s3.md), whatever the size of the object. Most of the object is
a hole in a file of the server, so the test needs no disk."""

import json
import os

import remote  # finds the modules of e2e and support
from support import BIN, MIB, OK, peak_of

TENSORS = 50
TENSOR_BYTES = 2 << 30
THREADS = 2
KEPT_MIB = 256  # of blocks that were read
MOST_KIB = (256 + 8 * THREADS + KEPT_MIB) * 1024


def header():
    tensors, at = {}, 0
    for n in range(TENSORS):
        name = f"model.layers.{n}.weight"
        tensors[name] = {"dtype": "BF16", "shape": [TENSOR_BYTES // 2], "data_offsets": [at, at + TENSOR_BYTES]}
        at += TENSOR_BYTES
    text = json.dumps(tensors).encode()
    return len(text).to_bytes(8, "little") + text


class RemoteMemory(remote.RemoteTest):
    def setUp(self):
        super().setUp()
        self.place = self.store.place("large")
        self.place.put_object("model.safetensors", header())
        file = self.store.server.work / "data" / self.store.server.bucket / "large" / "model.safetensors"
        os.truncate(file, len(header()) + TENSORS * TENSOR_BYTES)

    def peak(self, *args):
        outcome = peak_of([BIN, *map(str, args), "--threads", str(THREADS)], self.environment())
        self.assertEqual(outcome.code, OK, str(outcome))
        self.assertGreater(outcome.peak_kib, outcome.floor_kib, "not measured")
        print(f"\n{args[0]}: {outcome.peak_kib / 1024:.0f} MiB, {outcome.seconds:.1f} s", end="", flush=True)
        self.assertLess(outcome.peak_kib, MOST_KIB)
        return outcome

    def test_peaks(self):
        url = self.place.url
        self.peak("log", url)
        self.peak("verify", url, "--level", 1)
        listed = self.peak("show", f"{url}@0", "--json")
        self.assertIn(f"model.layers.{TENSORS - 1}.weight", listed.out)
        values = self.peak("stats", f"{url}@0", f"model.layers.{TENSORS - 1}.weight", "--json")
        self.assertIn(str(TENSOR_BYTES // 2), values.out)
        self.assertGreater(TENSOR_BYTES, 3 * KEPT_MIB * MIB)


if __name__ == "__main__":
    remote.main()
