#!/usr/bin/env python3
"""`publish` killed with SIGKILL at random moments: readers that look meanwhile never meet half a version, the next
start goes on, and at the end every step is there once, right and verified."""

import os
import random
import subprocess
import threading

from publication import Trainer
from support import OK, main, tree_state, wait_until
from sweep import Sweep

SWEEP = Sweep("e2e.publish_kill", 20)
KILLS = 12  # in a slice, of each layout and each way to publish
UNUSABLE = {"publishing", "broken"}


class Reader(threading.Thread):
    """Looks at the run that `owner` publishes into, again and again, as a rollout worker would. `wrong`: what it must not see."""

    def __init__(self, owner):
        super().__init__(daemon=True)
        self.owner, self.wrong, self.looks, self.steps = owner, [], 0, 0
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            into = self.owner.target
            try:
                if os.path.isdir(into) and self.owner.facts(into):
                    self.look(into)
            except Exception as e:  # noqa: BLE001
                self.wrong.append(repr(e))
                return
            self.ended.wait(0.005)

    def look(self, into):
        document, steps = self.owner.log(into)
        self.looks += 1
        for (_, number), step in steps.items():
            if step["state"] in UNUSABLE:
                if step["restorable"] or {p["code"] for p in step["problems"]} - {"DS-PUBLISHING", "DS-UNFINISHED"}:
                    self.wrong.append(f"step {number}: {step}")
            elif not step["restorable"] or step["problems"]:
                self.wrong.append(f"step {number}: {step}")
        latest = document["latest"]
        if latest is not None:
            self.steps += 1
            root = self.owner.root(f"{into}@{latest}", *self.owner.base)
            if root != self.owner.expected_root(latest):
                self.wrong.append(f"step {latest} has root {root}")


class PublishKill(Trainer):
    def prepare(self, layout, number):
        self.rng = random.Random(f"{layout} {number}")
        self.train(layout, count=6, tensors=3, elements=150_000, density=0.02)
        self.numbers = list(range(self.first, 7))
        self.drop(*self.numbers)
        self.hit = self.round = 0
        self.new_target()
        self.reader = Reader(self)
        self.addCleanup(self.reader.ended.set)

    def new_target(self):
        self.round += 1
        self.target = self.at(f"run-{self.round}")

    def expected_root(self, step):
        return self.roots[self.name(self.numbers[step - 1])]

    def run_and_kill(self, args, longest):
        """Returns whether it ended by itself."""
        process = self.start(*args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            process.wait(timeout=self.rng.uniform(0, longest))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.hit += process.returncode < 0
        if process.returncode >= 0:
            self.assertEqual(process.returncode, OK, process.stderr.read())
        process.stderr.close()
        return process.returncode == OK

    def finish(self):
        self.assert_published(self.names(*self.numbers), self.target)
        document, steps = self.log(self.target)
        self.assertEqual(len(steps), len(self.numbers))
        self.assertEqual(document["ignored_objects"], 0, "leftovers")
        self.assertEqual(document["problems"], [])
        self.new_target()

    def conclude(self):
        self.reader.ended.set()
        self.reader.join(60)
        self.assertFalse(self.reader.is_alive())
        self.assertEqual(self.reader.wrong, [])
        print(f"{self.layout}: {self.hit} of {KILLS} hit a living process, {self.reader.looks} looks", flush=True)
        self.assertGreater(self.hit, KILLS // 8, "the kills came too late to mean anything")
        self.assertGreater(self.reader.steps, 0)

    def watching(self, layout, number):
        self.prepare(layout, number)
        longest = self.ok(*self.watch_args("--once", into=self.target)).seconds
        self.finish()
        self.reader.start()
        for i in range(KILLS):
            with self.subTest(kill=i):
                if self.run_and_kill(self.watch_args("--once", into=self.target), 1.05 * longest):
                    self.finish()
        self.ok(*self.watch_args("--once", into=self.target))
        self.finish()
        self.conclude()

    def single_steps(self, layout, number):
        self.prepare(layout, number)
        pairs = [(n, n + 1) for n in range(1, 6)]

        def args(a, b):
            states = [os.path.join(self.made, self.name(n)) for n in (a, b)]
            return self.publish_args("--from", states[0], "--to", states[1], into=self.target)

        longest = sorted(self.ok(*args(a, b)).seconds for a, b in pairs)[2]
        self.finish()
        self.reader.start()
        i = 0
        while i < KILLS:
            for a, b in pairs:
                while self.name(b) not in self.origins(self.target):
                    with self.subTest(kill=i):
                        if i < KILLS:
                            self.run_and_kill(args(a, b), 1.05 * longest)
                        else:
                            self.ok(*args(a, b))
                        i += 1
            self.finish()
        self.conclude()

    def behind_the_commit(self, layout):
        """Killed as soon as the version is there: the same command again says so, and puts nothing."""
        self.prepare(layout, 0)
        hit = 0
        for a in range(1, 6):
            with self.subTest(layout=layout, step=a):
                states = [os.path.join(self.made, self.name(n)) for n in (a, a + 1)]
                args = self.publish_args("--from", states[0], "--to", states[1], into=self.target)
                process = self.start(*args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                wait_until(lambda: process.poll() is not None or self.has(self.name(a + 1)), 60, "a commit")
                process.kill()
                hit += process.wait() < 0
                before = tree_state(self.target, without=(".deltascope",))
                again = self.ok(*args)
                self.assertIn(f"{self.name(a + 1)} is already published", again.out)
                self.assertEqual(tree_state(self.target, without=(".deltascope",)), before)
        self.assertGreater(hit, 0, "no kill hit a living process")
        self.assert_published(self.names(*self.numbers), self.target)

    def has(self, origin):
        facts = self.facts(self.target) if os.path.isdir(self.target) else {}
        return origin in [version.get("ds.origin") for version in facts.values()]

    def test_behind_the_commit_trl(self):
        self.behind_the_commit("trl-v2")

    def test_behind_the_commit_slime(self):
        self.behind_the_commit("slime-v2")

    @SWEEP
    def test_watching_trl(self, number):
        self.watching("trl-v2", number)

    @SWEEP
    def test_watching_slime(self, number):
        self.watching("slime-v2", number)

    @SWEEP
    def test_single_steps_trl(self, number):
        self.single_steps("trl-v2", number)

    @SWEEP
    def test_single_steps_slime(self, number):
        self.single_steps("slime-v2", number)


if __name__ == "__main__":
    main()
