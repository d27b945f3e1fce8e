#!/usr/bin/env python3
"""The demo: every incident of its script is seen where docs/cli.md says, its bucket is an ordinary run, and where its reward
collapses the run is rolled back: replicas and trainer go on from the earlier state."""

import contextlib
import json
import os
import signal
import subprocess

from support import CONFLICT, OK, E2ETest, main

RATE = 3
INCIDENTS = ("learning rate 1e-6", "r2  stalled", "DS-DIGEST", "digest-mismatch", "well again", "reward collapses")


class Demo(E2ETest):
    def log(self, folder):
        return self.ok_json("log", os.path.join(folder, "bucket"))

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def roll_back(self, bucket, newest):
        """An operator's answer to the collapse, who chooses a wrong step first and undoes that. None: the trainer has not
        been quiet for long enough."""
        outcome = self.run_ds("rollback", f"{bucket}@{newest - 2}", "--yes", "--json")
        if outcome.code == CONFLICT:
            return None
        self.assertEqual(outcome.code, OK, str(outcome))
        undone = self.ok_json("undo", bucket, "--yes")
        self.assertEqual(undone["to"], newest)
        self.assertEqual(self.ok_json("digest", f"{bucket}@{undone['step']}")["root"],
                         self.ok_json("digest", f"{bucket}@{newest}")["root"])
        return self.ok_json("rollback", f"{bucket}@{newest - 3}", "--yes")

    def test_the_script(self):
        folder = self.path("demo")
        broken, replicas, restored = None, [], None
        with open(self.path("out"), "w", encoding="utf-8") as out, open(self.path("err"), "w", encoding="utf-8") as err:
            process = self.start("demo", "--dir", folder, "--rate", RATE, "--seed", 7, "--for", 250, stdout=out, stderr=err)
            while process.poll() is None:
                if os.path.isdir(os.path.join(folder, "replicas", "r3", "current")):
                    view = self.log(folder)
                    broken = broken or next((p for p in view["problems"] if p["code"] == "DS-DIGEST"), None)
                    replicas = view["replicas"]
                    told = self.read("err")
                    if restored is None and "the trainer stops" in told:
                        restored = self.roll_back(os.path.join(folder, "bucket"), view["latest"])
                    served = [r["step"] for r in replicas if r["step"] is not None]
                    if (
                        all(text in told for text in INCIDENTS)
                        and "the trainer has loaded step" in told
                        and len(served) == 3
                        and min(served) > restored["step"]
                    ):
                        process.send_signal(signal.SIGINT)
                        break  # a second signal would end the demo at once
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.5)
            process.wait(120)
        told, seen = (self.read(name) for name in ("err", "out"))
        self.assertEqual(process.returncode, OK, told)

        self.assertIsNotNone(broken, "the flipped byte was never reported")
        self.assertEqual([r["id"] for r in replicas], ["r1", "r2", "r3"])
        for text in INCIDENTS:
            self.assertIn(text, told)
        self.assertIn("anchor", seen)

        bucket = os.path.join(folder, "bucket")
        log = self.ok_json("log", bucket)
        steps = {s["step"]: s for s in log["epochs"][0]["steps"]}
        self.assertGreater(max(steps), restored["step"], "the trainer goes on")
        self.assertEqual(steps[restored["step"]]["restores"], restored["to"])
        self.assertEqual(self.ok_json("digest", f"{bucket}@{restored['step']}")["root"],
                         self.ok_json("digest", f"{bucket}@{restored['to']}")["root"])
        bad = broken["step"]
        self.assertEqual(steps[bad]["state"], "broken")
        self.assertFalse(steps[bad]["restorable"])
        healed = min(s for s in steps if s > bad and steps[s]["kind"] == "anchor")
        self.assertEqual([s for s in steps if not steps[s]["restorable"]], list(range(bad, healed)))

        def changed(first, last):
            shares = [steps[s]["changed_frac"] for s in range(first, last) if steps[s]["kind"] == "delta"]
            return sum(shares) / len(shares)

        self.assertLess(changed(80, 90), 0.7 * changed(62, 74), "the drop of the learning rate is not seen")

        verify = self.run_ds("verify", bucket, "--level", "3", "--json")
        self.assertEqual(verify.code, 6, str(verify))
        words = {s["step"]: s["result"] for s in verify.json()["steps"]}
        self.assertEqual(words[bad], "damaged")
        self.assertEqual({words[s] for s in words if not bad <= s < healed}, {"verified"})

        spans = os.path.join(bucket, ".deltascope", "v1", "spans")
        phases = {}
        for actor in os.listdir(spans):
            for name in os.listdir(os.path.join(spans, actor)):
                with open(os.path.join(spans, actor, name), encoding="utf-8") as f:
                    phases.setdefault(actor, set()).update(json.loads(line)["phase"] for line in f)
        self.assertEqual(phases["publisher"], {"diff", "upload", "note"})
        for replica in log["replicas"]:
            self.assertEqual(phases[replica["id"]], {"fetch", "verify", "apply", "pause"})
            self.assertEqual(replica["state"], "stopped")
            served = self.ok_json("digest", os.path.join(folder, "replicas", replica["id"], "current"))
            self.assertEqual(served["root"], self.ok_json("digest", f"{bucket}@{replica['step']}")["root"], str(replica))

    def test_a_folder_with_something_else_is_refused(self):
        os.makedirs(self.path("mine"))
        with open(self.path("mine", "thesis.txt"), "w", encoding="utf-8") as f:
            f.write("years of work")
        outcome = self.run_ds("demo", "--dir", self.path("mine"), "--for", "1")
        self.refused(outcome, 8, "DS-EXISTS")
        self.assertEqual(os.listdir(self.path("mine")), ["thesis.txt"])


if __name__ == "__main__":
    main()
