#!/usr/bin/env python3
"""500 faults of a remote store, one to a run of `verify`, `materialize` or `publish`: no wrong byte under a good word,
at least 99 % of the transient ones healed without a user, nothing beyond its deadline, and errors that name cause and
action.

A bit that flips on its way is counted apart: whether it was told, harmless or not seen, and why it could not be
seen."""

import collections
import json
import os
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import remote  # finds the modules of e2e and support
from faults import KINDS, Fault, fits
from publication import Trainer
from support import OK, read_checkpoint
from sweep import Sweep

STORE = sys.argv[1] if len(sys.argv) > 1 else ""
SLICES = 10
FAULTS = 500  # in all slices
WORKERS = 4
DEADLINE = 120  # seconds of an operation; one that meets a stall has another minute, after which a client gives up
SWEEP = Sweep(f"peers.remote_faults_{STORE}", SLICES)
NOT_THERE = {
    "s3": {"expired-token", "expired-url"},
    "hub": {"expired-key", "time-too-skewed"},
}  # kinds that fit nothing
OPERATIONS = ("verify", "materialize", "publish")
GOOD_WORDS = {"verified", "consistent"}


class Lane:
    """A store of its own with a run in it, so that the trials of several lanes do not meet."""

    def __init__(self, store, number):
        self.store, self.number, self.trials = store, number, 0
        self.requests = {}  # operation -> [(side, Request)] of a run without a fault


class Trial:
    def __init__(self, operation, kind, side, skip, place):
        self.operation, self.kind, self.side = operation, kind, side
        self.fault = Fault(kind, skip=skip, place=place)

    def __str__(self):
        return (
            f"{self.kind} in {self.operation}, {self.side}, behind {self.fault.skip} others, at {self.fault.place:.2f}"
        )


