#!/usr/bin/env python3
"""Values that no training explains, in runs whose bytes are all in order: verify has to name tensor and step, and
nothing from there to the next sound anchor counts as consistent. Beside them sound runs of every temper, in which
nothing is suspect. The thresholds are in docs/damage.md, section 4.
"""

import pathlib
import shutil
import tempfile
import unittest

import bucket  # the path of tests/reference
import training

STEPS = 26
ANCHOR_EVERY = 8
TRUSTED = ("verified", "consistent", "first_sight")


def steady(step):
    return 1e-6


TEMPERS = {
    "steady": steady,
    "warm-up": lambda step: 1e-6 * min(1, step / 12),
    "drop": lambda step: 1e-6 if step < 13 else 1e-7,
    "rise": lambda step: 1e-6 if step < 13 else 1e-5,
    "fades": lambda step: 1e-6 * max(0.01, 1 - step / STEPS),
    "large": lambda step: 3e-5,
}
OF_A_DELTA = {
    training.turns_signs_over: "norm",
    training.turns_all_signs_over: "norm",
    training.gives_random_bits: "norm",
    training.has_a_nan: "NaN",
    training.has_infinities: "NaN",
    training.makes_a_norm_zero: "zeros",
    training.makes_a_layer_constant: "one value",
    training.scales_a_layer: "norm",
    training.leaves_a_tensor_out: "does not change",
}
STEPS_OF_LIES = (11, 21)  # with an anchor behind it, and with none


class Run(bucket.Bucket):
    """A made run as the tests of damage use them."""

    def __init__(self, word, folder, made):
        self.made = made
        super().__init__(word, folder, 0, 0, 0)

    def make(self, word, folder, *_, **__):
        training.make_run(word, folder, self.made, STEPS, ANCHOR_EVERY)


class Values(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="ds-values-"))
        cls.made = 0

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work)

    def run_of(self, word, rate=steady, changes=None, seed=5):
        type(self).made += 1
        return Run(word, self.work / str(self.made), training.Training(seed, rate, changes))

    def verify(self, run, level=4):
        answer = run.ask("verify", run.source, "--level", level)
        return answer, {row["step"]: row for row in answer.document["steps"]}

    def suspects(self, answer):
        return [problem for problem in answer.problems() if problem["code"] == "DS-SUSPECT-VALUES"]

    def test_sound_runs_have_nothing_suspect(self):
        for word in training.ENCODERS:
            for temper, rate in TEMPERS.items():
                for seed in (1, 2, 3):
                    with self.subTest(word=word, temper=temper, seed=seed):
                        answer, rows = self.verify(self.run_of(word, rate, seed=seed))
                        self.assertEqual(self.suspects(answer), [])
                        self.assertEqual(answer.code, 0, answer)
                        healths = {row["health"] for row in rows.values()}
                        self.assertLessEqual(healths, {"normal", None})
                        self.assertIn("normal", healths)

    def corrupted(self, corrupt, step):
        """A sound run with the file of one delta from a run whose step goes wrong."""
        run = self.run_of("trl-v2")
        wrong = self.run_of("trl-v2", changes=training.at(step, corrupt))
        key = run.objects[step][0]
        self.assertNotEqual(wrong.read(key), run.read(key))
        run.write(key, wrong.read(key))
        return run

    def test_a_wrong_delta_is_named_and_trusted_by_nobody(self):
        for corrupt, words in OF_A_DELTA.items():
            for step in STEPS_OF_LIES:
                with self.subTest(lie=corrupt.__name__, step=step):
                    answer, rows = self.verify(self.corrupted(corrupt, step))
                    lost = corrupt is training.leaves_a_tensor_out  # what follows sets again what was lost: a loss
                    self.assertIn(answer.code, (6, 7) if lost else (6,), answer)
                    reached = range(step, (step // ANCHOR_EVERY + 1) * ANCHOR_EVERY)
                    trusted = {s: rows[s]["result"] for s in reached if s in rows and rows[s]["result"] in TRUSTED}
                    self.assertEqual(trusted, {}, answer)
                    healths = {rows[s]["health"] for s in reached if s in rows and rows[s]["result"] == "unverified"}
                    self.assertLessEqual(healths, {"suspect"}, answer)
                    self.assertEqual(rows[step]["health"], "suspect")
                    first = min(problem["step"] for problem in self.suspects(answer))
                    self.assertEqual(first, step, answer)
                    text = next(p["text"] for p in self.suspects(answer) if p["step"] == step)
                    self.assertIn(words, text)
                    self.assertIn(training.NORM if "norm_zero" in corrupt.__name__ else training.LAYER, text)
                    before = {s: rows[s]["health"] for s in rows if s < step}
                    self.assertNotIn("suspect", before.values(), answer)

    def test_an_anchor_without_it_ends_the_suspicion(self):
        for corrupt in OF_A_DELTA:
            with self.subTest(lie=corrupt.__name__):
                _, rows = self.verify(self.corrupted(corrupt, 11))
                self.assertEqual(rows[16]["health"], "normal", rows[16])
                self.assertEqual(rows[17]["health"], "normal", rows[17])

    def test_an_anchor_with_it_does_not(self):
        """The trainer itself goes wrong, and stays so."""
        for corrupt in (training.has_a_nan, training.makes_a_norm_zero, training.scales_a_layer):
            with self.subTest(lie=corrupt.__name__):
                stays = lambda number, before, after, corrupt=corrupt: corrupt(before, after) if number >= 11 else after
                answer, rows = self.verify(self.run_of("trl-v2", changes=stays))
                self.assertEqual(answer.code, 6)
                self.assertEqual([s for s in rows if rows[s]["health"] == "suspect"], list(range(11, STEPS + 1)))

    def test_an_anchor_of_random_values_is_seen(self):
        run = self.run_of("trl-v2")
        wrong = self.run_of("trl-v2", changes=training.at(16, training.gives_random_bits))
        run.write(run.objects[16][0], wrong.read(run.objects[16][0]))
        answer, rows = self.verify(run)
        self.assertEqual(answer.code, 6, answer)
        self.assertNotIn(rows[16]["result"], TRUSTED)

    def test_a_publisher_that_vouches_for_it_keeps_its_word(self):
        """Bytes are as the publisher recorded them: verified, and suspect."""
        for corrupt in (training.turns_signs_over, training.has_a_nan, training.makes_a_norm_zero):
            with self.subTest(lie=corrupt.__name__):
                answer, rows = self.verify(self.run_of("slime-v2-xor", changes=training.at(11, corrupt)))
                self.assertEqual(answer.code, 0, answer)
                self.assertEqual(rows[11]["result"], "verified")
                self.assertEqual(rows[11]["health"], "suspect")
                self.assertTrue(self.suspects(answer))
                strict = self.run_of("slime-v2-xor", changes=training.at(11, corrupt))
                self.assertEqual(strict.ask("verify", strict.source, "--level", 4, "--strict").code, 6)

    def test_materialize_says_it(self):
        run = self.corrupted(training.has_a_nan, 11)
        answer = run.ask("materialize", f"{run.source}@13", "--output", self.work / "out")
        home = self.work / "home"
        run.ask("verify", run.source, "--level", 4, home=home)
        told = run.ask("materialize", f"{run.source}@13", "--output", self.work / "out2", home=home)
        self.assertEqual(answer.code, 0, answer)
        self.assertIn("DS-SUSPECT-VALUES", {notice["code"] for notice in told.document["notices"]}, told)


if __name__ == "__main__":
    unittest.main(verbosity=2)
