#!/usr/bin/env python3
"""Buckets made to deceive. Each is a sound one with one lie (lies.py): no version that the lie reaches may count as
verified or consistent, and verify has to name it. Beside them sound buckets of odd but legal shapes (twins.py), which
must be worth no less than the plain ones.

What no evidence can see is listed in docs/damage.md.
"""

import collections
import pathlib
import shutil
import sys
import tempfile
import unittest

from bucket import Bucket
from lies import LIES
from twins import TWINS

TRUSTED = ("verified", "consistent")
STEPS = 12
ANCHOR_EVERY = 4


class Deceptions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="ds-lies-"))
        cls.buckets = {}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work)

    def bucket(self, word):
        if word not in self.buckets:
            self.buckets[word] = Bucket(word, self.work / word, 7, STEPS, ANCHOR_EVERY)
        return self.buckets[word]

    def verify(self, bucket):
        answer = bucket.ask("verify", bucket.source, "--level", 4)
        words = {row["step"]: row["result"] for row in answer.document.get("steps", [])}
        return answer, words

    def deltas(self, bucket):
        """Those that hold enough to lie about: an early one, and one with an anchor behind it where there are any."""
        found = [s for s in bucket.steps if bucket.truth[s]["kind"] == "delta" and bucket.truth[s]["changed_elems"] > 8
                 and not bucket.truth[s].get("full_objects")]
        return [found[0], found[len(found) // 2]]

    def test_lies_are_seen(self):
        told = collections.Counter()
        for lie in LIES:
            bucket = self.bucket(lie.word)
            for step in self.deltas(bucket):
                with self.subTest(word=lie.word, lie=lie.name, step=step), bucket.kept(bucket.objects[step]):
                    lie.tell(bucket, step)
                    answer, words = self.verify(bucket)
                    reached = {s: words.get(s) for s in bucket.needed_by(step) if words.get(s) in TRUSTED}
                    self.assertEqual(reached, {}, answer)
                    codes = {problem["code"] for problem in answer.problems()}
                    self.assertTrue(codes & lie.codes, f"{codes} has none of {lie.codes}: {answer}")
                    told[bucket.layout] += 1
        self.assertGreaterEqual(sum(told.values()), 60, told)
        print(f"\n{sum(told.values())} lies: {dict(told)}", file=sys.stderr)

    def test_what_stands_in_front_of_a_lie_keeps_its_word(self):
        for lie in LIES:
            bucket = self.bucket(lie.word)
            sound = self.verify(bucket)[1]
            step = self.deltas(bucket)[1]
            with self.subTest(word=lie.word, lie=lie.name, step=step), bucket.kept(bucket.objects[step]):
                lie.tell(bucket, step)
                words = self.verify(bucket)[1]
                others = [s for s in bucket.steps if s < step and bucket.truth[s]["kind"] != "delta"
                          or s < step and sound.get(s) == "verified"]
                self.assertEqual({s: words.get(s) for s in others}, {s: sound[s] for s in others})

    def test_sound_twins_are_worth_no_less(self):
        for twin in TWINS:
            bucket = self.bucket(twin.word)
            plain, sound = self.verify(bucket)
            self.assertEqual(plain.code, 0, plain)
            for step in self.deltas(bucket) if not twin.of_anchors else [bucket.steps[0]]:
                with self.subTest(word=twin.word, twin=twin.name, step=step), bucket.kept(bucket.objects[step]):
                    made = twin.make(bucket, step) or []
                    try:
                        answer, words = self.verify(bucket)
                        self.assertEqual(answer.code, 0, answer)
                        self.assertEqual(words, sound, answer)
                    finally:
                        for key in made:
                            bucket.path(key).unlink()


if __name__ == "__main__":
    unittest.main(verbosity=2)
