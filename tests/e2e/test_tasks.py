#!/usr/bin/env python3
"""Tasks that browsers begin outlive the daemon: killed in the middle of one, or right behind the answer that accepted
it, the next daemon shows it, goes on with it when it is told to, and refuses to where the run is another one by then."""

import http.client
import json
import os
import re
import signal
import random
import subprocess
import time

from support import BIN, E2ETest, main, wait_until
from sweep import Sweep

SWEEP = Sweep("e2e.tasks", 10)
KILLS = 4  # in a slice
MOST_SECONDS = 0.05  # between the answer and the kill


class Daemon:
    """`deltascope serve` with acts, and a browser that is signed in to it."""

    def __init__(self, source, output, environment):
        self.process = subprocess.Popen(
            [BIN, "serve", source, "--listen", "127.0.0.1:0", "--allow-acts", "--output", output, "--verify-level", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        self.host, code = re.fullmatch(r"http://([^/]*)/.*#k=(.*)\n", self.process.stdout.readline()).groups()
        status, headers, _ = self.exchange("POST", "session", {"code": code})
        assert status == 204, status
        self.cookie = headers["set-cookie"].split(";")[0]

    def exchange(self, method, path, body=None):
        client = http.client.HTTPConnection(self.host, timeout=60)
        headers = {"Origin": f"http://{self.host}", "Content-Type": "application/json",
                   "Cookie": getattr(self, "cookie", "")}
        client.request(method, f"/api/v1/{path}", json.dumps(body or {}) if method == "POST" else None, headers)
        answer = client.getresponse()
        found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        client.close()
        return found

    def ask(self, method, path, body=None):
        status, _, text = self.exchange(method, path, body)
        return status, json.loads(text)

    def task(self, task):
        return self.ask("GET", f"tasks/{task}")[1]

    def plan(self, kind, args):
        """A plan that is made; asked for again until the run is open."""
        run = self.ask("GET", "runs")[1]["runs"][0]["id"]

        def asked():
            status, plan = self.ask("POST", f"runs/{run}/plans", {"kind": kind, "args": args})
            return status == 200 and plan

        def made():
            now = self.ask("GET", f"plans/{plan['id']}")[1]
            return now["state"] != "planning" and now

        plan = wait_until(asked, 60, "a plan")
        plan = wait_until(made, 60, "its end")
        assert plan["state"] == "ready", plan
        return plan

    def start(self, plan):
        status, task = self.ask("POST", f"plans/{plan['id']}/run", {"hash": plan["hash"]})
        assert status == 202, task
        return task["id"]

    def begin(self, step):
        return self.start(self.plan("materialize", {"step": str(step), "to": "made"}))

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.communicate(timeout=60)


class Tasks(E2ETest):
    def prepare(self):
        self.run_made = self.make_run(tensors=48, elements=4 << 20, steps=2)
        self.output = self.path("out")
        os.mkdir(self.output)
        self.daemon = None
        self.addCleanup(lambda: self.daemon and self.daemon.end(signal.SIGKILL))

    def start_daemon(self):
        self.daemon = Daemon(self.run_made.source, self.output, {**os.environ, "DELTASCOPE_HOME": self.path("home")})

    def kill_in_the_middle(self):
        """A daemon that is killed while it works on a task; the task."""
        for attempt in range(5):
            self.start_daemon()
            task = self.daemon.begin(2)
            wait_until(lambda task=task: self.daemon.task(task)["done"] > 0, 60, "the task to begin")
            self.daemon.end(signal.SIGKILL)
            if not os.path.lexists(os.path.join(self.output, "made")):
                return task
            os.rename(os.path.join(self.output, "made"), self.path(f"too-fast-{attempt}"))
        self.fail("never fast enough to kill it in the middle")

    def shown(self, task):
        self.start_daemon()
        wait_until(lambda: self.daemon.ask("GET", f"tasks/{task}")[0] == 200, 60, "the task of the daemon before")
        return self.daemon.task(task)

    def ended(self, task):
        return wait_until(lambda: self.daemon.task(task)["state"] in ("done", "failed") and self.daemon.task(task), 120,
                          "the end of the task")

    def test_a_killed_daemon_goes_on(self):
        self.prepare()
        task = self.kill_in_the_middle()
        left = self.shown(task)
        self.assertEqual((left["state"], left["interrupted"]), ("paused", True))
        self.assertEqual(self.daemon.ask("POST", f"tasks/{task}/resume")[0], 200)
        done = self.ended(task)
        self.assertEqual(done["state"], "done", done)
        self.assertTrue(self.assert_no_half_result(os.path.join(self.output, "made"), self.run_made.truth(2)))
        self.assertEqual(os.listdir(self.output), ["made"])
        self.daemon.end()
        history = self.shown(task)
        self.assertEqual((history["state"], history["result"]), ("done", done["result"]))

    @SWEEP
    def test_a_kill_behind_the_answer_loses_no_task(self, number):
        self.prepare()
        rng = random.Random(f"tasks {number}")
        accepted = []
        for _ in range(KILLS):
            self.start_daemon()
            wait_until(lambda: all(self.daemon.ask("GET", f"tasks/{task}")[0] == 200 for task in accepted), 60,
                       f"the tasks {accepted}")
            accepted.append(self.daemon.begin(2))
            time.sleep(rng.uniform(0, MOST_SECONDS))
            self.daemon.end(signal.SIGKILL)
        self.start_daemon()
        for task in accepted:
            wait_until(lambda task=task: self.daemon.ask("GET", f"tasks/{task}")[0] == 200, 60, f"task {task}")
            self.assertIn(self.daemon.task(task)["state"], ("paused", "done", "failed"), task)

    def test_another_run_by_then_is_refused(self):
        self.prepare()
        task = self.kill_in_the_middle()
        for folder, _, files in os.walk(self.run_made.source):
            for file in files:
                os.utime(os.path.join(folder, file))
        self.shown(task)
        self.daemon.ask("POST", f"tasks/{task}/resume")
        refused = self.ended(task)
        self.assertEqual((refused["state"], refused["problem"]["code"]), ("failed", "DS-EXISTS"), refused)
        self.assertFalse(os.path.lexists(os.path.join(self.output, "made")))


if __name__ == "__main__":
    main()
