#!/usr/bin/env python3
"""The reference readers: against the recorded buckets, against made ones, and against the program (DELTASCOPE_BIN).

Each of the classes can be run alone: test_reference.py Recorded Made Examples; test_reference.py Program.
"""

import hashlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy

import case_grail
from case_model import pattern
from fold import fold
from grail import apply_codec, check_weights
from make_case import CASES, make
from read_run import READERS, read_run
from slime_v1 import positions
from tensors import Broken, Tensor, format_safetensors, parse_safetensors, read_header

GOLDEN = pathlib.Path(os.environ.get("DELTASCOPE_GOLDEN", pathlib.Path(__file__).resolve().parents[1] / "golden"))
PROGRAM = os.environ.get("DELTASCOPE_BIN")
# Steps that blind replay gives although they cannot be trusted: a lost delta, and the tail of an older run. Seeing that
# takes the no-op test or times, which this reader does not have.
BLIND = ("trl-v2-gap-in-chain", "trl-v2-restart")
# Every changed bit of these shows in a digest.
DIGESTS = (
    "trl-v1.0",
    "slime-v2-xor",
    "slime-v2-overwrite",
    "slime-v2-adler32",
    "slime-v1-deltas",
    "skyrl",
    "skyrl-sha256",
    "modelexpress",
    "modelexpress-plain-keys",
    "grail-v2",
    "grail-v3.1",
    "prime-rl-update",
)
SEEDS = (1, 2)
STEPS = 9


class Recorded(unittest.TestCase):
    def test_states_are_those_of_the_trainer(self):
        for name, folder, layout, expected in recorded():
            with self.subTest(name=name):
                found = {step.version.step: step.row() for step in read(folder, layout, expected)}
                for truth in expected["steps"]:
                    if truth["restorable"]:
                        self.compare(found[truth["step"]], truth)

    def test_what_cannot_be_rebuilt_is_not(self):
        for name, folder, layout, expected in recorded():
            with self.subTest(name=name):
                found = {step.version.step: step.row() for step in read(folder, layout, expected)}
                for truth in expected["steps"]:
                    row = found.get(truth["step"], {"error": "no version"})
                    if truth["restorable"]:
                        continue
                    if name in BLIND:
                        self.assertNotIn("error", row)
                        blind = truth.get("chained_tensors", truth.get("replay_tensors", row["tensors"]))
                        self.assertEqual(row["tensors"], blind)
                    else:
                        self.assertIn("error", row, f"step {truth['step']}: {truth['reason']}")

    def test_every_layout_has_a_case(self):
        self.assertEqual(
            set(READERS) - {layout for _, _, layout, _ in recorded()} - {"dcp-hf"},
            set(),
        )

    def compare(self, row, truth):
        self.assertNotIn("error", row)
        step = f"step {truth['step']}"
        self.assertEqual((row["kind"], row["base_step"]), (truth["kind"], truth["base_step"]), step)
        self.assertEqual(row["tensors"], truth["tensors"], step)
        if row["changed_elems"] is not None:  # null: the base step cannot be rebuilt
            self.assertEqual(row["changed_elems"], truth["changed_elems"], step)


