#!/usr/bin/env python3
"""`rollback` while single system calls fail, once or from then on, or are its last: the old state or the new one, never
half of it, no success without the new step, a journal that is true, and the same command again ends with the step restored
exactly once."""

import os
import shutil

from support import GOLDEN, OK, E2ETest, count_calls, main, need_strace, spread
from call_faults import FAULTS, KILLED
from sweep import Sweep

SLICES = 20
SWEEP = Sweep("e2e.rollback_faults", SLICES)
MOST = 12  # places of each call


class RollBackFaults(E2ETest):
    def prepare(self, case, newest, target):
        need_strace()
        self.template = os.path.join(GOLDEN, case, "bucket")
        base = os.path.join(GOLDEN, case, "base")
        self.base = ["--base", base] if os.path.isdir(base) else []
        self.newest, self.target, self.trials = newest, target, 0
        self.fresh()
        self.expected = self.root(target)

    def fresh(self):
        """Records remember a folder, so each trial has one of its own."""
        if self.trials:
            shutil.rmtree(self.source)
        self.trials += 1
        self.source = self.path(f"run-{self.trials}")
        shutil.copytree(self.template, self.source, copy_function=shutil.copyfile)
        return ["rollback", f"{self.source}@{self.target}", "--yes", *self.base]

    def root(self, step):
        return self.ok_json("digest", f"{self.source}@{step}", *self.base)["root"]

    def files(self):
        """The objects of the run by what they hold, without what an unfinished step leaves that no reader takes for one."""
        unfinished = f"weight_v{self.newest + 1:06}"
        found = {}
        for folder, _, names in os.walk(self.source):
            for name in names:
                path = os.path.join(folder, name)
                if not name.startswith(".") and os.sep + ".deltascope" + os.sep not in path and unfinished not in path:
                    with open(path, "rb") as f:
                        found[path] = f.read()
        return found

    def phases(self):
        return [entry["phase"] for entry in self.ok_json("journal", self.source, *self.base)["journal"]]

    def is_restored(self):
        return self.ok_json("log", self.source, *self.base)["latest"] == self.newest + 1

    def assert_restored(self):
        self.assertEqual(self.root(self.newest + 1), self.expected)
        self.ok("verify", self.source, "--level", "3", "--strict", *self.base)

    def places(self):
        trace = self.path("trace")
        calls = sorted({call for call, _ in FAULTS})
        self.ok(*self.fresh(), wrapper=["strace", "-f", "-o", trace, "-e", "trace=" + ",".join(calls)])
        self.assert_restored()
        with open(trace, encoding="utf-8", errors="replace") as f:
            lines = f.readlines()
        return [(call, error, n, lasting) for call, error in FAULTS for n in spread(count_calls(lines, call), MOST)
                for lasting in (("",) if error == KILLED else ("", "+"))]

    def sweep(self, number):
        case, newest, target = (("trl-v2-gap", 15, 12), ("slime-v2-xor", *self.steps_of("slime-v2-xor")))[number % 2]
        self.prepare(case, newest, target)
        failed = behind = 0
        places = self.places()[number // 2 :: SLICES // 2]
        for call, error, n, lasting in places:
            with self.subTest(case=case, call=call, error=error, n=n, lasting=bool(lasting)):
                args = self.fresh()
                before = self.files()
                what = f"signal={error}" if error == KILLED else f"error={error}"
                inject = ["-e", f"trace={call}", "-e", f"inject={call}:{what}:when={n}{lasting}"]
                outcome = self.run_ds(*args, wrapper=["strace", "-f", "-o", os.devnull, *inject])
                if outcome.code == 127 and "shared libraries" in outcome.err:
                    continue  # the loader failed before the program began
                restored = self.is_restored()
                failed += outcome.code != OK
                behind += outcome.code != OK and restored
                if outcome.code == OK:
                    self.assertTrue(restored, f"exit 0 and no new step: {outcome}")
                elif error != KILLED:
                    self.assertTrue(0 < outcome.code < 124, f"crashed: {outcome}")
                phases = self.phases()
                if restored:
                    self.assert_restored()
                    self.assertIn("begun", phases)
                else:
                    self.assertEqual(self.files(), before)
                    self.assertNotIn("done", phases)
                again = self.run_ds(*args)
                self.assertEqual(again.code, OK, f"{outcome}\n{again}")
                self.assertEqual("already" in again.out, restored, f"{outcome}\n{again}")
                self.assert_restored()
                self.assertEqual(self.phases()[-1], "done")
                if not restored:  # else the next publisher removes what stands beside the run
                    self.assertEqual([f for _, _, fs in os.walk(self.source) for f in fs if ".ds-tmp-" in f], [])
        print(f"{case}: {len(places)} faults, {failed} failed, {behind} of them behind the put", flush=True)
        self.assertGreater(failed, len(places) // 4)

    def steps_of(self, case):
        base = os.path.join(GOLDEN, case, "base")
        log = self.ok_json("log", os.path.join(GOLDEN, case, "bucket"), "--base", base)
        steps = [step["step"] for step in log["epochs"][-1]["steps"]]
        return steps[-1], steps[-2]

    @SWEEP
    def test_roll_back(self, number):
        self.sweep(number)


if __name__ == "__main__":
    main()
