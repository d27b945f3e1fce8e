#!/usr/bin/env python3
"""serve --alert-channels: whether messages arrive is told in the API, in metrics and on standard error."""

import http.client
import http.server
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

from support import HERE, wait_until

PROGRAM = os.environ.get("DELTASCOPE_BIN") or os.path.join(HERE, "..", "..", "build", "release", "bin", "deltascope")
DAMAGED = ("grail-badhash", "trl-v2-truncated")  # each fires at once
SECRET = "canary-5d0be1"


class Receiver(http.server.ThreadingHTTPServer):
    """Takes messages and answers with the statuses that it was given, then with the last."""

    def __init__(self, *statuses):
        self.statuses = list(statuses)
        self.messages = []
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.messages.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(self.server.statuses.pop(0) if len(self.server.statuses) > 1 else self.server.statuses[0])
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Daemon:
    def __init__(self, folder, channels):
        sources = []
        for name in DAMAGED:
            sources.append(os.path.join(folder, name))
            shutil.copytree(os.path.join(HERE, "..", "golden", name, "bucket"), sources[-1])
        file = os.path.join(folder, "channels")
        with open(file, "w", encoding="utf-8") as out:
            out.write(channels)
        self.errors = os.path.join(folder, "errors")
        with open(self.errors, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                [PROGRAM, "serve", *sources, "--listen", "127.0.0.1:0", "--alert-channels", file],
                stdout=subprocess.PIPE, stderr=errors, text=True,
                env=os.environ | {"DELTASCOPE_HOME": os.path.join(folder, "home")})
        url, _, code = self.process.stdout.readline().strip().partition("#k=")
        self.host = urllib.parse.urlsplit(url).netloc
        _, headers, _ = self.send("POST", "/api/v1/session", json.dumps({"code": code}))
        self.cookie = headers["Set-Cookie"].partition(";")[0]

    cookie = ""

    def send(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request(method, path, body=body, headers={
            "Origin": f"http://{self.host}", "Content-Type": "application/json", "Cookie": self.cookie})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def channels(self):
        return json.loads(self.send("GET", "/api/v1/alerts")[2])["channels"]

    def told(self):
        with open(self.errors, encoding="utf-8") as file:
            return file.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)
        self.process.stdout.close()


class Channels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def receiver(self, *statuses):
        receiver = Receiver(*statuses)
        self.addCleanup(receiver.close)
        return receiver, f"http://127.0.0.1:{receiver.server_port}"

    def daemon(self, channels):
        daemon = Daemon(self.folder, channels)
        self.addCleanup(daemon.stop)
        return daemon

    def test_a_message_that_is_lost_is_told_and_so_is_the_next_one_that_arrives(self):
        receiver, url = self.receiver(404, 200)
        program = os.path.join(self.folder, "no-such-program")
        daemon = self.daemon(f"info {url}/{SECRET} secret={SECRET}\nerror {program}\n")
        wait_until(lambda: "arrive again (channel 1" in daemon.told(), "a message to arrive")
        first, second = daemon.channels()
        self.assertEqual((first["name"], first["failed"], first["last_arrived"]), (url, 1, True))
        self.assertEqual(first["sent"], len(receiver.messages) - 1)
        self.assertEqual(first["last_failure"], "the server answers with status 404")
        self.assertGreater(first["last_failed_us"], 0)
        self.assertEqual((second["sent"], second["last_arrived"]), (0, False))
        self.assertIn("cannot be started", second["last_failure"])
        metrics = daemon.send("GET", "/metrics")[2]
        self.assertIn(f'deltascope_alert_messages_failed_total{{channel="1",kind="webhook",name="{url}"}} 1\n', metrics)
        daemon.stop()
        told = daemon.told().splitlines()
        self.assertIn(f"warning: channel 2 gets no message about alerts, there is no such program: {program}", told)
        self.assertIn(f"warning: a message about an alert has not arrived (channel 1, webhook {url}): "
                      "the server answers with status 404", told)
        self.assertIn(f"messages about alerts arrive again (channel 1, webhook {url}); 1 have not", told)
        self.assertEqual(sum("not arrived (channel 2, command" in line for line in told), 1, told)
        self.assertNotIn(SECRET, daemon.told() + metrics + json.dumps([first, second]))

    def test_of_messages_that_arrive_nothing_is_said(self):
        receiver, url = self.receiver(200)
        daemon = self.daemon(f"info {url}/{SECRET}\ninfo /bin/true\n")
        wait_until(lambda: all(channel["sent"] > 1 for channel in daemon.channels()), "messages to arrive")
        for channel in daemon.channels():
            self.assertEqual((channel["failed"], channel["last_arrived"]), (0, True))
            self.assertIsNone(channel["last_failed_us"])
            self.assertIsNone(channel["last_failure"])
        daemon.stop()
        self.assertGreater(len(receiver.messages), 1)
        self.assertNotIn("arrive", daemon.told())
        self.assertNotIn("gets no message", daemon.told())

    def test_a_folder_is_no_file_of_channels(self):
        bucket = os.path.join(HERE, "..", "golden", "trl-v2-raw", "bucket")
        ended = subprocess.run([PROGRAM, "serve", bucket, "--listen", "127.0.0.1:0", "--alert-channels", self.folder],
                               capture_output=True, text=True, timeout=60,
                               env=os.environ | {"DELTASCOPE_HOME": os.path.join(self.folder, "home")})
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("the file with the alert channels is no regular file", ended.stderr)


if __name__ == "__main__":
    unittest.main()