class Made(Recorded):
    """The same with what make_case.py writes."""

    test_what_cannot_be_rebuilt_is_not = None
    test_every_layout_has_a_case = None

    def test_states_are_those_of_the_trainer(self):
        for word, folder, layout, expected in made(self):
            with self.subTest(word=word, seed=folder.name):
                found = read(folder, layout, expected)
                self.assertEqual(len(found), len(expected["steps"]))
                for step, truth in zip(found, expected["steps"], strict=True):
                    self.compare(step.row(), truth)
                    self.assertEqual(step.row()["changed_elems"], truth["changed_elems"])

    def test_the_same_seed_writes_the_same_states(self):
        folder = temporary(self)
        for word in ("trl-v1.2", "grail-v3.1"):
            texts = []
            for copy in ("a", "b"):
                make(word, folder / word / copy, 5, 4)
                texts.append((folder / word / copy / "expected.json").read_text(encoding="utf-8"))
            self.assertEqual(*texts)

    def test_a_changed_bit_is_noticed(self):
        for word, folder, layout, expected in made(self, DIGESTS, seeds=(3,)):
            for truth in expected["steps"]:
                weights = [key for key in truth["objects"] if "safetensors" in key or key.endswith(".zst")]
                weights = [key for key in weights if not key.endswith(".json")]
                if truth["kind"] != "delta" or not weights or not truth["changed_elems"]:
                    continue
                with self.subTest(word=word, step=truth["step"]):
                    path = folder / "bucket" / weights[-1]
                    sound = path.read_bytes()
                    path.write_bytes(sound[:-3] + bytes([sound[-3] ^ 0x10]) + sound[-2:])
                    errors = {step.version.step: step.error for step in read(folder, layout, expected)}
                    path.write_bytes(sound)
                    if not truth.get("full_objects"):  # which is used instead of the delta
                        self.assertTrue(errors[truth["step"]])

    def test_cases_hold_what_they_are_for(self):
        folder = temporary(self)
        for word in ("slime-v1-deltas", "grail-v3.1", "grail-old-arithmetic", "trl-v1.0", "prime-rl-update-i64"):
            make(word, folder / word, 1, STEPS)
        widths, dtypes = set(), set()
        for path in (folder / "slime-v1-deltas" / "bucket").rglob("*.safetensors"):
            metadata, entries = read_header(path)
            dtypes.add(entries["__values__"]["dtype"])
            kinds = {param["dtype"] for param in json.loads(metadata["params"])}
            widths |= {param["pos_width"] for param in json.loads(metadata["params"])}
            self.assertEqual(entries["__values__"]["dtype"] == "F32", "float32" in kinds)
            if kinds == {"bfloat16", "float32"}:
                dtypes.add("both")
        self.assertEqual((widths, dtypes), ({2, 4}, {"BF16", "F32", "both"}))
        rows, columns = set(), set()
        for path in (folder / "grail-v3.1" / "bucket").rglob("*.bin.zst"):
            payload = case_grail.zstandard.ZstdDecompressor().decompress(path.read_bytes())
            header = json.loads(payload[4 : 4 + struct.unpack("<I", payload[:4])[0]])
            rows |= {entry["row_dtype"] for entry in header["tensors"]}
            columns |= {entry["col_dtype"] for entry in header["tensors"]}
        self.assertEqual((rows, columns), ({"uint8", "uint16", "int32"}, {"uint16", "int32"}))
        expected = json.loads((folder / "grail-old-arithmetic" / "expected.json").read_text(encoding="utf-8"))
        self.assertTrue(expected["lossy"])
        self.assertTrue(any("trainer_tensors_differ" in step for step in expected["steps"]))
        empty = folder / "trl-v1.0" / "bucket" / "deltas" / "step_000003.safetensors"
        self.assertEqual(set(read_header(empty)[1]), {"__empty_delta__"})
        patch = next((folder / "prime-rl-update-i64").rglob("step_1/*.safetensors"))
        self.assertEqual(read_header(patch)[1]["tensor_0.indices"]["dtype"], "I64")


