#!/usr/bin/env python3
"""Any address is a side of a difference: a step of a run, a folder, a file, a model repository of the Hugging Face Hub. The
same weights are equal from everywhere, and others differ by the same from everywhere."""

import hashlib
import http.server
import json
import os
import re
import struct
import threading
import urllib.parse
from random import Random

from support import DAMAGED, GAP, NOT_FOUND, OTHER, USAGE, E2ETest, main

COMMIT = "5e7a1c2b3d4f60718293a4b5c6d7e8f901234567"


class ModelHub:
    """The answers that the Hub gives about the model org/model with the files of a folder at revision `main`."""

    def __init__(self, folder):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.do_GET()

            def do_GET(self):
                path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
                prefix = f"/org/model/resolve/{COMMIT}/"
                if path == "/api/models/org/model/revision/main":
                    self.reply(200, {"id": "org/model", "sha": COMMIT, "lastModified": "2026-01-02T03:04:05.000Z"})
                elif path.startswith(f"/api/models/org/model/tree/{COMMIT}"):
                    self.reply(200, [self.entry(name) for name in sorted(os.listdir(folder))])
                elif path.startswith(prefix) and os.path.isfile(os.path.join(folder, path[len(prefix):])):
                    self.file(path[len(prefix):])
                else:
                    self.reply(404, {"error": "not found"}, {"X-Error-Code": "RevisionNotFound"})

            def entry(self, name):
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read()
                entry = {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
                if name.endswith(".safetensors"):
                    entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
                return entry

            def file(self, name):
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read()
                entity = {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha256(content).hexdigest()}"', "Accept-Ranges": "bytes"}
                asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
                if not asked:
                    return self.send(200, content, entity)
                first, last = int(asked[1]), min(int(asked[2]), len(content) - 1)
                entity["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
                return self.send(206, content[first:last + 1], entity)

            def reply(self, status, document, headers=()):
                self.send(status, json.dumps(document).encode(), {"Content-Type": "application/json", **dict(headers)})

            def send(self, status, content, headers):
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(content)

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def weights(tensors):
    """A safetensors file of BF16 tensors: {name: (rows, bytes)}."""
    header, data = {}, b""
    for name, (rows, content) in tensors.items():
        header[name] = {"dtype": "BF16", "shape": [rows, len(content) // rows // 2],
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def layer(seed):
    """The projections of a layer, each [rows, 8]; finite values."""
    random = Random(seed)
    rows = {"self_attn.q_proj": 64, "self_attn.k_proj": 16, "self_attn.v_proj": 16, "mlp.gate_proj": 40, "mlp.up_proj": 40}
    return {name: (count, bytes(random.randrange(64) for _ in range(count * 16))) for name, count in rows.items()}


def below(*parts):
    return sum(rows for rows, _ in parts), b"".join(content for _, content in parts)


class OtherForms(E2ETest):
    """One model as different programs store it."""

    def write(self, name, tensors):
        folder = self.path(name)
        os.makedirs(folder)
        with open(os.path.join(folder, "model.safetensors"), "wb") as file:
            file.write(weights(tensors))
        return folder

    def setUp(self):
        super().setUp()
        apart = layer(1)
        q, k, v, gate, up = apart.values()
        self.plain = {f"model.layers.0.{name}.weight": part for name, part in apart.items()}
        self.apart = self.write("apart", self.plain)
        self.fused = self.write("fused", {"model.layers.0.self_attn.qkv_proj.weight": below(q, k, v),
                                          "model.layers.0.mlp.gate_up_proj.weight": below(gate, up)})
        self.swapped = self.write("swapped", {"model.layers.0.self_attn.qkv_proj.weight": below(q, k, v),
                                              "model.layers.0.mlp.gate_up_proj.weight": below(up, gate)})

    def test_fused_projections_are_compared_row_by_row(self):
        same = self.ok_json("diff", self.apart, self.fused)
        self.assertEqual((same["tensors_total"], same["elements_different"], same["equal"]), (2, 0, False))
        self.assertEqual([form["kind"] for form in same["form_differences"]], ["fused", "fused"])
        other = self.ok_json("diff", self.swapped, self.apart)
        self.assertEqual([row["name"] for row in other["tensors"]], ["model.layers.0.mlp.gate_up_proj.weight"])

    def test_digests_from_elsewhere_tell_whether_the_weights_are_the_same(self):
        def document(folder):
            path = folder + ".json"
            with open(path, "w") as file:
                file.write(self.run_ds("digest", folder, "--json").out)
            return path

        check = self.run_ds("digest", self.apart, "--check", document(self.apart))
        self.assertEqual(check.code, 0, check.err)
        self.assertIn("5 tensors have the digests of", check.out)
        other = self.run_ds("digest", self.swapped, "--check", document(self.fused))
        self.assertEqual(other.code, OTHER)
        self.assertIn("differs: model.layers.0.mlp.gate_up_proj.weight", other.out)
        form = self.run_ds("digest", self.apart, "--check", document(self.fused), "--json")
        self.assertEqual(form.code, OTHER)
        self.assertEqual((form.json()["tensors_compared"], form.json()["different"]), (2, []))
        text = self.run_ds("digest", self.apart, "--check", self.fused + ".json").out
        self.assertIn(f"A is the state, B is {self.fused}.json", text)
        self.assertIn("the states are not equal", text)
        self.refused(self.run_ds("digest", self.apart, "--check", self.path("apart/model.safetensors")), DAMAGED)

    def adapter(self, name, alpha):
        folder = self.path(name)
        os.makedirs(folder)
        part = next(iter(self.plain.values()))
        tensors = {f"base_model.model.q_proj.lora_{letter}.weight": part for letter in "AB"}
        with open(os.path.join(folder, "adapter_model.safetensors"), "wb") as file:
            file.write(weights(tensors))
        with open(os.path.join(folder, "adapter_config.json"), "w") as file:
            json.dump({"peft_type": "LORA", "r": 4, "lora_alpha": alpha}, file)
        return folder

    def test_adapters_are_their_settings_too(self):
        half, full = self.adapter("half", 16), self.adapter("full", 32)
        same = self.adapter("same", 16)
        for file in ("", "/adapter_model.safetensors"):
            outcome = self.run_ds("diff", half + file, full + file, "--exit-code")
            self.assertEqual(outcome.code, OTHER)
            self.assertIn("lora_alpha is 16 in A and 32 in B", outcome.out)
            self.assertIn("A and B are bit-identical", self.ok("diff", half + file, same + file, "--exit-code").out)
        publish = ["publish", "--into", self.path("adapters"), "--layout", "trl-v2", "--from", half]
        refused = self.run_ds(*publish, "--to", full)
        self.assertNotEqual(refused.code, 0)
        self.assertIn("lora_alpha is 16 in A and 32 in B", refused.err)
        self.assertIn("is an adapter (PEFT, ", self.run_ds(*publish, "--to", self.apart).err)
        told = self.ok(*publish, "--to", same)
        self.assertIn("adapter_config.json is not part of what is published", told.out + told.err)
        unknown = self.ok("diff", half, self.path("adapters@latest"))
        self.assertIn("the settings of B are not known", unknown.out)
        self.assertIsNone(self.ok_json("diff", half, self.path("adapters@latest"))["equal"])

    def test_wrapped_checkpoints_go_on_with_a_run(self):
        wrapped = {f"_orig_mod.{name}": part for name, part in self.plain.items()}
        first = self.write("wrapped-1", wrapped)
        name = next(iter(wrapped))
        rows, content = wrapped[name]
        second = self.write("wrapped-2", {**wrapped, name: (rows, bytes([content[0] ^ 1]) + content[1:])})
        run = self.path("run")
        publish = ["publish", "--into", run, "--layout", "trl-v2"]
        self.ok(*publish, "--from", self.apart, "--to", first, "--map-prefix", "_orig_mod.=")
        self.ok(*publish, "--from", first, "--to", second, "--map-prefix", "_orig_mod.=")
        difference = self.ok_json("diff", f"{run}@latest", second)
        self.assertEqual((difference["tensors_total"], difference["elements_different"]), (5, 0))
        self.assertEqual([form["kind"] for form in difference["form_differences"]], ["names"])
        refused = self.run_ds(*publish, "--from", first, "--to", second, "--map-prefix", "_orig_mod")
        self.refused(refused, USAGE)
        refused = self.run_ds(*publish, "--from", first, "--to", second, "--map-prefix", "module.=")
        self.refused(refused, GAP, word="DS-BASE-MISMATCH")
        self.assertIn("module.", refused.err)

    def test_an_empty_value_does_not_stand_for_no_option(self):
        self.refused(self.run_ds("digest", self.apart, "--check", ""), USAGE)
        self.refused(self.run_ds("diff", self.apart, self.fused, "--map-prefix", ""), USAGE)


class Sides(E2ETest):
    def sides(self, run, step):
        """The state of a step, from everywhere."""
        folder = self.path(f"rebuilt-{step}")
        self.ok("materialize", run.at(step), "-o", folder)
        hub = ModelHub(folder)
        self.addCleanup(hub.close)
        query = urllib.parse.urlencode({"revision": "main", "endpoint": hub.endpoint})
        return {"step": run.at(step), "folder": folder, "file": os.path.join(folder, "model.safetensors"),
                "hub": f"hf://org/model?{query}"}

    def test_the_same_weights_are_equal_from_everywhere(self):
        run = self.make_run("run", tensors=6, elements=600, steps=4)
        sides = self.sides(run, 2)
        for a, b in (("step", "hub"), ("hub", "file"), ("folder", "hub"), ("file", "step"), ("step", "folder")):
            with self.subTest(a=a, b=b):
                difference = self.ok_json("diff", sides[a], sides[b])
                self.assertTrue(difference["equal"])
                self.assertEqual(difference["tensors_total"], 6)

    def test_other_weights_differ_by_the_same_from_everywhere(self):
        run = self.make_run("run", tensors=6, elements=600, steps=4)
        before, after = self.sides(run, 2), self.sides(run, 4)
        expected = self.run_ds("diff", before["step"], after["step"], "--json").json()["elements_different"]
        self.assertGreater(expected, 0)
        for a in before:
            with self.subTest(a=a):
                outcome = self.run_ds("diff", before[a], after["hub"], "--json")
                self.assertEqual(outcome.json()["elements_different"], expected)
                self.assertEqual(outcome.code, self.run_ds("diff", before["step"], after["step"]).code)

    def test_a_revision_that_is_not_there_is_said(self):
        run = self.make_run("run", tensors=6, elements=600, steps=2)
        sides = self.sides(run, 2)
        self.refused(self.run_ds("diff", sides["step"], sides["hub"].replace("revision=main", "revision=none")), NOT_FOUND)

    def test_every_backend_gives_the_same_answer_and_one_that_is_not_there_is_named(self):
        run = self.make_run("run", tensors=6, elements=600, steps=4)
        sides = run.at(2), run.at(4)
        expected = self.run_ds("diff", *sides, "--json").json()
        answer = self.run_ds("diff", *sides, "--json", "--backend", "scalar").json()
        self.assertEqual({**answer, "seconds": 0}, {**expected, "seconds": 0})
        self.refused(self.run_ds("diff", *sides, "--backend", "avx"), USAGE)
        module = self.path("no-module.so")
        env = self.environment(DELTASCOPE_CUDA_MODULE=module)
        outcome = self.run_ds("diff", *sides, "--backend", "cuda", env=env)
        self.refused(outcome, OTHER)
        self.assertIn(module, outcome.err)
        checks = {check["name"]: check for check in self.ok_json("doctor", env=env)["checks"]}
        self.assertFalse(checks["cuda"]["ok"], "it was asked for")
        self.assertIn("not installed", checks["cuda"]["detail"])


if __name__ == "__main__":
    main()
