#!/usr/bin/env python3
"""The real huggingface_hub on the answers that tests/engine/hub_model_test.cpp reads, and on the environments of
tests/engine/hub_environment_test.cpp: both golden files say what it does.
"""

import http.server
import json
import os
import pathlib
import tempfile
import threading
import unittest
from urllib.parse import parse_qs, urlsplit

import hub_model_replies
import hub_token_cases

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "hub"
MODEL = json.loads((GOLDEN / "model_replies.json").read_text(encoding="utf-8"))
TOKEN = "hf_test"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as the golden file says; the hub wants the token, the cdn refuses it."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def find(self):
        url = urlsplit(self.path)
        page = "#2" if "cursor" in parse_qs(url.query) else "#1"
        for one in MODEL["replies"]:
            if one["server"] == self.server.name and one["path"] in (url.path, url.path + page):
                return one
        return {"status": 404, "headers": {"X-Error-Code": "EntryNotFound"}, "body": ""}

    def do_GET(self):
        self.server.seen.append(self.path)
        one = self.find()
        if (self.headers.get("Authorization") == f"Bearer {TOKEN}") != (self.server.name == "hub"):
            one = {"status": 401, "headers": {}, "body": ""}
        body = bytes.fromhex(one["body"])
        self.send_response(one["status"])
        for name, value in one["headers"].items():
            self.send_header(name, value.replace("{hub}", self.server.places["hub"]).replace("{cdn}", self.server.places["cdn"]))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET


def serve(name, places):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.name, server.places, server.seen = name, places, []
    # another host, not only another port, for what compares hosts alone
    host = "127.0.0.1" if name == "hub" else "localhost"
    places[name] = f"http://{host}:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Hub(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.places = {}
        cls.hub, cls.cdn = serve("hub", cls.places), serve("cdn", cls.places)
        os.environ.update(HF_ENDPOINT=cls.places["hub"], HF_TOKEN=TOKEN, HF_HOME=cls.home.name, HF_HUB_DISABLE_XET="1",
                          HF_HUB_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_PROGRESS_BARS="1")
        import huggingface_hub  # reads the environment once

        cls.client = huggingface_hub
        cls.api = huggingface_hub.HfApi()

    @classmethod
    def tearDownClass(cls):
        cls.hub.shutdown()
        cls.cdn.shutdown()
        cls.home.cleanup()

    def test_golden_file_is_what_the_generator_prints(self):
        self.assertEqual(MODEL["replies"], json.loads(json.dumps(hub_model_replies.replies())))

    def test_environments(self):
        golden = json.loads((GOLDEN / "token_cases.json").read_text(encoding="utf-8"))
        self.assertEqual(golden, [hub_token_cases.answer(*case) for case in hub_token_cases.CASES])

    def test_revision_and_tree(self):
        self.assertEqual(self.api.model_info("org/model", revision="main").sha, MODEL["commit"])
        tree = {f.path: f for f in self.api.list_repo_tree("org/model", revision=MODEL["commit"], recursive=True)
                if isinstance(f, self.client.hf_api.RepoFile)}
        self.assertEqual({p: f.size for p, f in tree.items()}, {p: len(d) // 2 for p, d in MODEL["files"].items()})
        self.assertEqual(tree["sub/xet.bin"].xet_hash, hub_model_replies.XET_HASH)
        self.assertEqual(tree["model.safetensors"].lfs.sha256, hub_model_replies.sha256(hub_model_replies.WEIGHTS))
        self.assertIsNone(tree["config.json"].lfs)

    def test_metadata(self):
        url = self.client.hf_hub_url("org/model", "sub/xet.bin", revision=MODEL["commit"])
        found = self.client.get_hf_file_metadata(url, token=TOKEN)
        self.assertEqual(found.commit_hash, MODEL["commit"])
        self.assertEqual(found.size, len(hub_model_replies.XET))
        self.assertEqual(found.xet_file_data.file_hash, hub_model_replies.XET_HASH)
        self.assertIn(f"/api/models/org/model/xet-read-token/{MODEL['commit']}", found.xet_file_data.refresh_route)

    def test_download(self):
        folder = pathlib.Path(self.client.snapshot_download("org/model", revision="main"))
        self.assertEqual(folder.name, MODEL["commit"])
        for name, data in MODEL["files"].items():
            self.assertEqual((folder / name).read_bytes().hex(), data, name)
        self.assertTrue(any(path.startswith("/lfs/") for path in self.cdn.seen))
        one = self.client.hf_hub_download("org/model", "config.json", revision=MODEL["commit"], force_download=True)
        self.assertEqual(pathlib.Path(one).read_bytes(), hub_model_replies.CONFIG)

    def test_refusals(self):
        for model, revision, error in (("org/model", "gone", "RevisionNotFoundError"), ("org/none", "main", "RepositoryNotFoundError"),
                                       ("org/gated", "main", "GatedRepoError")):
            with self.assertRaises(getattr(self.client.errors, error)):
                self.api.model_info(model, revision=revision)


if __name__ == "__main__":
    unittest.main(verbosity=2)
