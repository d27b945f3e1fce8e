"""Requests made up from resources/openapi.json, against the real daemon on real buckets: none may end in a server error,
none without a sign-in may see or change anything, and afterwards the daemon still answers and ends cleanly.
DELTASCOPE_REQUESTS: how many (2000). The seed is fixed; a failure names the request."""

import functools
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
PROGRAM = os.environ.get("DELTASCOPE_BIN") or os.path.join(ROOT, "build", "release", "bin", "deltascope")
REQUESTS = int(os.environ.get("DELTASCOPE_REQUESTS", "2000"))
BUCKETS = ("trl-v2-gap", "trl-v2-restart", "trl-v2-bitflip")
OPEN = {"/healthz", "/readyz", "/openapi.json", "/api/v1/session"}
HOSTILE = ("", "..", "../../etc/passwd", "\u202egnp.exe", "<script>alert(1)</script>", "%00", "-1", "1e400", "0x10",
           "99999999999999999999", "a" * 900, "'", '"', "{}", "\x7f", "null", "NaN", "12:", ":12", "1:2:3", "é" * 40)


class Daemon:
    def __init__(self, folder):
        sources = []
        for name in BUCKETS:
            sources.append(os.path.join(folder, name))
            shutil.copytree(os.path.join(ROOT, "tests", "golden", name, "bucket"), sources[-1])
        self.output = os.path.join(folder, "out")
        environment = os.environ | {"DELTASCOPE_HOME": os.path.join(folder, "home")}
        self.process = subprocess.Popen(
            [PROGRAM, "serve", *sources, "--listen", "127.0.0.1:0", "--allow-acts", "--output", self.output],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        url, _, self.code = self.process.stdout.readline().strip().partition("#k=")
        self.host = urllib.parse.urlsplit(url).netloc
        self.cookie = ""
        self.connection = None

    def send(self, method, path, body=None, cookie=None):
        """Status, headers and body; over a connection that is kept."""
        headers = {"Origin": f"http://{self.host}"}
        if cookie:
            headers["Cookie"] = cookie
        if body is not None:
            headers["Content-Type"] = "application/json"
        for again in (True, False):
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.host, timeout=60)
            try:
                self.connection.request(method, path, body=body, headers=headers)
                answer = self.connection.getresponse()
                return answer.status, answer.headers, answer.read()
            except (http.client.HTTPException, ConnectionError):
                self.connection = None
                if not again:
                    raise

    def sign_in(self):
        status, headers, _ = self.send("POST", "/api/v1/session", json.dumps({"code": self.code}))
        assert status == 204, status
        self.cookie = headers["Set-Cookie"].partition(";")[0]

    def wait_until_ready(self):
        for _ in range(300):
            if self.send("GET", "/readyz")[0] == 200:
                return
            time.sleep(0.1)
        raise RuntimeError("the daemon did not open its sources")

    def stop(self):
        if self.connection is not None:
            self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out + err


