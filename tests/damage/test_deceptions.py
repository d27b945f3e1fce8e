#!/usr/bin/env python3
"""Buckets made to deceive. Each is a sound one with one lie (lies.py): no version that the lie reaches may count as
verified or consistent, and verify has to name it. Beside them sound buckets of odd but legal shapes (twins.py), which
must be worth no less than the plain ones.

What no evidence can see is listed in docs/damage.md.
"""

import collections
import contextlib
import functools
import pathlib
import shutil
import sys
import tempfile
import unittest

from bucket import Bucket
import lies_of_checkpoints  # noqa: F401 its lies join LIES
from lies import LIES
from make_case import CASES
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

    @functools.cache
    def verify_sound(self, word):
        """The same of the bucket without a lie."""
        return self.verify(self.bucket(word))

    def reachable(self, bucket):
        """Two versions that hold enough to lie about: an early one, and one with an anchor behind it where there are
        any. Where all stand alone, not the first one, with which nothing can be compared."""
        found = [s for s in bucket.steps if bucket.truth[s]["kind"] == "delta" and bucket.truth[s]["changed_elems"] > 8
                 and not bucket.truth[s].get("full_objects")]
        found = found or bucket.steps[1:]
        return [found[0], found[len(found) // 2]]

    @contextlib.contextmanager
    def told(self, lie, step):
        """The bucket with this lie in it."""
        bucket = self.bucket(lie.word)
        with bucket.kept(bucket.objects[step]):
            added = lie.tell(bucket, step) or []
            try:
                yield bucket
            finally:
                for key in added:
                    bucket.path(key).unlink()

    def test_lies_are_seen(self):
        told = collections.Counter()
        kinds = collections.defaultdict(set)
        for lie in LIES:
            _, sound = self.verify_sound(lie.word)
            for step in self.reachable(self.bucket(lie.word)):
                with self.subTest(word=lie.word, lie=lie.name, step=step), self.told(lie, step) as bucket:
                    answer, words = self.verify(bucket)
                    reached = {s: words.get(s) for s in bucket.needed_by(step) if words.get(s) in TRUSTED}
                    self.assertEqual(reached, {}, answer)
                    codes = {problem["code"] for problem in answer.problems()}
                    self.assertTrue(codes & lie.codes, f"{codes} has none of {lie.codes}: {answer}")
                    in_front = {s: word for s, word in sound.items() if s < step and self.stands_alone(bucket, s, word)}
                    self.assertEqual({s: words.get(s) for s in in_front}, in_front, answer)
                    told[bucket.layout] += 1
                    kinds[bucket.layout].add(lie.name)
        self.assertGreaterEqual(sum(told.values()), 60, told)
        self.assertEqual(set(kinds), {layout for layout, _ in CASES.values()})
        self.assertEqual({layout: names for layout, names in kinds.items() if len(names) < 3}, {})
        print(f"\n{sum(told.values())} lies: {dict(told)}", file=sys.stderr)

    @staticmethod
    def stands_alone(bucket, step, word):
        """Whether the word of a step does not hang on an anchor behind it."""
        return bucket.truth[step]["kind"] != "delta" or word == "verified"

    def test_sound_buckets_are_not_called_names(self):
        """Else the words that a lie is known by would prove nothing."""
        for word in dict.fromkeys(lie.word for lie in LIES):
            with self.subTest(word=word):
                answer, _ = self.verify_sound(word)
                codes = {problem["code"] for problem in answer.problems()}
                due = {code for lie in LIES if lie.word == word for code in lie.codes}
                self.assertEqual(codes & due, set(), answer)

    def test_sound_twins_are_worth_no_less(self):
        for twin in TWINS:
            bucket = self.bucket(twin.word)
            plain, sound = self.verify_sound(twin.word)
            self.assertEqual(plain.code, 0, plain)
            for step in self.reachable(bucket) if not twin.of_anchors else [bucket.steps[0]]:
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
