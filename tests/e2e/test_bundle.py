#!/usr/bin/env python3
"""`export --bundle`: what is in the file, what is not, and what is refused."""

import base64
import json
import os
import re
import resource
import shutil
import threading
import zipfile

from support import CONFLICT, GOLDEN, NO_SPACE, NOT_FOUND, OK, E2ETest, main

CANARY = "canary-4f1c9a77"
SECRETS = {"AWS_SECRET_ACCESS_KEY": CANARY, "HF_TOKEN": CANARY, "DELTASCOPE_TOKEN": CANARY}


class Bundle(E2ETest):
    def export(self, golden, name="run.dscope"):
        """Exports a golden run with secrets around. Returns its files by name."""
        return self.export_source(os.path.join(GOLDEN, golden, "bucket"), name)

    def export_source(self, source, name="run.dscope"):
        self.source = source
        self.result = self.ok_json("export", self.source, "--bundle", self.path(name), env=SECRETS)
        with zipfile.ZipFile(self.path(name)) as archive:
            self.assertIsNone(archive.testzip())
            return {entry: archive.read(entry) for entry in archive.namelist()}

    def bytes_of(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    @staticmethod
    def lines(text):
        return [json.loads(line) for line in text.decode().splitlines()]

    @staticmethod
    def inlined(page):
        """What the page holds; html.parser would do the same: the first end tag ends it."""
        begin = page.index(b'<script id="bundle" type="application/json">')
        text = page[page.index(b">", begin) + 1 : page.index(b"</script", begin)]
        return json.loads(text)

    def test_steps_are_those_of_log(self):
        for golden in ("trl-v2-gap", "trl-v2-restart", "trl-v2-gap-in-chain", "trl-v1.0-badhash"):
            with self.subTest(golden):
                files = self.export(golden, f"{golden}.dscope")
                log = self.ok_json("log", self.source)
                steps = self.lines(files["steps.jsonl"])
                known = [(epoch["epoch"], step) for epoch in log["epochs"] for step in epoch["steps"]]
                self.assertEqual(len(steps), len(known))
                self.assertEqual(self.result["steps"], len(known))
                for mine, (epoch, theirs) in zip(steps, known):
                    self.assertEqual(mine["epoch"], epoch)
                    for key in ("step", "kind", "state", "wire_bytes", "changed_elems", "restorable"):
                        if key in mine or mine["kind"] != "gap":
                            self.assertEqual(mine[key], theirs[key], (key, mine))
                manifest = json.loads(files["manifest.json"])
                self.assertEqual(manifest["format_version"], 3)
                self.assertEqual(manifest["ranges"][-1]["last_step"], steps[-1]["step"])
                self.assertEqual(manifest["left_out"], [])
                self.assertEqual(manifest["layout"], log["layout"])

    def test_the_page_holds_what_the_files_hold(self):
        files = self.export("trl-v2-gap")
        page = self.inlined(files["web/index.html"])
        run = page["answers"][f"runs/{page['run']}"]
        self.assertEqual(page["answers"][f"runs/{page['run']}/steps"]["steps"], self.lines(files["steps.jsonl"]))
        self.assertEqual([page["answers"][f"runs/{page['run']}/tensors?epoch=0"]], json.loads(files["tensors.json"]))
        self.assertEqual(page["answers"]["alerts"]["alerts"], self.lines(files["alerts.jsonl"]))
        self.assertTrue(page["answers"]["capabilities"]["read_only"])
        self.assertEqual(run["layout"], "trl-v2")
        tiles = {name: data for name, data in files.items() if name.startswith("heat/")}
        self.assertEqual(len(tiles), len(page["tiles"]))
        for address, text in page["tiles"].items():
            tile, epoch = re.fullmatch(r"runs/.+?/heat/(.+)\?epoch=(\d+)", address).groups()
            self.assertEqual(base64.b64decode(text), tiles[f"heat/{epoch}/{tile}.bin"])
        counts = page["answers"][f"runs/{page['run']}/steps/0:3"]["tensors"]
        detail = self.ok_json("show", f"{self.source}@3")
        self.assertEqual({c["name"]: c["changed_elems"] for c in counts},
                         {c["name"]: c["changed_elems"] for c in detail["tensors"]})

    def test_what_is_left_out_is_said(self):
        run = self.make_run("long", tensors=2, elements=1000, steps=60)
        files = self.export_source(run.source)
        page = self.inlined(files["web/index.html"])
        details = [address for address in page["answers"] if "/steps/" in address]
        self.assertEqual(len(details), 50)
        self.assertEqual(len(self.lines(files["steps.jsonl"])), 60)
        for left_out in (json.loads(files["manifest.json"])["left_out"], page["left_out"], self.result["left_out"]):
            self.assertEqual(left_out, ["tensors of single steps before the newest 50"])

    def test_a_run_that_grows_meanwhile_is_exported_as_it_was_at_one_moment(self):
        whole, growing = self.make_run("whole", tensors=4, elements=4096, steps=400).source, self.path("growing")
        names = sorted(
            (os.path.join(root, name) for root, _, files in os.walk(whole) for name in files), key=os.path.basename)

        def publish(name):
            place = os.path.join(growing, os.path.relpath(name, whole))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.copyfile(name, self.path("on-its-way"))
            os.rename(self.path("on-its-way"), place)

        for name in names[:20]:
            publish(name)
        exported = threading.Event()

        def go_on():
            for name in names[20:]:
                if exported.wait(0.05):
                    return
                publish(name)

        trainer = threading.Thread(target=go_on)
        trainer.start()
        try:
            files = self.export_source(growing)
        finally:
            exported.set()
            trainer.join()
        page = self.inlined(files["web/index.html"])
        answers = {address.removeprefix(f"runs/{page['run']}"): answer for address, answer in page["answers"].items()}
        steps = [step["step"] for step in self.lines(files["steps.jsonl"])]
        self.assertGreaterEqual(len(steps), 20)
        self.assertEqual(len(steps), self.result["steps"])
        self.assertEqual([step["step"] for step in answers["/steps"]["steps"]], steps)
        self.assertEqual(answers[""]["kpi"]["newest"], steps[-1])
        self.assertEqual(json.loads(files["manifest.json"])["ranges"][-1]["last_step"], steps[-1])
        snapshot = json.loads(files["snapshot.json"])
        self.assertEqual(snapshot["run"]["latest"], steps[-1])
        listed = {entry["step"] for entry in json.loads(files["listing.json"])["objects"]}
        self.assertEqual(listed - {None}, set(steps))
        details = {int(address.split(":")[1]) for address in answers if address.startswith("/steps/")}
        self.assertLessEqual(details, set(steps))

    def test_alerts_that_an_export_does_not_wait_for_are_named(self):
        files = self.export("slime-v2-xor")  # without its base: no step can be rebuilt
        waiting = ["alerts of chain-gap that fire only after longer than an export takes"]
        self.assertEqual(json.loads(files["manifest.json"])["left_out"], waiting)
        self.assertEqual(self.result["left_out"], waiting)

    def test_no_secrets_and_no_weights(self):
        files = self.export("trl-v2-gap")
        for name, data in files.items():
            self.assertNotIn(CANARY.encode(), data, name)
            self.assertRegex(name, r"^(manifest\.json|(steps|spans|alerts|counts)\.jsonl|(tensors|snapshot|listing|annotations)\.json|heat/.*\.bin|web/index\.html)$")
        held = "".join(self.inlined(files["web/index.html"])["answers"])
        self.assertNotRegex(held, "elements|blocks|header")

    def test_never_replaces(self):
        self.export("trl-v2-gap")
        before = self.bytes_of("run.dscope")
        outcome = self.run_ds("export", self.source, "--bundle", self.path("run.dscope"))
        self.refused(outcome, CONFLICT, "DS-EXISTS")
        self.assertEqual(self.bytes_of("run.dscope"), before)
        os.symlink(self.path("nowhere"), self.path("link"))
        self.refused(self.run_ds("export", self.source, "--bundle", self.path("link")), CONFLICT, "DS-EXISTS")

    def test_a_file_size_limit_is_like_a_full_disk(self):
        self.export("trl-v2-gap")
        whole = os.path.getsize(self.path("run.dscope"))

        def export_below(limit):
            return self.run_ds(
                "export", self.source, "--bundle", self.path("limited.dscope"),
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))

        self.refused(export_below(whole // 2), NO_SPACE, "DS-NOSPACE")
        self.assertFalse(os.path.exists(self.path("limited.dscope")))
        self.assertEqual(export_below(4 * whole).code, OK)

    def test_a_broken_source_leaves_nothing(self):
        hostile = os.path.join(GOLDEN, "safetensors-hostile", "bucket")
        for source in (self.path("missing"), hostile):
            outcome = self.run_ds("export", source, "--bundle", self.path("run.dscope"))
            self.refused(outcome, NOT_FOUND)
            self.assertFalse(os.path.exists(self.path("run.dscope")))
        source = os.path.join(GOLDEN, "trl-v2-gap", "bucket")
        self.refused(self.run_ds("export", source, "--bundle", self.path("no", "folder")), NOT_FOUND, "DS-NOT-FOUND")


if __name__ == "__main__":
    main()
