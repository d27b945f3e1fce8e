#!/usr/bin/env python3
"""A hostile client does all that it may not, in a hurry, from the address of people who look at the dashboard and from
others. Nobody of them is turned away, and the daemon stays small. How long they wait is measured in tests/bench."""

import os
import tempfile
import unittest

import hostile

REQUESTS = int(os.environ.get("DELTASCOPE_HOSTILE_REQUESTS", "2000"))


class Siege(unittest.TestCase):
    def test_viewers_notice_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            met, told, peak = hostile.besiege(folder, REQUESTS)
        print(met, told, f"{peak / 1e6:.0f} MB", sep="\n", flush=True)
        self.assertEqual(met["wrong"], [], "everything was answered")
        self.assertGreater(met["requests"], 20)
        self.assertEqual(met["streams"], hostile.VIEWERS, "no stream of events was closed")
        self.assertEqual(met["tokens"], hostile.VIEWERS, "tokens that were right before still are")
        self.assertLess(peak, 200e6)
        answered = {kind.split()[1] for kind in told}
        self.assertTrue({"400", "401", "413", "429", "431", "501"} <= answered, "the attack was one")
        self.assertFalse([kind for kind in told if kind.startswith(("huge_plan 200", "deep_plan 200"))])
        self.assertTrue([kind for kind in told if kind.startswith("many_plans 200")], "the stolen token plans")


if __name__ == "__main__":
    unittest.main()
