#!/usr/bin/env python3
"""Two publishers at one prefix, started together: one publishes, the other is told so, and the run stays whole."""

import json
import os
import signal
import subprocess

from publication import Trainer
from support import CONFLICT, OK, main, wait_until

ROUNDS = int(os.environ.get("DELTASCOPE_ROUNDS", "20"))  # of each layout


class TwoPublishers(Trainer):
    def race(self, args):
        """(exit status, stderr) of two processes that start together, by status; who is refused says why."""
        processes = [self.start(*args, stdout=subprocess.DEVNULL) for _ in range(2)]
        errors = [process.communicate(timeout=60)[1].decode() for process in processes]
        outcomes = sorted((process.returncode, err) for process, err in zip(processes, errors))
        self.assertEqual(outcomes[0][0], OK, f"nobody published: {outcomes}")
        code, err = outcomes[1]
        if code == CONFLICT:
            self.assertRegex(err, "DS-EXISTS: .* publishes into this run", err)
        return outcomes[1]

    def rounds(self, layout):
        self.train(layout, count=ROUNDS + 2, elements=60_000)
        refused = 0
        for n in range(self.first, ROUNDS + self.first):
            with self.subTest(round=n):
                self.drop(n)
                code, err = self.race(self.watch_args("--once"))
                self.assertIn(code, (OK, CONFLICT), err)  # OK: it came when the first was done, and found nothing to do
                refused += code == CONFLICT
                self.assertEqual(self.origins(), self.names(*range(self.first, n + 1)))
                self.assert_sound()
        print(f"\n{layout}: {refused} of {ROUNDS} refused", flush=True)
        self.assertGreater(refused, 0, "they never met")
        self.assert_published(self.names(*range(self.first, ROUNDS + self.first)))

    def test_trl(self):
        self.rounds("trl-v2")

    def test_slime(self):
        self.rounds("slime-v2")

    def test_the_first_step_of_a_run(self):
        """Both find an empty folder."""
        self.train(count=2, elements=60_000)
        states = [os.path.join(self.made, self.name(n)) for n in (1, 2)]
        for i in range(10):
            with self.subTest(round=i):
                self.into = self.at(f"run-{i}")
                code, err = self.race(self.publish_args("--from", states[0], "--to", states[1]))
                self.assertIn(code, (OK, CONFLICT), err)  # OK: it came when the first was done: already published
                self.assert_published(self.names(1, 2))

    def test_a_publisher_elsewhere_is_waited_for(self):
        self.train(count=3)
        self.drop(1)
        self.ok(*self.watch_args("--once"))
        folder = os.path.join(self.into, ".deltascope", "v1", "lease")
        lease = os.path.join(folder, "publisher-00000002.json")
        held = {"actor": "nightly", "host": "trainer-3/boot/pid:[7]", "pid": 4711, "started": "1", "renewed_us": 0}
        held["released"] = False

        def put(**changes):
            with open(lease + ".new", "w", encoding="utf-8") as f:
                json.dump(held | changes, f)
            os.replace(lease + ".new", lease)

        def begin():
            self.errors = open(self.at("stderr"), "w+", encoding="utf-8")  # noqa: SIM115
            self.addCleanup(self.errors.close)
            process = self.start(*self.watch_args("--once"), stdout=subprocess.DEVNULL, stderr=self.errors)
            wait_until(lambda: "watching since" in said(), 30, "a word of whom it waits for")
            self.assertRegex(said(), r"nightly \(process 4711 on trainer-3\) .*10 minutes.*remove .*publisher-00000002")
            self.assertEqual(self.origins(), self.names(1))
            return process

        def said():
            with open(self.at("stderr"), encoding="utf-8") as f:
                return f.read()

        self.drop(2)
        put()
        process = begin()
        put(renewed_us=1)
        self.assertEqual(process.wait(30), CONFLICT, said())
        self.assertRegex(said(), "DS-EXISTS: .* publishes into this run: it has renewed its lease")
        self.assertEqual(self.origins(), self.names(1))
        process = begin()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), OK, said())
        process = begin()
        put(released=True)
        self.assertEqual(process.wait(30), OK, said())
        self.assert_published(self.names(1, 2))
        self.assertEqual(os.listdir(folder), ["publisher-00000003.json"])


if __name__ == "__main__":
    main()
