#!/usr/bin/env python3
"""Several runs below one address: every command names them all, each can be verified, and one run alone is said to be
alone."""

import os
import shutil

from support import DAMAGED, GOLDEN, OK, USAGE, E2ETest, Served, main, wait_until


class SeveralRuns(E2ETest):
    def setUp(self):
        super().setUp()
        self.source = self.path("runs")
        self.copy("trl-v2-gap", "zz")
        self.copy("trl-v2-raw", "aa", lambda name: not name.startswith("step_") or int(name[5:11]) <= 3)

    def copy(self, case, name, is_wanted=lambda name: True):
        shutil.copytree(os.path.join(GOLDEN, case, "bucket"), os.path.join(self.source, name),
                        copy_function=shutil.copyfile,  # with the time of now: nothing is late
                        ignore=lambda _, names: [n for n in names if n.endswith(".safetensors") and not is_wanted(n)])

    def damage_the_long_one(self):
        path = os.path.join(self.source, "zz", "deltas", "step_000012.safetensors")
        os.truncate(path, os.path.getsize(path) - 7)

    def assert_names(self, problems, count):
        texts = [p["text"] for p in problems if p["code"] == "DS-FORK" and "runs lie here" in p["text"]]
        self.assertEqual(len(texts), count, problems)
        for text in texts:
            self.assertIn("aa (steps 1 to 3) is not looked at", text)

    def test_log_lists_them(self):
        document = self.ok_json("log", self.source)
        self.assertEqual(document["runs"], [
            {"place": "zz", "is_folder": True, "steps": 15, "first": 1, "latest": 15, "shown": True},
            {"place": "aa", "is_folder": True, "steps": 3, "first": 1, "latest": 3, "shown": False}])
        self.assert_names(document["problems"], 1)
        text = self.ok("log", self.source).out
        self.assertIn("2 runs lie below this address", text)
        self.assertIn("aa: 3 steps, newest 3", text)
        shutil.rmtree(os.path.join(self.source, "aa"))
        document = self.ok_json("log", self.source)
        self.assertNotIn("runs", document)
        self.assert_names(document["problems"], 0)

    def test_acts_name_the_others(self):
        for command in (["digest", self.source], ["diff", f"{self.source}@3", f"{self.source}@4"],
                        ["materialize", self.source, "-o", self.path("out")]):
            self.assert_names(self.ok_json(*command)["notices"], 1)
        self.assert_names(self.ok_json("show", self.source)["problems"], 1)
        alone = os.path.join(self.source, "zz")
        self.assert_names(self.ok_json("digest", alone)["notices"], 0)
        self.assert_names(self.ok_json("show", alone)["problems"], 0)

    def test_verify_looks_at_one_or_at_all(self):
        outcome = self.run_ds("verify", self.source, "--strict", "--json")
        self.assertEqual(outcome.code, OK, "another run is a notice")
        self.assert_names(outcome.json()["problems"], 1)
        every = self.ok_json("verify", self.source, "--all", "--strict")["runs"]
        self.assertEqual([os.path.basename(run["source"]) for run in every], ["zz", "aa"])
        self.assertEqual([len(run["steps"]) for run in every], [15, 3])
        for run in every:
            self.assert_names(run["problems"], 0)
        self.damage_the_long_one()
        outcome = self.run_ds("verify", self.source, "--all", "--json")
        self.assertEqual(outcome.code, DAMAGED, str(outcome))
        self.assertEqual([run["result"] == "damaged" for run in outcome.json()["runs"]], [True, False])
        self.refused(self.run_ds("verify", f"{self.source}@3", "--all"), USAGE, "DS-USAGE")

    def test_serve_follows_each(self):
        served = Served(self, self.source, "--verify-level", "0")

        def runs():
            found = served.runs()
            return {run["name"]: run for run in found} if all(run["state"] == "live" for run in found) else None

        followed = wait_until(runs, 30, "all runs to be read")
        self.assertEqual({name: run["steps"] for name, run in followed.items()}, {"runs/zz": 15, "runs/aa": 3})
        self.assertEqual({run["alerts_firing"] for run in followed.values()}, {0})


if __name__ == "__main__":
    main()
