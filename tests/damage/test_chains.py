#!/usr/bin/env python3
"""Chains of 40 versions from which one is removed, changes places with the next one, or stands in the next one's place.

After each of these exactly the versions that need a broken one are refused, all others are rebuilt right, and nothing
wrong is built. Where a layout has no digest, what nothing can tell is counted and printed.

A slice (tests/support/sweep.py) takes every second layout, and breaks every tenth version of its chain in turn, and those that
are always worth it.
"""

import collections
import contextlib
import pathlib
import random
import re
import shutil
import sys
import tempfile
import unittest

from bucket import Bucket, memory

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from sweep import Sweep  # noqa: E402

SWEEP = Sweep("damage.chains", 20)
STEPS = 40
ANCHOR_EVERY = 10
WITH_DIGESTS = ("trl-v1.0", "slime-v2-xor", "skyrl", "modelexpress", "grail-v3.1")
# no digest of a state: only names, links, numbers inside, and the no-op test, which needs a writer without no-ops
WITHOUT = ("trl-v1.1", "trl-v1.2", "trl-v2", "slime-v1-deltas", "prime-rl-update", "prime-rl-manifest")
LAYOUTS = WITH_DIGESTS + WITHOUT
EXACT = ("trl-v1.1", "trl-v1.2", "trl-v2", "slime-v1-deltas")
SOUND = ("verified", "consistent", "first_sight", "unverified")


class Chain(Bucket):
    """A bucket, and what is done to whole versions of it."""

    def folder_of(self, step):
        """What stands in front of the names of a version's objects."""
        keys = self.objects[step]
        if len(keys) == 1 and re.search(r"step_\d+\.safetensors$", keys[0]):
            return keys[0]
        return re.match(r"(.*/)?(weight_v|delta-|v|checkpoint-|step_)\d+/", keys[0])[0]

    def content(self, step):
        folder = self.folder_of(step)
        return {key[len(folder) :]: self.read(key) for key in self.objects[step]}

    def put(self, step, content):
        """This content in the place of the step, with its time."""
        for key in self.objects[step]:
            self.path(key).unlink()
        time = self.time[self.objects[step][0]]
        for name, data in content.items():
            key = self.folder_of(step) + name
            self.time[key] = time
            self.write(key, data)

    @contextlib.contextmanager
    def broken(self, steps):
        """What is done to these versions is undone."""
        sound = {step: self.content(step) for step in steps}
        try:
            yield sound
        finally:
            for step, content in sound.items():
                folder = self.folder_of(step)
                if folder.endswith("/"):
                    shutil.rmtree(self.source / folder, ignore_errors=True)
                for name, data in content.items():
                    self.write(folder + name, data)

    def numbered(self, step):
        """Whether the content of this version says which it is."""
        if self.word == "modelexpress":
            return self.truth[step]["kind"] == "delta"
        return self.word != "trl-v1.1"

    def stands_on_a_hole(self, step):
        """Behind a number that is missing because nothing changed; windows of grail name what they build on."""
        base = self.truth[step]["base_step"]
        return self.layout == "trl-v2" and base is not None and base != step - 1

    def look(self, home):
        """{step: row} of log behind a verify, of the versions that are there, with verify's word; and all problems."""
        verify = self.ask("verify", self.source, "--level", 3, home=home)
        words = {step["step"]: step["result"] for step in verify.document["steps"]}
        answer = self.ask("log", self.source, home=home)
        rows = [row for epoch in answer.document["epochs"] for row in epoch["steps"] if row["kind"] != "gap"]
        return {row["step"]: row | {"word": words[row["step"]]} for row in rows}, answer.problems()