class Examples(unittest.TestCase):
    """The worked bytes of the format pages: before and after of one tensor."""

    BEFORE = bytes.fromhex("803f00c0003f0000803e404000bec842")
    AFTER = bytes.fromhex("803f01c0003f0000813e404000bec942")

    def states(self):
        return [{"layer.weight": Tensor("BF16", (2, 4), data)} for data in (self.BEFORE, self.AFTER)]

    def test_grail_payloads(self):
        before, after = self.states()
        for version, size, digest in (
            (2, 198, "7a5908144789bc1c21bb65fed8f4281ddf799477097df629cf7c0ecf2cd611ad"),
            (3, 240, "8b97552dd59e9055a7db47a819065739e061dcc984e5f71b1298272bb82a296e"),
            (31, 263, "05d8bed249a89df9b2d428226189f6fdf5484431545f3e0d72cb42c9156d6a2d"),
        ):
            data, _, count = case_grail.payload(version, before, after)
            self.assertEqual((len(data), hashlib.sha256(data).hexdigest(), count), (size, digest, 3))
            self.assertEqual(apply_codec(data, before), after)
        empty, _, _ = case_grail.payload(31, before, before)
        digest = "7e4cacb47a01df589f96e7363cdb50dd874b684df698f5c4eca7d8e61ffb318c"
        self.assertEqual(hashlib.sha256(empty).hexdigest(), digest)
        self.assertEqual(apply_codec(empty, before), before)
        self.assertEqual(apply_codec(b"", before), before)

    def test_grail_hashes(self):
        before, after = self.states()
        for digest in (
            "35301f3daa6550e30d64b4fa5eda4348",
            "b7c74c03f25805ea1252ee3b4324838618376d133740a5ad3e26ec8181653a03",
            "39c2548ce5872f5c4414fc7e8a5b6e944eab177ef0035c1b2fb69f5659ddb29c",
        ):
            self.assertEqual(check_weights(after, digest), after)
            with self.assertRaises(Broken):
                check_weights(before, digest)

    def test_folds(self):
        values = Tensor("BF16", (3,), bytes.fromhex("01c0813ec942"))
        indices = Tensor("I32", (3,), bytes.fromhex("010000000400000007000000"))
        wide = Tensor("I64", (3,), numpy.array([1, 4, 7], "<i8").tobytes())
        for sum_of in (fold, pattern):
            self.assertEqual(sum_of(indices), 2)
            self.assertEqual(sum_of(values), 0xBF89200000000000)
            self.assertEqual(sum_of(indices) ^ sum_of(values), 13801597717425684482)
            self.assertEqual(sum_of(wide), 2)
        # the other pages' tensor: values 2.015625 and 7.03125 at 1 and 6
        values = Tensor("BF16", (2,), bytes.fromhex("0140e140"))
        indices = Tensor("I32", (2,), bytes.fromhex("0100000006000000"))
        for sum_of in (fold, pattern):
            self.assertEqual(sum_of(indices) ^ sum_of(values), 7881299347898375)
            for blob, checksum in (("0100000006000000", 15762598695796743), ("01000400", 15762598695796741)):
                data = bytes.fromhex(blob)
                self.assertEqual(sum_of(Tensor("U8", (len(data),), data)) ^ (sum_of(values) << 1), checksum)
        self.assertEqual(list(positions("indices", 4, bytes.fromhex("0100000006000000"))), [1, 6])
        self.assertEqual(list(positions("deltas", 2, bytes.fromhex("01000400"))), [1, 6])

    def test_folds_of_rare_numbers(self):
        """Both zeros, infinities, the smallest numbers, quiet NaNs: numpy and the makers agree."""
        rare = [0x0000, 0x8000, 0x7F80, 0xFF80, 0x0001, 0x8001, 0x7FC0, 0xFFC1]
        for word in rare:
            tensor = Tensor("BF16", (1,), struct.pack("<H", word))
            self.assertEqual(fold(tensor), pattern(tensor), hex(word))

    def test_containers(self):
        """Lengths that the pages give: a v1.2 delta of 410 bytes, a prime-rl patch, a ModelExpress file of 137."""
        metadata = {
            "format": "sparse_weight_patch",
            "version": "1",
            "sparse": "True",
            "model_version": "2",
            "num_changed_params": "1",
            "total_changed_elements": "3",
            "total_elements": "8",
            "sparsity": "0.625",
            "changed_params": '["layer.weight"]',
        }
        streams = {
            "layer.weight.indices": Tensor("I32", (3,), bytes.fromhex("010000000400000007000000")),
            "layer.weight.values": Tensor("BF16", (3,), bytes.fromhex("01c0813ec942")),
        }
        data = format_safetensors(streams, metadata)
        self.assertEqual((len(data), data[:8].hex()), (410, "8001000000000000"))
        self.assertEqual(parse_safetensors(data), (metadata, streams))
        frame = bytes.fromhex("28b52ffd201081000000000100000000000000000001000000")
        data = format_safetensors({"model.w": Tensor("U8", (25,), frame)}, {"model.w": "2d140583"})
        self.assertEqual(len(data), 137)
        for cut in range(len(data)):
            with self.assertRaises(Broken):
                parse_safetensors(data[:cut])


