#!/usr/bin/env python3
"""What is lost is said, and what is sound is not called lost: a newest step, the records of first sight, the contact to
a source; and what a rebuild calls proven."""

import os
import shutil

from support import GAP, GOLDEN, OK, OTHER, E2ETest, Served, main, wait_until


class Losses(E2ETest):
    def copy(self, case="trl-v2-gap"):
        self.source = self.path("run")
        shutil.copytree(os.path.join(GOLDEN, case, "bucket"), self.source)

    def remove(self, step):
        os.remove(os.path.join(self.source, "deltas", f"step_{step:06}.safetensors"))

    def materialized(self, *options):
        out = self.path("out")
        shutil.rmtree(out, ignore_errors=True)
        return self.run_ds("materialize", self.source, "-o", out, "--json", *options)

    def vanished(self, problems):
        return [p["step"] for p in problems if p["code"] == "DS-VANISHED"]

    # --- the newest step ---------------------------------------------------------------------------------------------

    def test_a_newest_step_that_is_gone(self):
        self.copy()
        self.ok("verify", self.source, "--strict")
        self.assertEqual(self.vanished(self.materialized().json()["notices"]), [])
        self.remove(15)
        for strict in ([], ["--strict"]):
            outcome = self.run_ds("verify", self.source, "--json", *strict)
            self.assertEqual(outcome.code, GAP, str(outcome))
            self.assertEqual(self.vanished(outcome.json()["problems"]), [15])
        self.assertEqual(self.vanished(self.ok_json("log", self.source)["problems"]), [15])
        self.assertIn("Step 15 was here and is gone", self.ok("log", self.source).out)
        rebuilt = self.materialized().json()
        self.assertEqual((rebuilt["step"], self.vanished(rebuilt["notices"])), (14, [15]))
        self.assertIn("step 15 was here and is gone", rebuilt["chosen"])
        self.assertFalse(rebuilt["proven"])
        self.ok("verify", self.source, "--accept-rewritten")
        self.assertEqual(self.vanished(self.ok_json("verify", self.source, "--strict")["problems"]), [])
        self.assertEqual(self.vanished(self.ok_json("log", self.source)["problems"]), [])
        self.assertEqual(self.vanished(self.materialized().json()["notices"]), [])

    def test_a_source_that_nobody_has_seen_misses_nothing(self):
        self.copy()
        self.remove(15)
        self.assertEqual(self.vanished(self.ok_json("verify", self.source, "--strict")["problems"]), [])
        self.assertEqual(self.ok_json("log", self.source)["latest"], 14)

    # --- records -----------------------------------------------------------------------------------------------------

    def test_records_that_are_lost(self):
        self.copy()
        records = os.path.join(self.home, "state", "records.sqlite")
        self.ok("verify", self.source)
        for lose in (os.remove, lambda path: os.truncate(path, 0)):
            self.assertEqual(self.materialized().code, OK)
            for end in ("-wal", "-shm"):
                if os.path.exists(records + end):
                    os.remove(records + end)
            lose(records)
            for outcome in (self.materialized(), self.run_ds("digest", self.source),
                            self.run_ds("diff", f"{self.source}@3", f"{self.source}@4")):
                self.refused(outcome, OTHER, "DS-CATALOG")
                self.assertIn("records of first sight of this source are lost", outcome.err)
            self.ok("verify", self.source, "--accept-rewritten")
        self.assertEqual(self.materialized().code, OK)

    def test_a_first_look_needs_no_records(self):
        self.copy()
        self.assertEqual(self.materialized().code, OK)

    # --- contact -----------------------------------------------------------------------------------------------------

    def test_a_source_that_is_emptied_and_comes_back(self):
        self.copy()
        served = Served(self, self.source)

        def health(state):
            found = served.runs()[0]["health"]
            return found if found["state"] == state else None

        wait_until(lambda: health("sound"), 30, "a sound run")
        os.rename(self.source, self.path("away"))
        os.mkdir(self.source)
        lost = wait_until(lambda: health("no_contact"), 30, "no contact")
        self.assertRegex(lost["headline"], r"^No contact since \d\d:\d\d UTC, sound until then$")
        self.assertIn("are gone", lost["problem"]["text"])
        os.rmdir(self.source)
        os.rename(self.path("away"), self.source)
        back = wait_until(lambda: health("sound"), 60, "the run again")
        self.assertNotIn("contact", back["headline"])

    def test_a_loss_that_is_accepted_elsewhere(self):
        self.copy()
        served = Served(self, self.source)
        state = lambda wanted: lambda: served.runs()[0]["health"]["state"] == wanted
        wait_until(state("sound"), 30, "a sound run")
        self.remove(15)
        wait_until(state("doubtful"), 30, "a doubtful run")
        self.ok("verify", self.source, "--accept-rewritten")
        wait_until(state("sound"), 30, "the run without its last step")

    # --- proven ------------------------------------------------------------------------------------------------------

    def test_proven_only_where_something_vouches_for_all_of_it(self):
        self.copy()
        self.assertFalse(self.materialized().json()["proven"], "no publisher's digest, never verified")
        self.ok("verify", self.source, "--level", "4")
        self.assertFalse(self.materialized().json()["proven"], "no publisher's digest")
        checkpoint, self.source = self.path("checkpoint"), self.path("rooted")
        os.rename(self.path("out"), checkpoint)
        self.ok("publish", "--layout", "trl-v2", "--into", self.source, "--from", checkpoint, "--to", checkpoint)
        self.assertTrue(self.materialized().json()["proven"], "its root is recorded")
        self.ok("verify", self.source, "--level", "4")
        self.assertTrue(self.materialized().json()["proven"], "its root is recorded, and was verified")


if __name__ == "__main__":
    main()
