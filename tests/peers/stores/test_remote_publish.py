#!/usr/bin/env python3
"""`publish` into a remote store, read back by the store's official client: every step is the trainer's state, bit for
bit. Killed at any request, the store has the old run or the new one, never half a version, and the same command again
ends with the step published exactly once."""

import pathlib
import random
import subprocess
import sys
import time

import remote  # finds the modules of e2e and support
from publication import Trainer
from sweep import Sweep

KILLS = 8  # in a slice
STORE = sys.argv[1] if len(sys.argv) > 1 else ""
SWEEP = Sweep(f"peers.remote_publish_{STORE}", 10)


class RemotePublish(remote.RemoteTest, Trainer):
    fetched = 0  # copies

    def prepare(self, layout):
        self.train(layout, count=4, tensors=3, elements=60_000, density=0.02)

    def step(self, place, number):
        """Arguments that publish the step from one checkpoint to the next."""
        states = [f"{self.made}/{self.name(n)}" for n in (number, number + 1)]
        return self.publish_args("--from", states[0], "--to", states[1], *self.store.writer_options, into=place.url)

    def copy_of(self, place):
        self.fetched += 1
        return self.fetch(place, f"copy-{self.fetched}")

    def check_steps(self, layout):
        self.prepare(layout)
        place = self.store.place(f"published/{layout}")
        for number in range(1, 4):
            plan = self.check_plan(place, self.step(place, number))
            before = set(payloads(place.contents()))
            with remote.Requests(self.store):
                outcome = self.ok(*self.step(place, number))
                writes = {row["key"] for row in plan["writes"]}
                if self.store.name == "s3":
                    self.assertEqual(self.requested(place, {"PUT", "POST"}), writes)
                    self.assertEqual(self.requested(place, {"DELETE"}), set())
            self.assertEqual(set(payloads(place.contents())) - before, writes)
            self.assertNotIn("already published", outcome.out)
            weak = bool(self.store.writer_options)
            self.assertEqual("cannot put under a condition" in outcome.out + outcome.err, weak, str(outcome))
            copy = self.copy_of(place)
            self.assertEqual({facts.get("ds.sole-writer") == "1" for facts in self.facts(copy).values()}, {weak})
            self.assert_published(self.names(*range(self.first, number + 2)), copy)
            remote_log, local_log = self.ok_json("log", place.url, *self.base), self.ok_json("log", copy, *self.base)
            self.assertEqual(versions(remote_log), versions(local_log))
        before = place.contents()
        self.assertIn("already published", self.ok(*self.step(place, 3)).out)
        after = place.contents()
        self.assertEqual(payloads(after), payloads(before), "what was published was touched")
        self.assert_sound(place.url)

    def check_plan(self, place, args):
        """The plan of a step, whose making writes nothing."""
        before = place.contents()
        plan = self.ok_json(*args, "--dry-run")["plan"]
        self.assertEqual(place.contents(), before)
        self.assertEqual(plan["deletes"], [])
        return plan

    def test_trl(self):
        self.check_steps("trl-v2")

    def test_slime(self):
        self.check_steps("slime-v2")

    def put(self, place, files):
        for path, data in files.items():
            place.put_object(path, data)

    def test_what_a_killed_upload_left_is_removed_and_nothing_else(self):
        if self.store.name != "s3":
            self.skipTest("an upload that was killed leaves nothing that can be seen in this store")
        self.train("trl-v2", count=2, tensors=2, elements=8_000_000, density=0.02)  # an anchor of 32 MB: in parts
        place, client = self.store.place("left"), self.store.client
        bucket = self.store.server.bucket
        foreign = client.create_multipart_upload(Bucket=bucket, Key="left/foreign")["UploadId"]
        args = self.publish_args("--from", f"{self.made}/{self.name(1)}", "--to", f"{self.made}/{self.name(2)}", into=place.url)

        def uploads():
            return [u["UploadId"] for u in client.list_multipart_uploads(Bucket=bucket).get("Uploads", [])]

        def parts():
            listed = client.list_multipart_uploads(Bucket=bucket).get("Uploads", [])
            each = [client.list_parts(Bucket=bucket, Key=u["Key"], UploadId=u["UploadId"]) for u in listed]
            return [len(one.get("Parts", [])) for one in each]

        process = self.start(*args, stdout=subprocess.DEVNULL)

        def act(_):
            if any(parts()):  # it knows its upload; one whose begin was not answered is known to nobody
                process.kill()
            return True

        with remote.Requests(self.store, act):
            process.wait(120)
        self.assertLess(process.returncode, 0)
        self.assertEqual(len(uploads()), 2)
        before = None  # a part that arrives behind the abort of its upload may bring that back, also on S3
        while before != parts():
            before = parts()
            time.sleep(1)
        self.assertIn("removed 1 that writers", self.run_ds("doctor", place.url, "--clean").out)  # there is no run yet
        self.assertEqual(uploads(), [foreign])
        self.ok(*args)
        self.assert_published(self.names(1, 2), self.copy_of(place))

    def test_what_a_killed_put_has_sent_is_told_until_it_was_put(self):
        if self.store.name != "hub":
            self.skipTest("what a killed put leaves in this store can be removed")
        self.train("trl-v2", count=2, tensors=2, elements=8_000_000, density=0.02)  # an anchor of 32 MB: two xorbs
        place = self.store.place("left")
        states = [f"{self.made}/{self.name(n)}" for n in (1, 2)]
        args = self.publish_args("--from", states[0], "--to", states[1], *self.store.writer_options, into=place.url)
        journal = pathlib.Path(self.home, "state", "uploads")
        process = self.start(*args, stdout=subprocess.DEVNULL)

        def act(_):
            keys = [note.read_text().splitlines()[0] for note in journal.glob("*.upload")]
            if any(".deltascope" not in key for key in keys):  # not the lease
                process.kill()
            return True

        with remote.Requests(self.store, act):
            process.wait(120)
        self.assertLess(process.returncode, 0)
        told = "1 put of this machine ended early (anchors/"
        self.assertIn(told, self.run_ds("doctor", place.url).out)  # there is no run yet
        other = self.store.place("elsewhere")
        self.assertNotIn("ended early", self.run_ds("doctor", other.url).out)
        self.ok(*args)
        self.assert_published(self.names(1, 2), self.copy_of(place))
        # The header of the anchor names another attempt, so that its first xorb is another one.
        self.assertIn("left 1 xorb,", self.ok("doctor", place.url, "--clean").out)
        self.assertNotIn("ended early", self.ok("doctor", place.url).out)

    @SWEEP
    def test_killed(self, number):
        self.prepare(("trl-v2", "slime-v2")[number % 2])
        chance = random.Random(f"{STORE} {number}")
        template = self.store.place(f"template-{number}")
        self.ok(*self.step(template, 1))
        files = template.contents()
        older, newer = self.names(*range(self.first, 3)), self.names(*range(self.first, 4))

        counted = self.store.place(f"counted-{number}")
        self.put(counted, files)
        with remote.Requests(self.store) as requests:
            self.ok(*self.step(counted, 2))
        self.assert_published(newer, self.copy_of(counted))

        hit = committed = 0
        for trial in range(KILLS):
            at = chance.randint(1, requests.count) if trial else requests.count
            dropped = chance.random() < 0.5
            with self.subTest(trial=trial, request=at, of=requests.count, dropped=dropped):
                place = self.store.place(f"killed-{number}-{trial}")
                self.put(place, files)
                args = self.step(place, 2)
                hit += self.kill_at(args, at, dropped) < 0
                copy = self.copy_of(place)
                there = self.origins(copy) == newer
                committed += there
                self.assert_published(newer if there else older, copy, leftovers=True)
                again = self.ok(*args)
                self.assertEqual("already published" in again.out, there, str(again))
                self.assert_published(newer, self.copy_of(place))
        print(f"{self.layout}: {hit} of {KILLS} killed, {committed} of them behind the commit", flush=True)
        self.assertGreater(hit, KILLS // 2)


def versions(log):
    fields = ("step", "kind", "base_step", "changed_elems", "wire_bytes", "restorable", "state")
    return [[tuple(s[f] for f in fields) for s in epoch["steps"]] for epoch in log["epochs"]]


def payloads(contents):
    """Without what the program keeps for itself."""
    return {path: data for path, data in contents.items() if remote.is_payload(path)}


if __name__ == "__main__":
    remote.main()