@unittest.skipUnless(PROGRAM, "DELTASCOPE_BIN is not set")
class Program(unittest.TestCase):
    """deltascope log and digest against the reference, step by step."""

    maxDiff = 2000

    def test_recorded(self):
        for name, folder, layout, expected in recorded():
            with self.subTest(name=name):
                self.check(folder, layout, expected)

    def test_made(self):
        for word, folder, layout, expected in made(self, seeds=SEEDS[:1]):
            with self.subTest(word=word):
                self.check(folder, layout, expected)

    def check(self, folder, layout, expected):
        copy = temporary(self) / "case"
        shutil.copytree(folder, copy)
        set_times(copy, expected)
        source = copy / expected["source"]
        options = ["--base", copy / expected["base"]] if expected.get("base") else []
        log = self.run_program("log", source, "--json", *options)
        self.assertEqual(log["layout"], expected["layout"])
        rows = {(row["epoch"], row["step"]): row for epoch in log["epochs"] for row in epoch["steps"]}
        found = {step.version.step: step.row() for step in read(copy, layout, expected)}
        for truth in expected["steps"]:
            mine = found.get(truth["step"])
            if not truth["restorable"] or mine is None or "error" in mine:
                continue
            address = f"{truth['epoch']}:{truth['step']}"
            row = rows[truth["epoch"], truth["step"]]
            if expected.get("lossy") and not row["restorable"]:
                continue  # differences that were rounded: refusing them is right too
            about = f"step {address}: {row['restore']['reason']}"
            self.assertTrue(row["restorable"], about)
            self.assertEqual((row["kind"], row["base_step"]), (mine["kind"], mine["base_step"]), about)
            if mine["changed_elems"] is not None:
                self.assertEqual(row["changed_elems"], mine["changed_elems"], about)
            digest = self.run_program("digest", f"{source}@{address}", "--json", *options)
            theirs = {tensor.pop("name"): tensor for tensor in digest["tensors"]}
            self.assertEqual(theirs, mine["tensors"], about)

    def run_program(self, *arguments):
        env = dict(os.environ, DELTASCOPE_HOME=str(self.home))
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, env=env, check=False)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stdout[:2000]}{done.stderr[:2000]}")
        return json.loads(done.stdout)

    def setUp(self):
        self.home = temporary(self)


def set_times(folder, expected):
    """The recorded times, or a minute from step to step long ago: a copy that was just made looks like publishing."""
    times = {path: 1_767_225_600 for path in (folder / "bucket").rglob("*") if path.is_file()}
    for number, step in enumerate(expected["steps"]):
        for key in step["objects"] + step.get("full_objects", []):
            times[folder / "bucket" / key] = 1_767_225_600 + 60 * number
    if expected.get("mtimes"):
        recorded_times = json.loads((folder / expected["mtimes"]).read_text(encoding="utf-8"))
        times = {folder / expected["source"] / key: time for key, time in recorded_times.items()}
    for path, time in times.items():
        os.utime(path, (time, time))


def temporary(test) -> pathlib.Path:
    folder = tempfile.mkdtemp(prefix="ds-reference-")
    test.addCleanup(shutil.rmtree, folder)
    return pathlib.Path(folder)


def read(folder, layout, expected):
    base = folder / expected["base"] if expected.get("base") else None
    return read_run(layout, folder / expected["source"], base)


def recorded():
    """(name, folder, layout, expected) of every bucket in tests/golden that a reader here can read."""
    for path in sorted(GOLDEN.glob("*/expected.json")):
        expected = json.loads(path.read_text(encoding="utf-8"))
        layout = expected.get("layout")
        if layout == "dcp" and next((path.parent / expected["source"]).glob("shard-*.safetensors"), None):
            layout = "dcp-hf"
        if layout in READERS:
            yield path.parent.name, path.parent, layout, expected


def made(test, words=tuple(word for word, (layout, _) in CASES.items() if layout in READERS), seeds=SEEDS):
    for word in words:
        for seed in seeds:
            folder = temporary(test) / f"{word}-{seed}"
            make(word, folder, seed, STEPS)
            expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
            yield word, folder, expected["layout"], expected


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
