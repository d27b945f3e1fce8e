#!/usr/bin/env python3
"""What changed in some tensors, and since when: held against digests that another program wrote for every tensor at
every step. Plain checkpoints are compared with the one before each."""

import fnmatch

from support import NOT_FOUND, OK, OTHER, E2ETest, main


def changed_tensors(run, before, step, glob="*"):
    """Names whose digests differ between two steps."""
    old, new = run.truth(before), run.truth(step)
    return {n for n in new if fnmatch.fnmatchcase(n, glob) and new[n]["xxh3_128"] != old[n]["xxh3_128"]}


class Selection(E2ETest):
    """Few enough changes that a step leaves some tensors alone."""

    SPARSE = {"tensors": 12, "elements": 512, "steps": 9, "density": 0.001}

    def runs(self):
        yield self.make_run("trl", anchor_every=4, **self.SPARSE)
        yield self.make_run("slime", layout="slime-v2", **self.SPARSE)
        yield self.make_run("hf", layout="hf", **self.SPARSE)

    def test_a_log_tells_which_steps_touch_a_tensor(self):
        for run in self.runs():
            steps = sorted(run.steps)
            name = sorted(run.truth(run.last))[3]
            log = self.ok_json("log", run.source, name, *run.base_args)
            self.assertEqual(log["selection"]["tensors"], 1)
            self.assertEqual(log["selection"]["tensors_in_all"], 12)
            changes = {c["step"]: c for c in log["changes"]}
            for before, step in zip(steps, steps[1:]):
                touched = bool(changed_tensors(run, before, step, name))
                self.assertEqual(changes[step]["changed_elems"] > 0, touched, f"{run.source} step {step}")
                self.assertEqual(changes[step]["changed_tensors"], int(touched))
            text = self.ok("log", run.source, name, *run.base_args).out
            quiet = sum(c["changed_elems"] == 0 for c in log["changes"])
            self.assertGreater(quiet, 0)
            self.assertIn(f"left out: {quiet} step", text)

    def test_plain_checkpoints_are_compared_with_the_one_before(self):
        run = self.make_run("hf", layout="hf", **self.SPARSE)
        steps = sorted(run.steps)
        for known in (0, len(steps) - 1):
            log = self.ok_json("log", run.source)
            self.assertEqual(log["comparison"]["compared"], len(steps) - 1)
            self.assertEqual(log["comparison"]["known"], known)
            changes = {c["step"]: c for c in log["changes"]}
            for before, step in zip(steps, steps[1:]):
                self.assertEqual(changes[step]["changed_tensors"], len(changed_tensors(run, before, step)))
        for arguments in (["--headers-only"], ["--compare", "0"]):
            none = self.ok_json("log", run.source, *arguments, env=self.environment(DELTASCOPE_HOME=self.path("new")))
            self.assertEqual(none["comparison"]["compared"], 0)
            self.assertEqual(none["comparison"]["read_bytes"], 0)

    def test_the_first_change_is_where_the_digests_say(self):
        for run in self.runs():
            steps = sorted(run.steps)
            for name in sorted(run.truth(run.last)):
                first = self.ok_json("stats", run.at(run.last), name, "--history", "all", *run.base_args)
                begin = first["begin"]
                if first["on_base"]:
                    continue  # the truth has no step for the base
                at = [b for a, b in zip(steps, steps[1:]) if a >= begin and changed_tensors(run, a, b, name)]
                self.assertEqual(first["first_changed"], {"step": at[0] if at else None, "certain": True}, name)
                history = self.ok_json("stats", run.at(run.last), name, "--history", "50", *run.base_args)["steps"]
                self.assertEqual(len(history), first["steps_in_all"])
                nan = [values["step"] for values in history if values["nan"] > 0]
                self.assertEqual(first["first_nan"], {"step": nan[0] if nan else None, "certain": True}, name)
                self.assertEqual(first["unread"], [])

    def test_a_diff_of_some_tensors_is_of_these(self):
        for run in self.runs():
            first, last = min(run.steps), run.last
            names = sorted(run.truth(last))
            glob = names[0][:-1] + "*"
            diff = self.ok_json("diff", run.at(first), run.at(last), glob, *run.base_args)
            meant = fnmatch.filter(names, glob)
            self.assertEqual(diff["tensors_total"], len(meant))
            self.assertEqual(diff["tensors_left_out"], len(names) - len(meant))
            differing = {t["name"] for t in diff["tensors"] if t["elements_different"]}
            self.assertEqual(differing, changed_tensors(run, first, last, glob))
            same = self.ok_json("diff", run.at(last), run.at(last), names[0], *run.base_args)
            self.assertIsNone(same["equal"])
            differs = sorted(changed_tensors(run, first, last))
            code = self.run_ds("diff", run.at(first), run.at(last), differs[0], "--exit-code", *run.base_args).code
            self.assertEqual(code, OTHER)
            code = self.run_ds("diff", run.at(last), run.at(last), names[0], "--exit-code", *run.base_args).code
            self.assertEqual(code, OK)

    def test_names_that_nothing_has_are_refused_with_those_that_are_near(self):
        run = self.make_run("trl", **self.SPARSE)
        name = sorted(run.truth(run.last))[0]
        typed = name[:3] + name[4:]
        for command in (
            ["stats", run.at(run.last), typed],
            ["log", run.source, typed],
            ["diff", run.at(1), run.at(2), typed],
        ):
            outcome = self.run_ds(*command)
            self.refused(outcome, NOT_FOUND, "DS-NOT-FOUND")
            self.assertIn(f"did you mean {name}", outcome.err, command)


if __name__ == "__main__":
    main()
