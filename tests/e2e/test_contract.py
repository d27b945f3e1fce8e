#!/usr/bin/env python3
"""The command line's contract over the golden buckets: what `log`, `digest`, `materialize`, `diff`, `show` and `verify`
say of sound buckets, and how unsound ones are refused. Golden buckets were written by the trainers' own code.

DELTASCOPE_GOLDEN names another folder of cases."""

import hashlib
import json
import os
import re
import shutil
import subprocess

from support import (
    BIN,
    CONFLICT,
    DAMAGED,
    GAP,
    GOLDEN,
    NOT_FOUND,
    OK,
    USAGE,
    E2ETest,
    log_steps,
    main,
    peak_of,
    read_checkpoint,
    tree_state,
)

SOUND = {"verified", "consistent", "first_sight", "unverified"}

# How the versions that cannot be rebuilt are refused: exit code and possible words.
REFUSALS = {
    ("slime-v2-badchecksum", 3): (DAMAGED, {"DS-DIGEST"}),
    ("slime-v2-badchecksum", 4): (DAMAGED, {"DS-DIGEST"}),
    ("slime-v2-badchecksum", 5): (DAMAGED, {"DS-DIGEST"}),
    ("slime-v2-gap-in-chain", 5): (GAP, {"DS-CHAIN-GAP"}),
    ("slime-v2-gap-in-chain", 6): (GAP, {"DS-CHAIN-GAP"}),
    ("slime-v2-noindex", 4): (GAP, {"DS-UNFINISHED"}),
    ("slime-v2-wrongbase", 1): (GAP, {"DS-BASE-MISMATCH"}),
    ("slime-v2-wrongbase", 2): (GAP, {"DS-BASE-MISMATCH"}),
    ("slime-v2-wrongbase", 3): (GAP, {"DS-BASE-MISMATCH"}),
    ("trl-v2-gap-in-chain", 7): (GAP, {"DS-CHAIN-GAP"}),
    ("trl-v2-gap-in-chain", 8): (GAP, {"DS-CHAIN-GAP"}),
    ("trl-v2-gap-in-chain", 9): (GAP, {"DS-CHAIN-GAP"}),
    ("trl-v2-restart", 7): (GAP, {"DS-CHAIN-GAP"}),
    ("trl-v2-restart", 8): (GAP, {"DS-CHAIN-GAP"}),
    ("trl-v2-restart", 9): (GAP, {"DS-CHAIN-GAP"}),
    ("trl-v2-truncated", 13): (DAMAGED, {"DS-TRUNCATED"}),
}

# The words that stand for a problem of expected.json.
PROBLEM_WORDS = {
    "gap": {"DS-CHAIN-GAP", "DS-UNPROVEN"},
    "partial-anchor": {"DS-PARTIAL-ANCHOR"},
    "drift": {"DS-ANCHOR-DRIFT", "DS-NOOP"},  # small drift only shows as writes of what was there already
    "truncated": {"DS-TRUNCATED"},
    "restart": {"DS-FORK"},
    "stale-tail": {"DS-FORK", "DS-CHAIN-GAP"},
    "checksum-mismatch": {"DS-DIGEST"},
    "duplicate-name": {"DS-DUPLICATE-NAME"},
    "unfinished": {"DS-UNFINISHED"},
    "wrong-base": {"DS-BASE-MISMATCH", "DS-DIGEST"},
}


