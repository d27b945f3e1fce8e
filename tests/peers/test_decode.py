#!/usr/bin/env python3
"""The independent decoder on the buckets that the frameworks' writers made: the states that their trainers had."""

import unittest

import goldens
from decode import Refused, follow

# What receivers refuse although Deltascope reads it, and the versions before it.
REFUSED = {
    "slime-v2-dup-name": "index and file differ",
    "slime-v2-badchecksum": "another checksum",
    "slime-v2-wrongbase": "another checksum",
    "slime-v2-noindex": "no index",
    "slime-v2-gap-in-chain": "builds on",
    "trl-v2-truncated": "",
}


class Decode(unittest.TestCase):
    def test_states_are_those_of_the_trainer(self):
        for name in goldens.names():
            with self.subTest(name=name):
                source, base, expected = goldens.case(name)
                truth = {s["step"]: s["tensors"] for s in expected["steps"] if s["restorable"]}
                seen = set()
                try:
                    for step, state in follow(source, base):
                        if step in truth:
                            self.assertEqual(goldens.sums(state), goldens.recorded(truth[step]), f"step {step}")
                            seen.add(step)
                    refusal = None
                except Refused as error:
                    refusal = str(error)
                self.assertEqual(refusal is not None, name in REFUSED, refusal)
                if refusal is None:
                    self.assertEqual(seen, set(truth))
                else:
                    self.assertIn(REFUSED[name], refusal)


if __name__ == "__main__":
    unittest.main(verbosity=2)