class Requests:
    """Makes up requests: most of them as the document allows, some with one hostile value."""

    def __init__(self, document, random_):
        self.document = document
        self.random = random_
        self.operations = [(method, path, item, operation) for path, item in document["paths"].items()
                           for method, operation in item.items() if method in ("get", "post", "delete")
                           and path not in ("/api/v1/events", "/api/v1/session")]

    def resolve(self, node):
        while "$ref" in node:
            parts = node["$ref"].removeprefix("#/").split("/")
            node = functools.reduce(lambda inner, part: inner[part], parts, self.document)
        return node

    def value(self, name, schema):
        schema = self.resolve(schema)
        if "oneOf" in schema or "anyOf" in schema:
            return self.value(name, self.random.choice(schema.get("oneOf") or schema["anyOf"]))
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        kind = schema.get("type", "object")
        if kind == "integer":
            low, high = schema.get("minimum", 0), schema.get("maximum", 1 << 53)
            return self.random.choice((low, min(high, low + self.random.randrange(20)), self.random.randint(low, high)))
        if kind == "number":
            return self.random.uniform(-10, 1e6)
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind == "array":
            return [self.value(name, schema["items"]) for _ in range(self.random.randrange(3))]
        if kind == "object":
            fields = schema.get("properties", {})
            return {key: self.value(key, field) for key, field in fields.items()
                    if key in schema.get("required", ()) or self.random.random() < 0.5}
        return self.text(name)

    def text(self, name):
        known = {"run": BUCKETS, "step": ("1", "5", "0:7", "1:2", "15"), "a": ("1", "3", "0:2"), "b": ("9", "12"),
                 "names": ("changed_frac", "changed_frac,sync_ms", "pause_ms,wire_bytes,interval_s"),
                 "key": ("deltas/step_000002.safetensors", "anchors/step_000001.safetensors"),
                 "prefix": ("", "deltas/", "anchors/"), "plan": ("p1", "p2"), "task": ("t1", "t2"),
                 "rule": ("pause-long", "chain-gap"), "range": ("", "2..5", "0:3"), "to": ("x", "a/b")}
        return self.random.choice(known.get(name, ("x",)))

    def make(self):
        method, path, item, operation = self.random.choice(self.operations)
        parameters = [self.resolve(one) for one in (*item.get("parameters", ()), *operation.get("parameters", ()))]
        values = {one["name"]: self.value(one["name"], one["schema"]) for one in parameters
                  if one.get("required") or self.random.random() < 0.6}
        if values and self.random.random() < 0.3:
            values[self.random.choice(list(values))] = self.random.choice(HOSTILE)
        query = []
        for one in parameters:
            if one["name"] not in values:
                continue
            quoted = urllib.parse.quote(str(values[one["name"]]), safe="")
            if one["in"] == "path":
                path = path.replace("{" + one["name"] + "}", quoted)
            else:
                query.append(f"{one['name']}={quoted}")
        body = None
        if method == "post":
            schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            body = json.dumps(self.value("", schema))
            if self.random.random() < 0.2:
                body = self.random.choice(("", "[]", "{", "null", '{"kind":7}', '{"kind":"diff","args":[]}', '"\x00"'))
        return method.upper(), path + ("?" + "&".join(query) if query else ""), body


def files_below(folder):
    return sorted((os.path.join(at, name), os.stat(os.path.join(at, name)).st_mtime_ns)
                  for at, _, names in os.walk(folder) for name in names)


class FromTheDocument(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ds-openapi-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.daemon = Daemon(self.folder)
        self.addCleanup(self.daemon.process.kill)
        self.daemon.wait_until_ready()
        with open(os.path.join(ROOT, "resources", "openapi.json"), encoding="utf-8") as file:
            self.requests = Requests(json.load(file), random.Random(7))

    def test_no_request_without_a_sign_in_sees_or_changes_anything(self):
        buckets = [os.path.join(self.folder, name) for name in BUCKETS]
        before = [files_below(bucket) for bucket in buckets]
        for number in range(REQUESTS // 4):
            method, target, body = self.requests.make()
            status, _, _ = self.daemon.send(method, target, body and body.encode("utf-8", "replace"))
            path = target.partition("?")[0]
            allowed = (200,) if path in OPEN else (400, 401, 403, 404, 405, 411, 414, 415)
            self.assertIn(status, allowed, f"request {number}: {method} {target} {body}")
        self.daemon.sign_in()
        _, _, tasks = self.daemon.send("GET", "/api/v1/tasks", cookie=self.daemon.cookie)
        self.assertEqual(json.loads(tasks), {"tasks": []})
        self.assertEqual([files_below(bucket) for bucket in buckets], before)
        self.assertFalse(os.path.exists(self.daemon.output))
        status, output = self.daemon.stop()
        self.assertEqual(status, 0, output)

    def test_no_request_ends_in_a_server_error(self):
        self.daemon.sign_in()
        good = 0
        for number in range(REQUESTS):
            method, target, body = self.requests.make()
            status, headers, answer = self.daemon.send(method, target, body and body.encode("utf-8", "replace"),
                                                       self.daemon.cookie)
            where = f"request {number}: {method} {target} {body}: {status} {answer[:300]}"
            self.assertLess(status, 500, where)
            good += status < 300
            if status >= 400:
                self.assertEqual(headers.get_content_type(), "application/problem+json", where)
                self.assertTrue(re.fullmatch(r"DS-[A-Z-]+", json.loads(answer)["code"]), where)
            elif headers.get_content_type() == "application/json":
                json.loads(answer)
        self.assertGreater(good, REQUESTS // 4, "most requests should mean something")
        for name in BUCKETS:
            status, _, answer = self.daemon.send("GET", f"/api/v1/runs/{name}", cookie=self.daemon.cookie)
            self.assertEqual((status, json.loads(answer)["state"]), (200, "live"))
        status, output = self.daemon.stop()
        self.assertEqual(status, 0, output)


if __name__ == "__main__":
    unittest.main()