class Case:
    def __init__(self, name, folder):
        shutil.copytree(os.path.join(GOLDEN, name), folder)
        archive = os.path.join(folder, "bucket.tar.zst")
        if os.path.exists(archive):
            subprocess.run(["tar", "--zstd", "-xf", archive, "-C", folder], check=True)
        mtimes = os.path.join(folder, "mtimes.json")
        if os.path.exists(mtimes):
            with open(mtimes, encoding="utf-8") as f:
                for rel, seconds in json.load(f).items():
                    path = os.path.join(folder, rel)
                    if not os.path.exists(path):
                        path = os.path.join(folder, "bucket", rel)
                    os.utime(path, (seconds, seconds))
        with open(os.path.join(folder, "expected.json"), encoding="utf-8") as f:
            self.expected = json.load(f)
        self.name = name
        self.source = os.path.join(folder, self.expected["source"])
        self.base = ["--base", os.path.join(folder, self.expected["base"])] if self.expected.get("base") else []
        self.steps = {(s.get("epoch", 0), s["step"]): s for s in self.expected.get("steps", [])}
        self.good = [
            k for k in sorted(self.steps) if self.steps[k].get("restorable", True) and "tensors" in self.steps[k]
        ]
        self.bad = [k for k in sorted(self.steps) if not self.steps[k].get("restorable", True)]

    def at(self, key):
        return f"{self.source}@{key[0]}:{key[1]}"

    def picks(self):
        return sorted({self.good[0], self.good[len(self.good) // 2], self.good[-1]}) if self.good else []


class ContractBase(E2ETest):
    def open_case(self, name):
        case = Case(name, self.path("case"))
        self.addCleanup(self.check_unchanged, case.source, tree_state(self.path("case")))
        return case

    def check_unchanged(self, _, before):
        # Cleanups run in reverse order, so the folder still stands.
        self.assertEqual(before, tree_state(self.path("case")), "the source was changed")

    def assert_error_document(self, outcome, case=None):
        """With --json an error is one document on stdout, and the same words stand on stderr."""
        error = outcome.json()["error"]
        self.assertLessEqual({"code", "where", "step", "text", "remedy"}, set(error), str(outcome))
        self.assertRegex(error["code"], r"^DS-[A-Z-]+$")
        self.assertIn(error["code"], outcome.err)
        self.assertTrue(error["text"].strip() and error["remedy"].strip(), str(outcome))
        if case is not None:
            self.assertTrue(error["where"], f"the refusal names no object: {outcome}")
            self.assertIsInstance(error["step"], int, f"the refusal names no step: {outcome}")
            self.assertIn(str(error["step"]), outcome.err)
        return error

    # --- one aspect each; a test per case is made below --------------------------------------------------------------

    def check_log(self, name):
        case = self.open_case(name)
        log = self.ok_json("log", case.source, *case.base)
        self.assertLessEqual({"source", "layout", "run", "latest", "epochs", "problems"}, set(log))
        self.assertEqual(log["layout"], case.expected["layout"])
        seen = log_steps(log)
        self.assertEqual(set(seen), set(case.steps), "versions")
        for key, want in case.steps.items():
            got = seen[key]
            fields = ["kind", "base_step", "changed_elems", "total_elems", "wire_bytes", "restorable"]
            if not want.get("restorable", True):
                fields = ["restorable"]
            for field in fields:
                if field in want and want[field] != "any":
                    self.assertEqual(got[field], want[field], f"{key} {field}")
            self.assertLessEqual(
                {"state", "published_at", "restore", "objects", "changed_vs_prev_elems", "changed_frac"}, set(got)
            )
            if want.get("restorable", True) and want["kind"] == "anchor" and got["changed_vs_prev_elems"] is not None:
                self.assertEqual(
                    got["changed_vs_prev_elems"], want.get("differs_from_previous_state", got["changed_vs_prev_elems"])
                )
            if isinstance(want.get("objects"), list):
                keys = [o["key"] if isinstance(o, dict) else o for o in got["objects"]]
                # What an interrupted atomic write left behind is no object of any version.
                below = case.expected["source"].removeprefix("bucket").strip("/")
                wanted = [k.removeprefix(f"{below}/") for k in want["objects"] if not k.endswith(".tmp")]
                self.assertEqual(sorted(keys), sorted(wanted), f"{key} objects")
        again = self.ok_json("log", case.source, *case.base)
        self.assertEqual(again["epochs"], log["epochs"], "a second look says something else")

    def check_digests(self, name):
        case = self.open_case(name)
        for key in case.good:
            with self.subTest(version=key):
                document = self.ok_json("digest", case.at(key), *case.base)
                got = {
                    t["name"]: {f: t[f] for f in ("dtype", "shape", "xxh3_128", "sha256")} for t in document["tensors"]
                }
                want = {
                    n: {f: t[f] for f in ("dtype", "shape", "xxh3_128", "sha256")}
                    for n, t in case.steps[key]["tensors"].items()
                }
                self.assertEqual(got, want)
                self.assertRegex(document["root"], r"^[0-9a-f]+$")

    def check_materialize(self, name):
        case = self.open_case(name)
        for key in case.picks():
            with self.subTest(version=key):
                folder = self.path(f"out-{key[0]}-{key[1]}")
                os.mkdir(folder)
                out = os.path.join(folder, "checkpoint")
                document = self.ok_json("materialize", case.at(key), "-o", out, *case.base)
                self.assertLessEqual({"step", "path", "bytes", "root", "tensors", "seconds"}, set(document))
                self.assertEqual((document["step"], document["tensors"]), (key[1], len(case.steps[key]["tensors"])))
                self.assertEqual(os.listdir(folder), ["checkpoint"], "leftovers beside the result")
                truth = {t: (v["dtype"], v["shape"], v["sha256"]) for t, v in case.steps[key]["tensors"].items()}
                self.assertEqual(read_checkpoint(out, hashlib.sha256), truth)
                with open(os.path.join(out, "deltascope.provenance.json"), encoding="utf-8") as f:
                    self.assertIsInstance(json.load(f), dict)
                root = self.ok_json("digest", out)["root"]
                self.assertEqual(root, document["root"], "the root of the result is not the root that was announced")
                self.assertEqual(root, self.ok_json("digest", case.at(key), *case.base)["root"])
                self.assertTrue(self.ok_json("diff", case.at(key), out, *case.base)["equal"])

    def check_diff(self, name):
        case = self.open_case(name)
        ordered = sorted(case.steps)
        for before, key in zip(ordered, ordered[1:]):
            want = case.steps[key]
            if before[0] != key[0] or before not in case.good or key not in case.good:
                continue
            count = want["changed_elems"] if want["kind"] != "anchor" else want.get("differs_from_previous_state")
            if want.get("base_step", before[1]) not in (None, before[1]) or not isinstance(count, int):
                continue
            with self.subTest(version=key):
                document = self.ok_json("diff", case.at(before), case.at(key), *case.base)
                self.assertEqual(document["elements_different"], count)
                self.assertEqual(document["equal"], count == 0)
                self.assertEqual(sum(t["elements_different"] for t in document["tensors"]), count)
                self.assertEqual(document["elements_total"], want["total_elems"])
                self.assertEqual((document["only_in_a"], document["only_in_b"]), ([], []))

    def check_verify(self, name):
        case = self.open_case(name)
        log = self.ok_json("log", case.source, *case.base)
        outcome = self.run_ds("verify", case.source, "--level", 3, *case.base, "--json")
        document = outcome.json()
        self.assertLessEqual({"level", "steps", "result"}, set(document), str(outcome))
        problems = (
            [p for s in document["steps"] for p in s["problems"]] + document.get("problems", []) + log["problems"]
        )
        words = {p["code"] for p in problems}
        must = [p for p in case.expected.get("problems", []) if p.get("must", True)]
        for problem in must:
            self.assertTrue(
                PROBLEM_WORDS.get(problem["code"], words) & words, f"{problem['code']} is not among {sorted(words)}"
            )
        if not case.expected.get("problems"):
            self.assertIn(document["result"], SOUND)
            self.assertEqual(outcome.code, OK, str(outcome))
            # Of the newest version a publisher may say that nothing changed; nothing vouches for that.
            self.assertFalse([p for p in problems if "says that nothing changed" not in p["text"]])
        if case.bad:
            self.assertNotEqual(outcome.code, OK)
            self.assertIn(document["result"], {"incomplete", "damaged"})

    def check_refusals(self, name):
        case = self.open_case(name)
        folder = self.path("refused")
        os.mkdir(folder)
        for key in case.bad:
            code, words = REFUSALS.get((name, key[1]), (None, None))
            with self.subTest(version=key):
                for command in (
                    ["materialize", case.at(key), "-o", os.path.join(folder, "checkpoint")],
                    ["digest", case.at(key)],
                ):
                    outcome = self.run_ds(*command, *case.base)
                    self.refused(outcome, code, words)
                    outcome = self.run_ds(*command, *case.base, "--json")
                    self.refused(outcome, code, words)
                    self.assert_error_document(outcome, case)
                    self.assertEqual(os.listdir(folder), [], "a refused act wrote something")

    def check_show(self, name):
        case = self.open_case(name)
        if not case.good:
            self.skipTest("nothing in it can be rebuilt")
        key = case.good[-1]
        document = self.ok_json("show", case.at(key), *case.base)
        self.assertEqual(document["step"], key[1])
        want = case.steps[key]
        got = {t["name"]: (t["dtype"], t["shape"]) for t in document["tensors"]}
        truth = {n: (t["dtype"], t["shape"]) for n, t in want["tensors"].items()}
        self.assertLessEqual(got.items(), truth.items())
        # Where only the full form of a step is left, its header is all that tells what changed, and not by tensor.
        counted = [t["changed_elems"] for t in document["tensors"]]
        if want["kind"] == "delta" and (counted[0] is not None or "full_objects" not in want):
            self.assertEqual(sum(t["changed_elems"] for t in document["tensors"]), want["changed_elems"])

    def check_hostile(self, name):
        case = self.open_case(name)
        for file, item in case.expected["files"].items():
            with self.subTest(file=file, what=item["text"]):
                path = os.path.join(case.source, file)
                outcome = peak_of([BIN, "digest", path], self.environment(), 20)
                if item["valid"]:
                    self.assertEqual(outcome.code, OK, str(outcome))
                    continue
                self.refused(outcome)
                self.assertIn(file, outcome.err)
                self.assertLess(outcome.seconds, 5)  # the goal is one, on a machine that does nothing else
                self.assertLess(outcome.peak_kib, 64 * 1024)
                self.assertNotRegex(outcome.err, r"[\x00-\x08\x0b-\x1f\x7f]", "control characters reach the terminal")


class GoldenCases(ContractBase):
    """One test per golden bucket and aspect; add_cases() makes them."""


def add_cases():
    if not os.path.isdir(GOLDEN):
        return
    for name in sorted(os.listdir(GOLDEN)):
        path = os.path.join(GOLDEN, name, "expected.json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            hostile = "files" in json.load(f)
        aspects = ["hostile"] if hostile else ["log", "digests", "materialize", "diff", "verify", "refusals", "show"]
        for aspect in aspects:

            def test(self, name=name, aspect=aspect):
                getattr(self, f"check_{aspect}")(name)

            setattr(GoldenCases, f"test_{re.sub('[^a-z0-9]', '_', name.lower())}_{aspect}", test)


class AddressesAndErrors(ContractBase):
    def test_the_golden_folder_is_not_empty(self):
        self.assertTrue(
            os.path.isdir(GOLDEN)
            and any(os.path.exists(os.path.join(GOLDEN, n, "expected.json")) for n in os.listdir(GOLDEN))
        )

    def test_latest_and_anchor_and_steps_back(self):
        run = self.make_run(steps=12, anchor_every=5)
        for address, step in (("latest", 12), ("latest~3", 9), ("anchor", 10), ("0:7", 7), ("7", 7)):
            with self.subTest(address=address):
                self.assert_digest(self.ok_json("digest", run.at(address)), run.truth(step))
        log = self.ok_json("log", run.source)
        self.assertEqual(log["latest"]["step"] if isinstance(log["latest"], dict) else log["latest"], 12)

    def test_a_version_that_is_not_there(self):
        run = self.make_run()
        self.refused(self.run_ds("digest", run.at(99)), NOT_FOUND, "DS-NOT-FOUND")
        outcome = self.run_ds("materialize", run.at(99), "-o", self.path("out"), "--json")
        self.refused(outcome, NOT_FOUND, "DS-NOT-FOUND")
        self.assert_error_document(outcome)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_a_source_that_is_not_there(self):
        outcome = self.run_ds("log", self.path("nothing"), "--json")
        self.refused(outcome, NOT_FOUND, "DS-NOT-FOUND")
        self.assert_error_document(outcome)

    def test_a_folder_that_is_no_run(self):
        os.mkdir(self.path("empty"))
        outcome = self.run_ds("log", self.path("empty"), "--json")
        self.refused(outcome, word="DS-LAYOUT")
        self.assert_error_document(outcome)

    def test_wrong_usage(self):
        for arguments in (
            ["no-such-command"],
            ["log"],
            ["log", self.work, "--no-such-option"],
            ["materialize", "x@1"],
            ["verify", self.work, "--level", "9"],
        ):
            with self.subTest(arguments=arguments):
                outcome = self.run_ds(*arguments)
                self.assertEqual(outcome.code, USAGE, str(outcome))
                self.assertEqual(outcome.out, "")
                self.assertTrue(outcome.err.strip())

    def test_a_near_miss_is_suggested(self):
        outcome = self.run_ds("materialise", "x@1")
        self.assertEqual(outcome.code, USAGE)
        self.assertIn("materialize", outcome.err)

    def test_an_existing_destination_is_left_alone(self):
        run = self.make_run()
        out = self.path("there")
        os.mkdir(out)
        with open(os.path.join(out, "precious"), "w", encoding="utf-8") as f:
            f.write("mine")
        before = tree_state(out)
        self.refused(self.run_ds("materialize", run.at(3), "-o", out), CONFLICT, "DS-EXISTS")
        self.assertEqual(before, tree_state(out))
        os.symlink("nowhere", self.path("dangling"))
        self.refused(self.run_ds("materialize", run.at(3), "-o", self.path("dangling")), CONFLICT, "DS-EXISTS")
        self.assertTrue(os.path.islink(self.path("dangling")))
        self.assertFalse(os.path.exists(self.path("nowhere")))

    def test_a_missing_parent_folder(self):
        run = self.make_run()
        self.refused(self.run_ds("materialize", run.at(3), "-o", self.path("no", "such", "folder")), NOT_FOUND)
        self.assertFalse(os.path.exists(self.path("no")))

    def test_a_chain_without_its_base(self):
        run = self.make_run(layout="slime-v2", steps=3)
        log = self.ok_json("log", run.source)
        self.assertEqual([s["restorable"] for s in log_steps(log).values()], [False] * 3)
        outcome = self.run_ds("digest", run.at(2), "--json")
        self.refused(outcome, GAP, "DS-BASE-MISSING")
        self.assertIn("--base", self.assert_error_document(outcome)["remedy"])

    def test_ls_foretells_what_the_loss_of_an_object_costs(self):
        case = self.open_case("trl-v2-gap")
        restorable = lambda source: {k for k, s in log_steps(self.ok_json("log", source)).items() if s["restorable"]}
        before = restorable(case.source)
        objects = {o["key"]: o for o in self.ok_json("ls", case.source)["objects"]}
        self.assertEqual(sorted(o["needed_by"] for o in objects.values()), sorted([*range(1, 10), *range(1, 7)]))
        lines = {line.split()[-1]: line for line in self.ok("ls", case.source).out.splitlines()}
        self.assertEqual(set(lines), set(objects))
        for key, entry in objects.items():
            with self.subTest(key=key):
                said = f" {entry['needed_by']} steps need it " in lines[key]
                self.assertEqual(said, entry["needed_by"] > 1, lines[key])
        for key in ("anchors/step_000001.safetensors", "anchors/step_000010.safetensors"):
            with self.subTest(removed=key):
                copy = self.path("without-" + key.split("/")[1])
                shutil.copytree(case.source, copy)
                os.remove(os.path.join(copy, key))
                self.assertEqual(len(before - restorable(copy)), objects[key]["needed_by"])

    def test_ls_knows_forms_that_make_up_for_each_other_and_objects_of_no_step(self):
        case = self.open_case("grail")
        copy = self.path("copy")
        shutil.copytree(case.source, copy)
        with open(os.path.join(copy, "notes.txt"), "w", encoding="utf-8") as f:
            f.write("no part of any step")
        objects = {o["key"]: o for o in self.ok_json("ls", copy)["objects"]}
        window = "grail/checkpoints/checkpoint-2700/"
        for key, kind, needed_by in (
            (window + "FULL/model.safetensors", "anchor", 0),
            (window + "DELTA/delta_sparse.bin.zst", "delta", 0),
            ("grail/checkpoints/checkpoint-2640/DELTA/delta_sparse.bin.zst", "delta", 2),
            ("notes.txt", None, None),
        ):
            with self.subTest(key=key):
                got = objects[key]
                self.assertEqual((got["kind"], got["needed_by"]), (kind, needed_by))
                line = next(line for line in self.ok("ls", copy).out.splitlines() if line.endswith("  " + key))
                self.assertEqual("no step needs it" in line, needed_by == 0, line)

    def test_diff_tells_by_its_exit_code_only_when_asked(self):
        run = self.make_run()
        self.ok("diff", run.at(2), run.at(3))
        self.assertEqual(self.run_ds("diff", run.at(2), run.at(3), "--exit-code").code, 1)
        self.assertEqual(self.run_ds("diff", run.at(3), run.at(3), "--exit-code").code, OK)

    def test_shards_sidecars_and_index(self):
        run = self.make_run(layout="slime-v2", tensors=8, elements=65536, shards=3, steps=3)
        self.ok("materialize", run.at(3), "-o", self.path("as-base"), *run.base_args)
        self.assert_checkpoint(self.path("as-base"), run.truth(3))
        names = lambda folder: {n for n in os.listdir(folder) if n != "deltascope.provenance.json"}
        self.assertEqual(
            names(self.path("as-base")), names(run.base), "sharded as the base, with its config and tokenizer"
        )
        self.ok("materialize", run.at(3), "-o", self.path("small"), "--shard-size", "262144", *run.base_args)
        self.assert_checkpoint(self.path("small"), run.truth(3))
        shards = [n for n in names(self.path("small")) if n.endswith(".safetensors")]
        self.assertEqual(len(shards), 4, "8 tensors of 128 KiB in shards of 256 KiB")

    def test_synthetic_runs_of_every_layout(self):
        for options in (
            {"layout": "trl-v2", "encoding": "raw"},
            {"layout": "trl-v2", "encoding": "gap_delta", "anchor_every": 4},
            {"layout": "slime-v2", "encoding": "xor", "anchor_every": 4},
            {"layout": "slime-v2", "encoding": "overwrite", "dtype": "F32"},
            {"layout": "hf", "shards": 2},
        ):
            with self.subTest(**options):
                run = self.make_run("-".join(map(str, options.values())), tensors=3, elements=70001, steps=9, **options)
                log = log_steps(self.ok_json("log", run.source, *run.base_args))
                for step, want in run.steps.items():
                    for field in ("kind", "base_step", "changed_elems", "total_elems", "wire_bytes", "restorable"):
                        self.assertEqual(log[(0, step)][field], want[field], f"{step} {field}")
                    self.assert_digest(self.ok_json("digest", run.at(step), *run.base_args), run.truth(step))
                self.ok("materialize", run.at(7), "-o", self.path(f"out-{len(os.listdir(self.work))}"), *run.base_args)
                self.assertIn(self.ok_json("verify", run.source, "--level", 4, *run.base_args)["result"], SOUND)


add_cases()

if __name__ == "__main__":
    main()