class RemoteFaults(remote.RemoteTest, Trainer):
    @classmethod
    def setUpClass(cls):
        cls.lanes = [Lane(remote.STORES[STORE]().start(cls.enterClassContext), n) for n in range(WORKERS)]
        cls.store = cls.lanes[0].store

    # --- one run of the program --------------------------------------------------------------------------------------

    def prepare(self):
        """A run of three steps with digests of its own, in the store of each lane."""
        self.train("slime-v2", count=4, tensors=3, elements=60_000, density=0.02)
        template = self.store.place(f"template-{self.id()}")
        for number in (1, 2):
            self.ok(*self.step_args(template, number))
        self.files = template.contents()
        self.older, self.newer = self.names(2, 3), self.names(2, 3, 4)
        self.truth = read_checkpoint(f"{self.made}/{self.name(3)}")
        for lane in self.lanes:
            lane.place = lane.store.place(f"run-{self.id()}")
            self.put(lane.place)
            for operation in OPERATIONS:
                target = self.target_of(lane, operation)
                with remote.Requests(lane.store):
                    outcome = self.operate(lane, operation, target)
                    self.assertEqual(outcome.code, OK, str(outcome))
                    seen = [(side, request) for side, proxy in lane.store.proxies.items() for request in proxy.seen]
                lane.requests[operation] = seen

    def put(self, place):
        for path, data in self.files.items():
            place.put_object(path, data)

    def step_args(self, place, number):
        states = [f"{self.made}/{self.name(n)}" for n in (number, number + 1)]
        return self.publish_args("--from", states[0], "--to", states[1], *self.store.writer_options, into=place.url)

    def target_of(self, lane, operation):
        """Where the operation publishes to: two steps, put there by the official client. None for others."""
        if operation != "publish":
            return None
        lane.trials += 1
        place = lane.store.place(f"into-{lane.number}-{lane.trials}")
        self.put(place)
        return place

    def operate(self, lane, operation, target, deadline=DEADLINE):
        lane.trials += 1
        lane.out = self.path(f"out-{lane.number}-{lane.trials}")
        variables = lane.store.environment | {"DELTASCOPE_HOME": self.path(f"home-{lane.number}-{lane.trials}")}
        env = self.environment(**variables)
        if operation == "publish":
            lane.target = target
            args = self.step_args(lane.target, 3)
        elif operation == "verify":
            args = ["verify", lane.place.url, "--level", "3", *self.base]
        else:
            args = ["materialize", f"{lane.place.url}@2", "-o", lane.out, *self.base]
        return self.run_ds(*args, "--json", timeout=deadline, env=env)

    # --- trials ------------------------------------------------------------------------------------------------------

    def trials_of(self, number, lane):
        """The trials of a slice: every kind as often as any other, each at a random request that it can strike."""
        chance = random.Random(f"{STORE} {number}")
        kinds = [kind for kind in KINDS if kind not in NOT_THERE[STORE]]
        for n in range(number, FAULTS, SLICES):
            kind, places = kinds[n % len(kinds)], []
            for operation in OPERATIONS:
                skips = collections.Counter()
                for side, request in lane.requests[operation]:
                    if fits(kind, request):
                        places.append((operation, kind, side, skips[side]))
                        skips[side] += 1
            if places:
                yield Trial(*chance.choice(places), chance.random())

    def run_trial(self, lane, trial):
        """(the record of the fault that struck or None, outcome, what is wrong or None)"""
        target, proxy = self.target_of(lane, trial.operation), lane.store.proxies[trial.side]
        with remote.Requests(lane.store):
            proxy.plan(trial.fault)
            try:
                outcome = self.operate(lane, trial.operation, target, DEADLINE + 90 * (trial.kind == "stall"))
            except AssertionError as error:  # still running
                return {"transient": KINDS[trial.kind][0]}, None, str(error)
            struck = list(proxy.injected)
            proxy.plan()  # the official client is not hurt
        lane.store.restore()
        try:
            self.judge(lane, trial, outcome)
        except AssertionError as error:
            return struck[0] if struck else None, outcome, str(error)
        return struck[0] if struck else None, outcome, None

    def judge(self, lane, trial, outcome):
        """What must hold whatever the fault was."""
        for secret in lane.store.secrets:
            self.assertNotIn(secret, outcome.out + outcome.err, "a secret is told")
        document = outcome.json()
        if outcome.code != OK and not (trial.operation == "verify" and "result" in document):
            self.check_words(outcome)
        if trial.operation == "verify":
            # What was replaced while it was read is neither sound nor damaged.
            good = GOOD_WORDS | ({"unverified"} if trial.kind == "changed" else set())
            self.assertEqual(outcome.code == OK, document.get("result") in good, str(outcome))
        elif trial.operation == "materialize":
            self.assertEqual(os.path.exists(lane.out), outcome.code == OK, str(outcome))
            if outcome.code == OK:
                self.assertEqual(read_checkpoint(lane.out), self.truth, "wrong bytes under a good word")
        else:
            copy = self.copy_of(lane)
            there = self.origins(copy) == self.newer
            self.assertTrue(there or outcome.code != OK, f"published, it says, and it is not: {outcome}")
            self.assert_published(self.newer if there else self.older, copy, leftovers=True)
            again = self.ok(*self.step_args(lane.target, 3), env=self.environment(**lane.store.environment))
            self.assertEqual("already published" in again.out, there, str(again))
            self.assert_published(self.newer, self.copy_of(lane))

    def check_words(self, outcome):
        """An error names its code, its cause and what to do."""
        self.refused(outcome)
        error = json.loads(outcome.out)["error"]
        self.assertTrue(error["text"].strip() and error["remedy"].strip(), str(outcome))

    def copy_of(self, lane):
        lane.trials += 1
        return self.fetch(lane.target, f"copy-{lane.number}-{lane.trials}")

    @SWEEP
    def test_faults(self, number):
        self.prepare()
        left, lock, rows, wrong = list(self.trials_of(number, self.lanes[0])), threading.Lock(), [], []
        left.sort(key=lambda trial: trial.kind != "stall")  # they wait for a minute: beside the others

        def work(lane):
            while True:
                with lock:
                    if not left:
                        return
                    trial = left.pop(0)
                struck, outcome, complaint = self.run_trial(lane, trial)
                with lock:
                    if complaint:
                        wrong.append(f"{trial}\n{complaint}\n{outcome}")
                    if struck:
                        rows.append((trial, struck, outcome))

        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(work, self.lanes))
        self.report(rows)
        self.assertFalse(wrong, "\n\n".join(wrong[:5]))
        transient = [(trial, outcome) for trial, struck, outcome in rows if struck["transient"]]
        unhealed = [f"{trial}\n{outcome}" for trial, outcome in transient if outcome.code != OK]
        self.assertLessEqual(len(unhealed), len(transient) / 100, "\n\n".join(unhealed[:5]))
        self.assertGreater(len(rows), FAULTS // SLICES // 2, "most faults struck nothing")

    def report(self, rows):
        counts = collections.Counter((trial.kind, "well" if o and o.code == OK else "told") for trial, _, o in rows)
        for kind in KINDS:
            well, told = counts[kind, "well"], counts[kind, "told"]
            if well or told:
                print(f"{kind:<16} {well:>3} ended well, {told:>3} were told", flush=True)

    # --- flipped bits ------------------------------------------------------------------------------------------------

    def flips(self, place, base, step, truth, count):
        """Flips a bit in each of some replies. Returns how each ended: told, well, or not seen."""
        lane, ends = self.lanes[0], collections.Counter()
        variables = lane.store.environment
        command = ["materialize", f"{place.url}@{step}", *base, "--json"]
        seen = self.seen_of([*command, "-o", self.path("plain")], variables)
        chance = random.Random(count)
        for n in range(count):
            side, skip = chance.choice(seen)
            out = self.path(f"flipped-{n}")
            with remote.Requests(lane.store):
                lane.store.proxies[side].plan(Fault("flip", skip=skip, place=chance.random()))
                env = self.environment(**variables, DELTASCOPE_HOME=self.path(f"home-flip-{n}"))
                outcome = self.run_ds(*command, "-o", out, env=env)
                struck = lane.store.proxies[side].injected
            if not struck:
                continue
            if outcome.code != OK:
                self.check_words(outcome)
                ends["told"] += 1
            elif read_checkpoint(out) == truth:
                ends["well"] += 1
            else:
                ends["not seen"] += 1
                with open(os.path.join(out, "deltascope.provenance.json"), encoding="utf-8") as file:
                    said = set(strings_of(json.load(file)))
                self.assertFalse(said & GOOD_WORDS, f"wrong bytes under a good word: {outcome}")
        return ends

    def seen_of(self, command, variables):
        with remote.Requests(self.lanes[0].store):
            self.ok(*command, env=self.environment(**variables, DELTASCOPE_HOME=self.path("home-plain")))
            sides = self.lanes[0].store.proxies.items()
            return [
                (side, skip)
                for side, proxy in sides
                for skip in range(sum(fits("flip", request) for request in proxy.seen))
            ]

    def test_flipped_bits_where_the_run_records_digests(self):
        self.prepare()
        ends = self.flips(self.lanes[0].place, self.base, 2, self.truth, 12)
        print(f"with digests: {dict(ends)}", flush=True)
        self.assertEqual(ends["not seen"], 0)
        self.assertGreater(ends["told"] + ends["well"], 0)

    def test_flipped_bits_where_nothing_records_digests(self):
        """This layout has no digest of anything, and this home has not seen the objects before. What a flip in a payload
        leads to cannot be seen; then nothing may be called verified."""
        made = self.make_run("undigested", layout="trl-v2", tensors=3, elements=30_000, steps=3)
        place = self.lanes[0].store.place("undigested")
        place.put(made.source)
        truth = {name: (t["dtype"], t["shape"], t["xxh3_128"]) for name, t in made.truth(3).items()}
        ends = self.flips(place, [], 3, truth, 12)
        print(f"without digests: {dict(ends)}; not seen: nothing recorded what the bytes were", flush=True)
        self.assertGreater(sum(ends.values()), 0)


def strings_of(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for item in value for text in strings_of(item)]
    return [value] if isinstance(value, str) else []


if __name__ == "__main__":
    remote.main()
