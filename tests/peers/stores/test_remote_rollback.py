#!/usr/bin/env python3
"""`rollback` on a remote store: it reads and writes what its plan says and nothing else, as the store's own log tells.
Killed at any request, the store has the old run or the new one, and the same command again ends with the step restored
exactly once."""

import pathlib
import random
import subprocess
import sys
import time

import remote  # finds the modules of e2e and support
from publication import Trainer
from support import CONFLICT, OK
from sweep import Sweep

KILLS = 4  # in a slice
STORE = sys.argv[1] if len(sys.argv) > 1 else ""
SWEEP = Sweep(f"peers.remote_rollback_{STORE}", 10)


class RemoteRollBack(remote.RemoteTest, Trainer):
    def prepare(self, layout):
        """The objects of a run of three steps. Its versions came at once, so that no trainer seems to run."""
        self.train(layout, count=4, tensors=3, elements=60_000, density=0.02)
        template = self.store.place(f"template-{self._testMethodName}")
        for number in range(1, 4):
            states = [f"{self.made}/{self.name(n)}" for n in (number, number + 1)]
            self.ok(*self.publish_args("--from", states[0], "--to", states[1], *self.store.writer_options, into=template.url))
        self.files = {path: data for path, data in template.contents().items() if remote.is_payload(path)}
        steps = [step["step"] for step in self.ok_json("log", template.url, *self.base)["epochs"][-1]["steps"]]
        self.newest, self.target = steps[-1], steps[-3]
        self.expected = self.state_root(template, self.target)

    def fresh(self, name):
        place = self.store.place(name)
        for path, data in self.files.items():
            place.put_object(path, data)
        quiet = 3  # intervals; the objects of a place are put within a second or two
        time.sleep(quiet)
        return place, ["rollback", f"{place.url}@{self.target}", *self.base]

    def state_root(self, place, step):
        return self.ok_json("digest", f"{place.url}@{step}", *self.base)["root"]

    def stored(self, place):
        return {path: data for path, data in place.contents().items() if remote.is_payload(path)}

    def phases(self, place):
        return [entry["phase"] for entry in self.ok_json("journal", place.url, *self.base)["journal"]]

    def check_plan(self, layout):
        self.prepare(layout)
        place, args = self.fresh(f"planned-{layout}")
        with remote.Requests(self.store):
            plan = self.ok_json(*args)["plan"]
            self.assertEqual(self.stored(place), self.files, "a plan writes nothing")
            done = self.ok_json(*args, "--yes")
            if self.store.name == "s3":
                own = {row["key"] for row in plan["reads"] if row["store"] is None}
                writes = {row["key"] for row in plan["writes"]}
                read = self.requested(place, {"GET"}) - writes
                self.assertLessEqual(own, read)
                self.assertLessEqual(read, set(self.files), "beside those, headers of the other versions")
                self.assertEqual(self.requested(place, {"PUT", "POST"}), writes)
                self.assertEqual(self.requested(place, {"DELETE"}), set())
        after = place.contents()
        self.assertEqual({path: after[path] for path in self.files}, self.files, "what was there is untouched")
        self.assertEqual({path for path in after if path not in self.files and remote.is_payload(path)}, set(done["keys"]))
        self.assertEqual(set(done["keys"]), {row["key"] for row in plan["writes"]})
        kinds = {pathlib.PurePath(path).parts[2] for path in after if not remote.is_payload(path)}
        self.assertEqual(kinds, set(plan["beside"]))
        self.assertEqual(self.state_root(place, self.newest + 1), self.expected)
        self.ok("verify", place.url, "--level", "3", "--strict", *self.base)

    def test_trl(self):
        self.check_plan("trl-v2")

    def test_slime(self):
        self.check_plan("slime-v2")

    @SWEEP
    def test_killed(self, number):
        self.prepare(("trl-v2", "slime-v2")[number % 2])
        chance = random.Random(f"{STORE} {number}")
        _, args = self.fresh(f"counted-{number}")
        with remote.Requests(self.store) as requests:
            self.ok(*args, "--yes")
        hit = behind = 0
        for trial in range(KILLS):
            at = chance.randint(1, requests.count) if trial else requests.count
            dropped = chance.random() < 0.5
            with self.subTest(trial=trial, request=at, of=requests.count, dropped=dropped):
                place, args = self.fresh(f"killed-{number}-{trial}")
                hit += self.kill_at([*args, "--yes"], at, dropped) < 0
                restored = self.ok_json("log", place.url, *self.base)["latest"] == self.newest + 1
                behind += restored
                after = place.contents()
                self.assertEqual({path: after.get(path) for path in self.files}, self.files)
                self.assertEqual("done" in self.phases(place) and not restored, False)
                again = self.ok(*args, "--yes")
                self.assertEqual("already" in again.out, restored, str(again))
                self.assertEqual(self.state_root(place, self.newest + 1), self.expected)
                self.assertEqual(self.phases(place)[-1], "done")
        print(f"{hit} of {KILLS} killed at one of {requests.count} requests, {behind} of them behind the put", flush=True)
        self.assertGreaterEqual(hit, KILLS // 2)

    def restores(self, place):
        """Which step each version behind the published ones restores."""
        steps = [step["step"] for step in self.ok_json("log", place.url, *self.base)["epochs"][-1]["steps"]]
        return [self.ok_json("show", f"{place.url}@{n}", *self.base)["restores"] for n in steps if n > self.newest]

    @SWEEP
    def test_two_operators(self, number):
        """They begin at nearly the same time: to different targets, to the same one, and one that takes a roll back back."""
        self.prepare(("trl-v2", "slime-v2")[number % 2])
        chance = random.Random(f"{STORE} {number}")
        place, args = self.fresh(f"raced-{number}")
        act = lambda step: ["rollback", f"{place.url}@{step}", *self.base, "--yes"]
        pairs = [
            (act(self.target), act(self.target + 1), {OK: [self.target], CONFLICT: [self.target + 1]}),
            (act(self.target), act(self.target), {OK: [self.target], CONFLICT: [self.target]}),
            (["undo", place.url, *self.base, "--yes"], act(self.target + 1), {}),
        ]
        first, second, winners = pairs[number % 3]
        before = []
        if not winners:
            self.ok(*args, "--yes")
            before = [self.target]
            winners = {OK: [self.target, self.newest], CONFLICT: [self.target, self.target + 1]}
        a = self.start(*first, stdout=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, 0.1))
        b = self.start(*second, stdout=subprocess.DEVNULL)
        ends = [(process.communicate(timeout=120)[1].decode(), process.returncode) for process in (a, b)]
        codes = [code for _, code in ends]
        for err, code in ends:
            self.assertIn(code, (OK, CONFLICT), err)
            if code == CONFLICT:
                self.assertRegex(err, r"DS-EXISTS[^→]*→ .*(repeat this|start again)")
        now = self.restores(place)
        print(f"{codes}: {now}", flush=True)
        if codes == [CONFLICT, CONFLICT]:
            self.assertEqual(now, before)
        elif codes != [OK, OK]:
            self.assertEqual(now, winners[codes[0]])
        elif number % 3 == 1:
            self.assertEqual(now, [self.target])
        else:
            self.assertEqual(len(now), len(before) + 2)
        told = [e["text"] for e in self.ok_json("journal", place.url, *self.base)["journal"] if e["phase"] == "done"]
        self.assertEqual(told, [f"step {self.newest + n} restores step {to}" for n, to in enumerate(now, 1)])
        after = place.contents()
        self.assertEqual({path: after[path] for path in self.files}, self.files)
        self.ok("verify", place.url, "--level", "3", "--strict", *self.base)


if __name__ == "__main__":
    remote.main()
