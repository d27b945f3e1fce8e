#!/usr/bin/env python3
"""No value of an object that was rewritten since it was first read is shown without a word. Over HTTP, an act on objects that
were rewritten since they were first read is refused, and done where the request accepts them: this once by a materialization
or comparison, from then on by a verification."""

import json
import os
import signal

from support import E2ETest, main, wait_until
from test_records import flip, place_of_value
from test_tasks import Daemon

KEY = "deltas/step_000003.safetensors"
MEANING = "Use the bytes that are there now, which are not those first read"


class AcceptRewritten(E2ETest):
    def prepare(self):
        run = self.make_run(tensors=3, elements=4000, steps=4, density=0.02)
        self.ok("verify", run.source)
        path = os.path.join(run.source, KEY)
        flip(path, place_of_value(path))
        output = self.path("out")
        os.mkdir(output)
        self.daemon = Daemon(run.source, output, {**os.environ, "DELTASCOPE_HOME": self.path("home")})
        self.addCleanup(lambda: self.daemon.end(signal.SIGKILL))
        self.run_id = self.daemon.ask("GET", "runs")[1]["runs"][0]["id"]
        return run

    def did(self, kind, **args):
        """The task of an act, once it is over."""
        task = self.daemon.start(self.daemon.plan(kind, args))
        return wait_until(
            lambda: self.daemon.task(task)["state"] in ("done", "failed") and self.daemon.task(task), 60, "its end"
        )

    def refused(self, kind, **args):
        task = self.did(kind, **args)
        self.assertEqual((task["state"], task["problem"]["code"]), ("failed", "DS-REWRITTEN"), task)
        self.assertEqual(task["accept_rewritten"], MEANING)
        return task

    def test_a_materialization_and_a_comparison_accept_only_where_they_say_so(self):
        self.prepare()
        for kind, args in (("materialize", {"step": "4", "to": "made"}), ("diff", {"a": "1", "b": "4"})):
            task = self.refused(kind, **args)
            status, request = self.daemon.ask("GET", f"tasks/{task['id']}/request")
            self.assertEqual((status, request["kind"], request["args"]["accept_rewritten"]), (200, kind, False))
            request["args"]["accept_rewritten"] = True
            done = self.did(kind, **request["args"])
            self.assertEqual((done["state"], done["accept_rewritten"]), ("done", None), done)
            self.assertEqual(done["result"]["rewritten"], [KEY])
            self.assertIn(" --accept-rewritten", done["cli"])
        self.refused("materialize", step="4", to="once more")
        with open(self.path("out", "made", "deltascope.provenance.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f)["rewritten"], [KEY])

    def test_behind_a_verification_that_accepts_nothing_is_left_to_accept(self):
        self.prepare()
        found = self.did("verify", level=2)
        self.assertEqual(found["state"], "done")
        self.assertIn("from now on", found["accept_rewritten"])
        self.refused("materialize", step="4", to="made")
        self.assertIsNone(self.did("verify", level=2, accept_rewritten=True)["accept_rewritten"])
        done = self.did("materialize", step="4", to="made")
        self.assertEqual((done["state"], done["result"]["rewritten"]), ("done", []), done)

    def test_the_field_is_a_truth_value(self):
        self.prepare()
        for kind, args in (("materialize", {"step": "4"}), ("verify", {"level": 2}), ("diff", {"a": "1", "b": "4"})):
            for wrong in (1, "true", []):
                status, problem = self.daemon.ask(
                    "POST", f"runs/{self.run_id}/plans", {"kind": kind, "args": {**args, "accept_rewritten": wrong}}
                )
                self.assertEqual((status, problem["code"]), (400, "DS-USAGE"), (kind, wrong))


class ShownValues(E2ETest):
    """Values of an object that was rewritten since it was first read are shown nowhere without a word."""

    def prepare(self):
        self.run = self.make_run(tensors=3, elements=4000, steps=4, density=0.02)
        self.ok("verify", self.run.source, "--level", "3")
        self.path_of = os.path.join(self.run.source, KEY)

    def rewrite(self):
        flip(self.path_of, place_of_value(self.path_of))

    def values(self, commands):
        return [{**self.ok_json(*command), "seconds": None} for command in commands]

    def test_on_the_command_line(self):
        self.prepare()
        run, name = self.run, self.ok_json("show", self.run.at(4))["tensors"][0]["name"]
        commands = [["stats", run.at(3), name], ["stats", run.at(4), name, "--history", "3"],
                    ["stats", run.at(4), name, "--history", "all"]]
        before = self.values(commands)
        self.assertEqual([view["rewritten"] + view["notices"] for view in before], [[], [], []])
        self.rewrite()
        for command in commands:
            self.refused(self.run_ds(*command), word="DS-REWRITTEN")
            line = f"rewritten since it was first seen, and used: {KEY}"
            self.assertEqual(self.ok(*command, "--accept-rewritten").out.count(line), 1, command)
            self.assertEqual(self.ok_json(*command, "--accept-rewritten")["rewritten"], [KEY], command)
        self.ok("stats", run.at(2), name)
        self.rewrite()
        self.assertEqual(self.values(commands), before, "the sound twin")

    def test_counts(self):
        self.prepare()

        def counts():
            steps = self.ok_json("log", self.run.source)["epochs"][0]["steps"]
            return [step["changed_vs_prev_elems"] for step in sorted(steps, key=lambda step: step["step"])]

        before = counts()
        self.assertNotIn(None, before[1:])
        name = self.ok_json("show", self.run.at(4))["tensors"][0]["name"]
        cost = self.ok_json("cost", self.run.source)
        self.assertEqual((cost["problems"], cost["observed_deltas"]), ([], 3))
        self.rewrite()
        self.run_ds("verify", self.run.source)
        self.assertEqual(counts(), [*before[:2], None, None])
        self.assertEqual([row["changed_vs_prev_elems"] for row in self.ok_json("show", self.run.at(4))["tensors"]], [None] * 3)
        self.assertEqual([step["changed_elems"] for step in self.ok_json("log", self.run.source, name)["changes"]][2:], [None, None])
        cost = self.ok_json("cost", self.run.source)
        self.assertEqual(([problem["code"] for problem in cost["problems"]], cost["observed_deltas"]), (["DS-REWRITTEN"], 1))
        self.rewrite()
        self.run_ds("verify", self.run.source)
        self.assertEqual(counts(), before, "the sound twin")

    def test_over_http(self):
        self.prepare()
        daemon = Daemon(self.run.source, self.path(""), {**os.environ, "DELTASCOPE_HOME": self.path("home")})
        self.addCleanup(lambda: daemon.end(signal.SIGKILL))
        run = daemon.ask("GET", "runs")[1]["runs"][0]["id"]
        views = ["blocks?n=4", "elements?row=0&col=0&rows=4&cols=4", "statistics", "statistics/history?steps=3"]

        def answers(step):
            return [daemon.exchange("GET", f"runs/{run}/steps/0:{step}/tensors/0/{view}") for view in views]

        def are_shown(step):  # 503 until the run is open
            return [status for status, _, _ in answers(step)] == [200] * len(views)

        wait_until(lambda: are_shown(4), 60, "the values of step 4")
        self.rewrite()
        for status, _, text in answers(4):
            self.assertGreaterEqual(status, 400)
            self.assertEqual(json.loads(text)["code"], "DS-REWRITTEN")
        self.assertTrue(are_shown(2), "the sound twin")

    def test_a_page_says_it_before_anything_is_verified(self):
        self.prepare()
        daemon = Daemon(self.run.source, self.path(""), {**os.environ, "DELTASCOPE_HOME": self.path("home")})
        self.addCleanup(lambda: daemon.end(signal.SIGKILL))

        def notices():
            problems = daemon.ask("GET", f"runs/{run}")[1]["problems"]
            return [problem for problem in problems if "since it was first seen" in problem["text"]]

        run = daemon.ask("GET", "runs")[1]["runs"][0]["id"]
        wait_until(lambda: daemon.ask("GET", f"runs/{run}")[1].get("epochs"), 60, "the run to open")
        self.assertEqual(notices(), [])
        with open(self.path_of, "rb") as file:
            content = file.read()
        with open(self.path("copy"), "wb") as file:
            file.write(content)
        os.replace(self.path("copy"), self.path_of)  # another object with the same bytes, never a part of it
        notice = wait_until(notices, 60, "the notice")[0]
        self.assertEqual((notice["code"], os.path.join(self.run.source, notice["where"])), ("DS-UNPROVEN", self.path_of))
        self.assertIn("not compared with the record yet", notice["text"])
        self.ok("verify", self.run.source, "--level", "3")
        wait_until(lambda: not notices(), 60, "the end of the notice")
        self.rewrite()
        self.run_ds("verify", self.run.source, "--level", "3")
        wait_until(lambda: [notice for notice in notices() if notice["code"] == "DS-REWRITTEN"], 60, "the notice")


if __name__ == "__main__":
    main()
