#!/usr/bin/env python3
"""What is on record of a run is used by every act that reads it: rotted, rewritten and changing objects are refused,
and damage of the program's own databases is told as that and as nothing else."""

import json
import os
import random
import shutil
import time

from support import DAMAGED, GOLDEN, OK, OTHER, E2ETest, main, read_header
from sweep import Sweep

SWEEP = Sweep("e2e.records", 20)
MOMENTS = 12  # of changes in a slice
FLIPS = 15  # in each database in a slice


def objects(folder):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)


def flip(path, at, bit=0):
    """Turns a bit in place."""
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ (1 << bit)]))


def rewrite(path):
    """Leaves another file in the place, as a writer does that renames; its last byte is another one."""
    shutil.copyfile(path, path + ".new")
    flip(path + ".new", os.path.getsize(path) - 1)
    os.replace(path + ".new", path)


def place_of_value(path):
    """Where a file of TRL keeps the first of its values."""
    header, data = read_header(path)
    return data + min(info["data_offsets"][0] for name, info in header.items() if name.endswith(".val"))


class Records(E2ETest):
    def rewritten_of(self, destination):
        with open(os.path.join(destination, "deltascope.provenance.json"), encoding="utf-8") as f:
            return json.load(f)["rewritten"]

    def acts(self, run, *options):
        """Every command that reads the bytes of the last step."""
        out, into = self.path("out"), self.path("into")
        for folder in (out, into):
            shutil.rmtree(folder, ignore_errors=True)
        yield self.run_ds("materialize", run.at(run.last), "-o", out, *run.base_args, *options)
        yield self.run_ds("digest", run.at(run.last), *run.base_args, *options)
        yield self.run_ds("diff", run.at(1), run.at(run.last), *run.base_args, *options)
        yield self.run_ds(
            "publish", "--into", into, "--layout", "trl-v2", "--from", run.at(1), "--to", run.at(run.last), *options
        )

    def test_a_rewritten_object_is_refused_by_every_act_until_it_is_accepted(self):
        run = self.make_run(tensors=3, elements=4000, steps=4, density=0.02)
        self.ok("verify", run.source)
        key = os.path.join("deltas", "step_000003.safetensors")
        path = os.path.join(run.source, key)
        flip(path, place_of_value(path))
        for outcome in self.acts(run):
            self.refused(outcome, code=DAMAGED, word="DS-REWRITTEN")
            self.assertIn("step_000003", outcome.err)
            self.assertIn("--accept-rewritten", outcome.err)
        self.assertFalse(os.path.exists(self.path("out")))
        for outcome in self.acts(run, "--accept-rewritten", "--json"):
            self.assertEqual(outcome.code, OK, str(outcome))
            self.assertEqual(outcome.json()["rewritten"], [key], str(outcome))
        self.assertEqual(self.rewritten_of(self.path("out")), [key])
        for outcome in self.acts(run):
            self.refused(outcome, code=DAMAGED, word="DS-REWRITTEN")
        self.assertEqual(self.run_ds("verify", run.source).code, DAMAGED)
        self.ok("verify", run.source, "--accept-rewritten")
        for outcome in self.acts(run, "--json"):
            self.assertEqual(outcome.code, OK, str(outcome))
            self.assertEqual(outcome.json()["rewritten"], [])

    def test_a_rewritten_base_is_refused(self):
        run = self.make_run(layout="slime-v2", tensors=3, elements=4000, steps=3, density=0.02)
        self.ok("verify", run.source, *run.base_args)
        weights = os.path.join(run.base, "model.safetensors")
        flip(weights, os.path.getsize(weights) - 1)
        self.assertEqual(self.run_ds("verify", run.source, *run.base_args).code, DAMAGED)
        self.refused(self.run_ds("digest", run.at(3), *run.base_args), code=DAMAGED, word="DS-REWRITTEN")

    def test_looking_at_a_run_does_not_change_why_it_is_refused(self):
        run = self.make_run(layout="slime-v2", tensors=3, elements=4000, steps=3, density=0.02)
        self.ok("verify", run.source, *run.base_args)
        weights = os.path.join(run.base, "model.safetensors")
        shutil.copyfile(weights, self.path("kept"))
        rewrite(weights)
        for look in range(3):
            outcome = self.run_ds("materialize", run.at(3), "-o", self.path("out"), *run.base_args)
            self.refused(outcome, code=DAMAGED, word="DS-REWRITTEN")
            self.assertIn("model.safetensors", outcome.err)
            self.ok("log", run.source, *run.base_args)
            found = self.run_ds("verify", run.source, *run.base_args, "--level", "3", "--json")
            self.assertEqual(found.code, DAMAGED, str(found))
            self.assertEqual({step["result"] for step in found.json()["steps"]}, {"unverified"})
        os.replace(self.path("kept"), weights)
        self.ok("log", run.source, *run.base_args)
        self.ok("materialize", run.at(3), "-o", self.path("out"), *run.base_args)
        self.ok("verify", run.source, *run.base_args, "--level", "3")

    def test_the_log_offers_no_step_that_is_refused(self):
        run = self.copy_of_golden("trl-v2-gap", "run")
        self.ok("verify", run)
        newest = self.ok_json("log", run)["latest"]
        self.ok("digest", f"{run}@{newest}")
        key = os.path.join("anchors", "step_000010.safetensors")
        kept = self.path("kept")
        shutil.copyfile(os.path.join(run, key), kept)
        rewrite(os.path.join(run, key))
        self.assertEqual(self.run_ds("verify", run).code, DAMAGED)
        self.refused(self.run_ds("digest", f"{run}@{newest}"), code=DAMAGED, word="DS-REWRITTEN")
        offered = self.ok_json("log", run)["latest"]
        self.assertLess(offered, newest)
        self.ok("digest", f"{run}@{offered}")
        text = self.ok("log", run)
        header, rows = text.out.split("\n\n", 1)
        self.assertIn(f"newest restorable step {offered}", header)
        self.assertIn(key, header)
        self.assertIn("Step 10 is no longer what was first read", header)
        self.assertIn(f"materialize {run}@{offered} ", text.err)
        os.replace(kept, os.path.join(run, key))
        self.ok("verify", run)
        self.assertEqual(self.ok_json("log", run)["latest"], newest)
        rewrite(os.path.join(run, key))
        self.ok("verify", run, "--accept-rewritten")
        self.assertEqual(self.ok_json("log", run)["latest"], newest)

    def test_the_log_of_a_run_on_a_rewritten_base_offers_nothing(self):
        run = self.make_run(layout="slime-v2", tensors=3, elements=4000, steps=3, density=0.02)
        self.ok("verify", run.source, *run.base_args)
        self.assertEqual(self.ok_json("log", run.source, *run.base_args)["latest"], run.last)
        rewrite(os.path.join(run.base, "model.safetensors"))
        self.assertEqual(self.run_ds("verify", run.source, *run.base_args).code, DAMAGED)
        self.assertIsNone(self.ok_json("log", run.source, *run.base_args)["latest"])
        header = self.ok("log", run.source, *run.base_args).out.split("\n\n", 1)[0]
        self.assertIn("model.safetensors", header)
        self.assertIn("no longer what was first read", header)

    def test_a_rewritten_anchor_is_not_sampled(self):
        run = self.make_run(tensors=3, elements=16384, steps=3)
        sample = ["cost", run.source, "--lr", "1e-6"]
        self.ok("verify", run.source)
        self.ok(*sample)
        anchor = os.path.join(run.source, "anchors", "step_000001.safetensors")
        flip(anchor, os.path.getsize(anchor) - 1)
        self.refused(self.run_ds(*sample), code=DAMAGED, word="DS-REWRITTEN")
        self.ok("cost", run.source)  # reads no weights
        self.ok("verify", run.source, "--accept-rewritten")
        self.ok(*sample)

    def test_a_file_of_a_run_is_compared_with_the_records_of_the_run(self):
        run = self.make_run(tensors=3, elements=4000, steps=3)
        anchor = os.path.join(run.source, "anchors", "step_000001.safetensors")
        free = self.path("free.safetensors")
        shutil.copyfile(anchor, free)
        acts = [["digest", anchor], ["diff", free, anchor], ["diff", anchor, free]]
        for act in acts:
            self.ok(*act)  # nothing is on record
        self.ok("verify", run.source)
        shutil.copyfile(free, anchor)  # the same bytes under another identity
        for act in acts:
            self.ok(*act)
        flip(anchor, os.path.getsize(anchor) - 1)
        for act in acts:
            self.refused(self.run_ds(*act), code=DAMAGED, word="DS-REWRITTEN")
        accepted = self.ok_json(*acts[0], "--accept-rewritten")
        self.assertEqual(accepted["rewritten"], ["file://" + anchor])
        into = ["publish", "--into", self.path("into"), "--layout", "trl-v2", "--from", free, "--to", anchor]
        self.refused(self.run_ds(*into), code=DAMAGED, word="DS-REWRITTEN")
        self.ok("verify", run.source, "--accept-rewritten")
        self.ok(*acts[0])
        self.assertFalse(self.ok_json(*acts[1])["equal"], "now that is another state")
        flip(free, os.path.getsize(free) - 1)
        self.ok("digest", free)  # of which nothing is on record

    def copy_of_golden(self, case, name):
        shutil.copytree(os.path.join(GOLDEN, case, "bucket"), self.path(name))
        return self.path(name)

    def acts_on_folder(self, folder, other):
        """Every command that reads the bytes of a checkpoint's folder; `other`: a state that it can be compared with."""
        out, into, begun = self.path("out"), self.path("into"), self.path("begun")
        for made in (out, into, begun):
            shutil.rmtree(made, ignore_errors=True)
        with open(os.path.join(folder, "model.safetensors.index.json"), encoding="utf-8") as f:
            tensor = min(json.load(f)["weight_map"])
        yield self.run_ds("digest", folder)
        yield self.run_ds("diff", other, folder)
        yield self.run_ds("diff", folder, other)
        yield self.run_ds("stats", folder, tensor)
        yield self.run_ds("materialize", folder, "-o", out)
        yield self.run_ds("publish", "--into", into, "--layout", "trl-v2", "--from", other, "--to", folder)
        yield self.run_ds("branch", folder, "--into", begun, "--yes")

    def test_a_folder_of_a_run_is_compared_with_the_records_of_the_run(self):
        run, beside = self.copy_of_golden("hf-sharded", "run"), self.copy_of_golden("hf-sharded", "beside")
        folder, other = os.path.join(run, "checkpoint-20"), os.path.join(run, "checkpoint-10")
        weights = os.path.join(folder, "model-00001-of-00002.safetensors")
        self.ok("verify", run)
        self.ok("verify", beside)
        same = os.path.join(other, os.path.basename(weights))
        shutil.copyfile(same, same + ".copy")
        os.replace(same + ".copy", same)  # the same bytes under another identity
        for outcome in self.acts_on_folder(other, os.path.join(beside, "checkpoint-20")):
            self.assertEqual(outcome.code, OK, str(outcome))
        rewrite(weights)
        shutil.copytree(folder, self.path("elsewhere"))
        for times in range(2):
            for outcome in self.acts_on_folder(folder, other):
                self.refused(outcome, code=DAMAGED, word="DS-REWRITTEN")
            self.refused(self.run_ds("digest", weights), code=DAMAGED, word="DS-REWRITTEN")
            self.assertIn("DS-REWRITTEN", self.run_ds("log", folder).out)
            found = self.run_ds("verify", folder, "--json")  # looking at it accepts nothing
            self.assertEqual(found.code, DAMAGED, str(found))
            self.assertNotEqual(found.json()["result"], "first_sight")
            self.refused(self.run_ds("digest", f"{run}@20"), code=DAMAGED, word="DS-REWRITTEN")
            self.assertEqual(self.run_ds("verify", run).code, DAMAGED)
        for outcome in self.acts_on_folder(os.path.join(beside, "checkpoint-20"), os.path.join(beside, "checkpoint-10")):
            self.assertEqual(outcome.code, OK, str(outcome))
        for outcome in self.acts_on_folder(self.path("elsewhere"), other):
            self.assertEqual(outcome.code, OK, str(outcome))
        self.ok("verify", folder, "--accept-rewritten")
        for outcome in self.acts_on_folder(folder, other):
            self.assertEqual(outcome.code, OK, str(outcome))
        self.ok("digest", f"{run}@20")
        self.ok("verify", run)

    def test_a_run_is_compared_with_the_records_of_its_folders(self):
        run = self.copy_of_golden("hf-sharded", "run")
        folder = os.path.join(run, "checkpoint-20")
        self.ok("verify", folder)
        self.ok("digest", f"{run}@20")
        rewrite(os.path.join(folder, "model-00001-of-00002.safetensors"))
        self.assertIn("DS-REWRITTEN", self.run_ds("log", run).out)
        for times in range(2):
            self.refused(self.run_ds("digest", f"{run}@20"), code=DAMAGED, word="DS-REWRITTEN")
            self.assertEqual(self.run_ds("verify", run).code, DAMAGED)
        self.ok("digest", f"{run}@10")
        self.ok("verify", run, "--accept-rewritten")
        self.ok("digest", f"{run}@20")
        self.ok("digest", folder)
        self.ok("verify", folder)

    def test_a_base_that_is_a_step_of_a_run_is_compared_with_the_records_of_the_run(self):
        run = self.make_run(layout="slime-v2", tensors=3, elements=4000, steps=3, density=0.02)
        trained = self.path("trained")
        shutil.copytree(run.base, os.path.join(trained, "checkpoint-1"))
        base = ["--base", os.path.join(trained, "checkpoint-1")]
        self.ok("verify", trained)
        self.ok("digest", run.at(3), *base)
        rewrite(os.path.join(trained, "checkpoint-1", "model.safetensors"))
        outcome = self.run_ds("digest", run.at(3), *base)
        self.refused(outcome, code=DAMAGED, word="DS-REWRITTEN")
        self.assertIn("checkpoint-1/model.safetensors", outcome.err)
        self.ok("digest", run.at(3), *run.base_args)

    def test_an_adapter_of_a_run_is_compared_with_the_records_of_the_run(self):
        run = self.copy_of_golden("trl-adapter", "run")
        folder = os.path.join(run, "out", ".vllm_lora", "trl-policy-v6")
        self.ok("verify", run)
        self.ok("diff", folder, f"{run}@5")
        rewrite(os.path.join(folder, "adapter_model.safetensors"))
        for side in (f"{run}@6", folder):
            self.refused(self.run_ds("diff", side, f"{run}@5"), code=DAMAGED, word="DS-REWRITTEN")
        self.assertEqual(self.run_ds("verify", folder).code, DAMAGED)
        self.refused(self.run_ds("diff", folder, f"{run}@5"), code=DAMAGED, word="DS-REWRITTEN")
        self.ok("diff", os.path.join(run, "out", ".vllm_lora", "trl-policy-v7"), f"{run}@5")

    def test_a_copy_with_equal_bytes_is_welcome(self):
        run = self.make_run(tensors=3, elements=4000, steps=4, density=0.02)
        self.ok("verify", run.source)
        for n, path in enumerate(objects(run.source)):
            if n % 3 == 0:
                os.chmod(path, 0o600)
            elif n % 3 == 1:
                os.link(path, self.path(f"link{n}"))
            else:
                shutil.copyfile(path, path + ".copy")
                os.replace(path + ".copy", path)
        self.ok("materialize", run.at(run.last), "-o", self.path("out"))
        self.assert_checkpoint(self.path("out"), run.truth(run.last))

    @SWEEP
    def test_an_object_that_changes_in_place_during_a_rebuild(self, number):
        """The result is the state of before, that of after, or none; with a first sight that of before, or none."""
        rng = random.Random(number)
        run = self.make_run(tensors=6, elements=(1 << 20) + 4321, steps=6, density=0.01, seed=number + 1)
        out = self.path("out")
        command = ["materialize", run.at(run.last), "-o", out]
        seconds = self.ok(*command).seconds
        shutil.rmtree(out)
        known = number % 2 == 1
        if known:
            self.ok("verify", run.source)
        payload = [path for path in objects(run.source) if path.endswith(".safetensors")]
        refused = 0
        for n in range(MOMENTS):
            path = rng.choice(payload)
            size = os.path.getsize(path)
            at = size - 1 - rng.randrange(size // 3)  # values, not headers
            with open(path, "rb") as f:
                content = f.read()
            with self.subTest(change=n, file=os.path.basename(path), at=at):
                process = self.start(*command)
                time.sleep(rng.uniform(0, seconds))
                flip(path, at, rng.randrange(8))
                out_text, err = process.communicate(timeout=120)
                if process.returncode == OK:
                    digest = self.run_ds("digest", out, "--json")
                    self.assertEqual(digest.code, OK, str(digest))
                    tensors = {t["name"]: t["xxh3_128"] for t in digest.json()["tensors"]}
                    before = {name: t["xxh3_128"] for name, t in run.truth(run.last).items()}
                    if tensors != before:
                        self.assertFalse(known, "bytes that differ from those on record were used")
                        after = self.run_ds("digest", run.at(run.last), "--json")
                        if after.code != OK:  # the other bytes set bits that a later step assigns once more
                            self.refused(after, word="DS-CHAIN-GAP")
                        else:
                            now = {t["name"]: t["xxh3_128"] for t in after.json()["tensors"]}
                            self.assertEqual(tensors, now, "a mix")
                    shutil.rmtree(out)
                else:
                    refused += 1
                    self.assertIn(process.returncode, (DAMAGED, 7), err)
                    self.assertFalse(os.path.exists(out))
            with open(path, "r+b") as f:  # in place, as it was
                f.write(content)
            if known:
                self.ok("verify", run.source)
        print(f"{refused} of {MOMENTS} changes were refused", flush=True)

    def made_databases(self):
        run = self.make_run(tensors=2, elements=2000, steps=5, density=0.02)
        self.ok("verify", run.source)
        self.ok("log", run.source)
        kept = self.path("kept")
        shutil.copytree(self.home, kept)
        return run, kept

    def ask(self, run):
        """Commands that use both databases; whatever they say, it is not a finding about a bucket that is sound."""
        out = self.path("out")
        shutil.rmtree(out, ignore_errors=True)
        said = []
        for command in (
            ["verify", run.source, "--json"],
            ["materialize", run.at(run.last), "-o", out],
            ["log", run.source, "--json"],
        ):
            outcome = self.run_ds(*command)
            said.append(outcome.code)
            damage = ("DS-DIGEST", "DS-MALFORMED", "DS-HOSTILE", "DS-TRUNCATED", '"damaged"')
            for word in ("DS-REWRITTEN", "DS-CHAIN-GAP", *damage):
                self.assertNotIn(word, outcome.out + outcome.err, str(outcome))
            if outcome.code != OK:
                self.refused(outcome) if not outcome.out else self.assertEqual(outcome.code, OTHER, str(outcome))
                self.assertIn("records.sqlite", outcome.out + outcome.err, str(outcome))
        if os.path.exists(out):
            self.assert_checkpoint(out, run.truth(run.last))
        return said

    def database(self, name):
        for path in objects(self.home):
            if os.path.basename(path) == name:
                return path
        raise AssertionError(f"no {name} in {self.home}")

    @SWEEP
    def test_flipped_bits_in_the_databases(self, number):
        rng = random.Random(number)
        run, kept = self.made_databases()
        for name in ("records.sqlite", "catalog.sqlite"):
            told = 0
            for n in range(FLIPS):
                shutil.rmtree(self.home)
                shutil.copytree(kept, self.home)
                path = self.database(name)
                with open(path, "rb") as f:
                    used = [i for i, byte in enumerate(f.read()) if byte != 0]  # most of a page is empty
                at, bit = rng.choice(used), rng.randrange(8)
                flip(path, at, bit)
                with self.subTest(database=name, flip=n, at=at, bit=bit):
                    told += any(code != OK for code in self.ask(run))
            print(f"{name}: {told} of {FLIPS} flips were told", flush=True)
            if name == "records.sqlite":
                self.assertGreater(told, FLIPS // 4, "the flips hit nothing that means anything")

    def test_damaged_records_are_told_and_never_done_without(self):
        run, _ = self.made_databases()
        path = self.database("records.sqlite")
        with open(path, "r+b") as f:
            f.write(b"\0" * 200)
        outcome = self.run_ds("verify", run.source)
        self.refused(outcome, code=OTHER, word="DS-CATALOG")
        self.assertIn(path, outcome.err)
        digest = self.ok_json("digest", run.at(run.last))
        self.assert_digest(digest, run.truth(run.last))
        self.assertEqual([(n["code"], n["where"]) for n in digest["notices"]], [("DS-CATALOG", path)])
        self.assertIn(path, self.ok("materialize", run.at(run.last), "-o", self.path("out")).out)
        self.ok("log", run.source)
        self.assertIn(path, self.run_ds("doctor").out)
        os.rename(path, path + ".aside")
        self.refused(self.run_ds("digest", run.at(run.last)), code=OTHER, word="DS-CATALOG")
        self.assertEqual(self.run_ds("verify", run.source).code, OTHER)
        self.ok("verify", run.source, "--accept-rewritten")
        self.ok("verify", run.source)
        self.ok("digest", run.at(run.last))


if __name__ == "__main__":
    main()