class Chains(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="ds-chains-"))
        self.addCleanup(shutil.rmtree, self.work)
        self.chance = random.Random()

    def chains(self, seed, words=LAYOUTS, length=STEPS):
        for word in words:
            self.chance.seed(f"{word} {seed}")  # the choice does not hang on what came of the word before
            chain = Chain(word, self.work / word, seed, length, ANCHOR_EVERY)
            with self.subTest(word=word), memory() as home:
                rows, _ = chain.look(home)
                self.assertEqual(sorted(step for step, row in rows.items() if row["restorable"]), chain.steps)
                self.assertLessEqual({row["word"] for row in rows.values()}, set(SOUND))
                across = [s for s in chain.steps if any(map(chain.stands_on_a_hole, chain.needs(s)))]
                self.assertEqual([step for step, row in rows.items() if not row["proven"]], across)
            yield word, chain

    def chains_of(self, number):
        """The chains of one slice: of every second layout."""
        return self.chains(number // 2, LAYOUTS[number % 2 :: 2])

    def share(self, number, steps, always=()):
        """The steps of one slice, and those that are always worth it."""
        return sorted({*always, *steps[number // 2 :: SWEEP.slices // 2]})

    def pick(self, steps, count):
        steps = sorted(steps)
        return sorted(self.chance.sample(steps, min(count, len(steps))))

    def turning_points(self, chain):
        """The first, an anchor in the middle with its neighbours, the last."""
        anchors = [s for s in chain.steps[5:-5] if chain.needs(s) == [s] or chain.truth[s]["kind"] != "delta"]
        middle = chain.steps.index(anchors[0]) if anchors else 10
        return {chain.steps[0], *chain.steps[middle - 1 : middle + 2], chain.steps[-1]}

    # --- what is asserted --------------------------------------------------------------------------------------------

    def others_are_right(self, chain, rows, affected, home):
        """Every version that does not need a broken one is whole."""
        others = set(chain.steps) - set(affected)
        refused = sorted(step for step in others if step not in rows or not rows[step]["restorable"])
        self.assertEqual(refused, [], "these do not need what is broken")
        unsound = {step: rows[step]["word"] for step in sorted(others) if rows[step]["word"] not in SOUND}
        with self.subTest(asked="verify"):
            self.assertEqual(unsound, {}, "these do not need what is broken")
        for step in self.pick(others, 2):
            self.assertEqual(chain.digest(step, home), "right", step)

    def is_refused(self, chain, step, home):
        """Materialize writes nothing. Its error."""
        target = self.work / "out"
        answer = chain.ask("materialize", f"{chain.source}@{step}", "-o", target, home=home)
        self.assertFalse(target.exists(), f"step {step} was built")
        self.assertIsNotNone(answer.error, str(answer))
        self.assertRegex(answer.error["code"], "^DS-")
        return answer.error

    def is_in_doubt(self, row):
        """Offered, and both log and verify say that nothing proves it."""
        marked = "DS-UNPROVEN" in {problem["code"] for problem in row["problems"]}
        return row["restorable"] and not row["proven"] and row["word"] == "unverified" and marked

    def is_named(self, step, error):
        """In words, or as the only one that lies between two that are."""
        numbers = {int(number) for number in re.findall(r"\d+", error["text"])} | {error["step"]}
        between = re.search(r"something between step (\d+) and it is lost", error["text"])
        if between and int(between[1]) < step < error["step"]:
            return
        self.assertIn(step, numbers, f"the missing step is not named: {error}")

    def check_offered(self, chain, rows, affected, places, telling, tally, home):
        """What is still offered of the affected versions is right. All that is not is counted. With digests it may be
        wrong only at a place whose content cannot tell, and without them a place whose content tells is marked."""
        offered = [step for step in affected if step in rows and rows[step]["restorable"]]
        wrong = []
        for step in sorted({*offered[:3], *offered[-1:]}):
            state = chain.digest(step, home)
            self.assertIn(state, ("right", "wrong"), f"step {step} is offered and then refused")
            if state == "right":
                tally["right"] += 1
                continue
            marks = {problem["code"] for problem in rows[step]["problems"]}
            marks |= set() if rows[step]["proven"] else {"unproven"}
            tally[f"wrong, {rows[step]['word']}, " + (" ".join(sorted(marks)) or "silent")] += 1
            blind = step in places and step not in telling
            if (chain.word in WITH_DIGESTS and not blind) or (step in telling and not marks):
                same = [other for other in chain.steps if chain.is_state_of(other)]
                wrong.append(f"step {step} is offered with the state of {same or 'no step'} and {sorted(marks)}")
        for step in self.pick(set(affected) - set(offered), 2):
            tally["refused"] += 1
            self.is_refused(chain, step, home)
        self.assertEqual(wrong, [])
        return offered

    # --- tests -------------------------------------------------------------------------------------------------------

    @SWEEP
    def test_sound(self, number):
        """What is asserted of broken chains means something: all of the sound ones are rebuilt right."""
        for word, chain in self.chains_of(number):
            with self.subTest(word=word), memory() as home:
                for step in self.share(number, chain.steps):
                    self.assertEqual(chain.digest(step, home), "right")

    @SWEEP
    def test_a_version_is_removed(self, number):
        for word, chain in self.chains_of(number):
            for step in self.share(number, chain.steps, self.turning_points(chain)):
                with self.subTest(word=word, step=step), chain.broken([step]), memory() as home:
                    chain.put(step, {})
                    rows, _ = chain.look(home)
                    self.others_are_right(chain, rows, chain.needed_by(step), home)
                    needing = set(chain.needed_by(step))
                    if word == "trl-v2":  # too few no-ops are no proof; then the missing number makes the steps unproven
                        needing -= {s for s in needing if s in rows and self.is_in_doubt(rows[s])}
                    offered = [s for s in needing if s in rows and rows[s]["restorable"]]
                    self.assertEqual(offered, [], "these need what is missing")
                    sound = [s for s in needing if s in rows and rows[s]["word"] in SOUND]
                    self.assertEqual(sound, [], "verify finds these sound")
                    for other in self.pick(needing - {step}, 3):
                        error = self.is_refused(chain, other, home)
                        if word.startswith("slime-v2") and step == chain.steps[0]:
                            continue  # the base may be the state behind it: docs/formats/slime-v2.md, section 5
                        self.is_named(step, error)

    def test_the_first_version_of_a_short_chain_is_removed(self):
        """Each of its deltas comes soon enough after the loss to have no-ops, so they look like a habit of the writer."""
        for word, chain in self.chains(seed=1, length=12):
            step = chain.steps[0]
            with self.subTest(word=word), chain.broken([step]), memory() as home:
                chain.put(step, {})
                rows, _ = chain.look(home)
                self.others_are_right(chain, rows, chain.needed_by(step), home)
                offered = [s for s, row in rows.items() if row["restorable"] and row["proven"]]
                wrong = [s for s in chain.needed_by(step) if s in offered]
                self.assertEqual(
                    wrong, [], f"of these step {wrong[-1:]} is {[chain.digest(s, home) for s in wrong[-1:]]}"
                )

    @SWEEP
    def test_one_object_of_a_version_is_removed(self, number):
        """A version is refused, or it is right without this object."""
        for word, chain in self.chains_of(number):
            tally = collections.Counter()
            for key in self.some_of_each_name(number, chain):
                step = chain.owner[key]
                with self.subTest(word=word, key=key), chain.broken([step]), memory() as home:
                    chain.path(key).unlink()
                    rows, _ = chain.look(home)
                    affected = chain.needed_by(step)
                    self.others_are_right(chain, rows, affected, home)
                    # nothing says how many files a version of slime-v1 has
                    telling = [] if word.startswith("slime-v1") else [step]
                    self.check_offered(chain, rows, affected, [step], telling, tally, home)
            self.report(word, "one object removed", tally)

    def some_of_each_name(self, number, chain):
        """Of the versions with several objects."""
        kinds = collections.defaultdict(list)
        for key, step in chain.owner.items():
            if len(chain.objects[step]) > 1:
                name = key.removeprefix(chain.folder_of(step))
                kinds[re.sub(r"\d+", "#", name), chain.truth[step]["kind"]].append(key)
        return [key for keys in kinds.values() for key in self.share(number, keys)]

    @SWEEP
    def test_two_versions_change_places(self, number):
        self.exchange(number, "swapped", lambda one, two: {one: two, two: one})

    @SWEEP
    def test_a_version_stands_in_the_place_of_the_next(self, number):
        self.exchange(number, "repeated", lambda one, two: {two: one})

    def exchange(self, number, what, places_of):
        for word, chain in self.chains_of(number):
            tally = collections.Counter()
            pairs = dict(zip(chain.steps, chain.steps[1:], strict=False))
            for one in self.share(number, list(pairs), self.turning_points(chain) - {chain.steps[-1]}):
                two = pairs[one]
                with self.subTest(word=word, steps=(one, two)), chain.broken([one, two]) as sound, memory() as home:
                    places = places_of(one, two)
                    for step, content in places.items():
                        chain.put(step, sound[content])
                    rows, problems = chain.look(home)
                    affected = sorted({s for step in places for s in chain.needed_by(step)})
                    self.others_are_right(chain, rows, affected, home)
                    telling = [step for step, content in places.items() if chain.numbered(content)]
                    offered = self.check_offered(chain, rows, affected, places, telling, tally, home)
                    if set(affected) - set(offered):
                        named = {p["step"] for p in problems} & set(places)
                        self.assertTrue(
                            named or len(telling) < len(places), f"no problem names {set(places)}: {problems[:3]}"
                        )
                    if what == "repeated" and word in EXACT and chain.truth[one]["kind"] == "delta":
                        self.assertEqual(offered, [], "each of its assignments is a no-op")
            self.report(word, what, tally)

    def report(self, word, what, tally):
        print(f"{word}, {what}: " + "; ".join(f"{count} {name}" for name, count in sorted(tally.items())), flush=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
