#!/usr/bin/env python3
"""A roll back publishes an earlier state again, behind the newest step, and does what its plan says and nothing else."""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import time

from support import CONFLICT, DAMAGED, GAP, GOLDEN, NOT_FOUND, USAGE, E2ETest, main, need_strace
from test_tasks import Daemon


def files_below(folder):
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(path, name)
            with open(file, "rb") as f:
                found[os.path.relpath(file, folder)] = f.read()
    return found


class RollBack(E2ETest):
    def setUp(self):
        super().setUp()
        self.source = self.path("wordle")
        self.copy("trl-v2-gap")

    def copy(self, case):
        shutil.rmtree(self.source, ignore_errors=True)
        shutil.copytree(os.path.join(GOLDEN, case, "bucket"), self.source, copy_function=shutil.copyfile)
        base = os.path.join(GOLDEN, case, "base")
        self.base = ["--base", base] if os.path.isdir(base) else []

    def root(self, step):
        return self.ok_json("digest", f"{self.source}@{step}", *self.base)["root"]

    def journal(self):
        return [(e["act"], e["phase"], e["text"]) for e in self.ok_json("journal", self.source, *self.base)["journal"]]

    def check_roll_back(self, newest, target):
        before = files_below(self.source)
        roots = {step: self.root(step) for step in (newest, target)}
        plan = self.ok_json("rollback", f"{self.source}@{target}", *self.base)
        self.assertEqual((plan["from"], plan["to"], plan["step"], plan["done"]), (newest, target, newest + 1, False))
        self.assertEqual(files_below(self.source), before, "a plan writes nothing")
        done = self.ok_json("rollback", f"{self.source}@{target}", "--yes", *self.base)
        self.assertEqual((done["from"], done["to"], done["step"], done["done"]), (newest, target, newest + 1, True))
        self.assertEqual(done["changed_elems"], plan["changed_elems"])
        after = files_below(self.source)
        self.assertEqual({key: after[key] for key in before}, before, "nothing is overwritten or removed")
        new = {key for key in after if key not in before}
        self.assertEqual({key for key in new if not key.startswith(".deltascope/")},
                         {written["key"] for written in plan["plan"]["writes"]})
        kinds = {key.split("/")[2] for key in new if key.startswith(".deltascope/")}
        self.assertEqual(kinds, set(plan["plan"]["beside"]))
        self.assertEqual(self.root(newest + 1), roots[target])
        self.assertEqual(self.root(newest), roots[newest])
        verified = self.ok_json("verify", f"{self.source}@{newest + 1}", "--level", "3", *self.base)
        self.assertEqual(verified["steps"][0]["result"], "verified")
        self.ok("verify", self.source, "--level", "4", "--strict", *self.base)
        return roots

    def test_trl(self):
        roots = self.check_roll_back(15, 12)
        text = "step 16 restores step 12"
        self.assertEqual(self.journal(), [("rollback", "begun", text), ("rollback", "done", text)])
        self.assertEqual(self.ok_json("show", f"{self.source}@16")["restores"], 12)
        undone = self.ok_json("undo", self.source, "--yes")
        self.assertEqual((undone["to"], undone["step"]), (15, 17))
        self.assertEqual(self.root(17), roots[15])
        again = self.ok_json("undo", self.source, "--yes")
        self.assertEqual((again["to"], again["step"]), (16, 18))
        self.assertEqual(self.root(18), roots[12])

    def test_slime(self):
        self.copy("slime-v2-xor")
        steps = [s["step"] for s in self.ok_json("log", self.source, *self.base)["epochs"][-1]["steps"]]
        self.check_roll_back(steps[-1], steps[-2])

    def test_the_same_call_again_does_nothing(self):
        self.ok("rollback", f"{self.source}@12", "--yes")
        before = files_below(self.source)
        again = self.ok_json("rollback", f"{self.source}@12", "--yes")
        self.assertEqual((again["was_there"], again["step"]), (True, 16))
        self.assertEqual(files_below(self.source), before)

    def test_without_a_roll_back_there_is_nothing_to_undo(self):
        self.refused(self.run_ds("undo", self.source, "--yes"), NOT_FOUND, "DS-NOT-FOUND")

    def test_a_plan_is_what_is_done_or_nothing_is(self):
        plan = self.path("plan.json")
        self.ok("rollback", f"{self.source}@12", "--plan", plan)
        self.refused(self.run_ds("rollback", f"{self.source}@12", "--plan", plan), CONFLICT, "DS-EXISTS")
        self.refused(self.run_ds("rollback", f"{self.source}@11", "--apply", plan), CONFLICT, "DS-EXISTS")
        self.refused(self.run_ds("rollback", f"{self.source}@12", "--confirm", "chess"), USAGE, "DS-USAGE")
        self.ok("rollback", f"{self.source}@10", "--confirm", "wordle")
        before = files_below(self.source)
        self.refused(self.run_ds("rollback", f"{self.source}@12", "--apply", plan), CONFLICT, "DS-EXISTS")
        with open(plan, "w", encoding="utf-8") as f:
            json.dump({"plan": 1}, f)
        self.refused(self.run_ds("rollback", f"{self.source}@12", "--apply", plan), USAGE, "DS-USAGE")
        self.assertEqual(files_below(self.source), before)
        os.remove(plan)
        self.ok("rollback", f"{self.source}@12", "--plan", plan)
        with open(plan, encoding="utf-8") as f:
            edited = json.load(f)
        for change in (lambda p: p.update(to=11), lambda p: p["plan"]["writes"].clear()):
            other = json.loads(json.dumps(edited))
            change(other)
            with open(self.path("edited.json"), "w", encoding="utf-8") as f:
                json.dump(other, f)
            outcome = self.run_ds("rollback", f"{self.source}@12", "--apply", self.path("edited.json"))
            self.refused(outcome, USAGE, "DS-USAGE")
            self.assertIn("was edited", outcome.err)
        self.assertEqual(files_below(self.source), before)
        self.assertTrue(self.ok_json("rollback", f"{self.source}@12", "--apply", plan)["done"])

    def test_a_plan_is_only_written_or_only_carried_out(self):
        plan = self.path("plan.json")
        self.ok("rollback", f"{self.source}@12", "--plan", plan)
        before = files_below(self.source)
        for more in (["--apply", plan], ["--yes"], ["--confirm", "wordle"]):
            outcome = self.run_ds("rollback", f"{self.source}@12", "--plan", self.path("other.json"), *more)
            self.refused(outcome, USAGE, "DS-USAGE")
            self.assertFalse(os.path.exists(self.path("other.json")))
        os.mkfifo(self.path("pipe"))
        outcome = self.run_ds("rollback", f"{self.source}@12", "--apply", self.path("pipe"))
        self.assertIn("is no regular file", outcome.err)
        self.assertEqual(files_below(self.source), before)

    def test_a_branch_lies_outside_of_the_run_that_it_comes_from(self):
        before = files_below(self.source)
        for into in (os.path.join(self.source, "in"), os.path.join(self.source, "deltas", "in"), os.path.dirname(self.source)):
            outcome = self.run_ds("branch", f"{self.source}@12", "--into", into, "--yes")
            self.refused(outcome, USAGE, "DS-USAGE")
            self.assertIn("must not lie in each other", outcome.err)
        self.assertEqual(files_below(self.source), before)
        self.ok("branch", f"{self.source}@12", "--into", self.source + "-branch", "--yes")

    def test_a_run_that_goes_on_is_left_alone(self):
        def dated(seconds_ago):
            for step in range(1, 16):
                for folder in ("anchors", "deltas"):
                    file = os.path.join(self.source, folder, f"step_{step:06}.safetensors")
                    if os.path.exists(file):
                        at = time.time() - seconds_ago - 60 * (15 - step)
                        os.utime(file, (at, at))

        dated(10)
        before = files_below(self.source)
        outcome = self.run_ds("rollback", f"{self.source}@12", "--yes")
        self.refused(outcome, CONFLICT, "DS-EXISTS")
        self.assertIn("a trainer seems to run", outcome.err)
        self.assertEqual(files_below(self.source), before)
        dated(200)
        self.ok("rollback", f"{self.source}@12", "--yes")

    def test_a_damaged_target_is_refused(self):
        path = os.path.join(self.source, "anchors", "step_000010.safetensors")
        with open(path, "r+b") as f:
            f.truncate(os.path.getsize(path) - 7)
        before = files_below(self.source)
        self.refused(self.run_ds("rollback", f"{self.source}@12", "--yes"), (DAMAGED, GAP))
        self.assertEqual(files_below(self.source), before)

    def test_where_nothing_can_be_published_it_says_what_can_be_done(self):
        self.copy("grail")
        steps = [s["step"] for s in self.ok_json("log", self.source, *self.base)["epochs"][-1]["steps"]]
        outcome = self.run_ds("rollback", f"{self.source}@{steps[0]}", "--yes", *self.base)
        self.refused(outcome, word="DS-UNSUPPORTED")
        self.assertIn("deltascope materialize", outcome.err)

    def test_the_newest_step_and_steps_that_are_not_there_are_refused(self):
        self.refused(self.run_ds("rollback", f"{self.source}@15", "--yes"), USAGE, "DS-USAGE")
        self.refused(self.run_ds("rollback", f"{self.source}@99", "--yes"), NOT_FOUND)

    def test_a_word_is_a_target(self):
        self.ok("ref", f"{self.source}@12", "good")
        self.assertEqual(self.ok_json("rollback", f"{self.source}@good", "--yes")["to"], 12)


class Branch(E2ETest):
    def setUp(self):
        super().setUp()
        self.source = self.path("wordle")
        self.into = self.path("wordle-b")
        shutil.copytree(os.path.join(GOLDEN, "trl-v2-gap", "bucket"), self.source)

    def test_it_begins_with_the_state_of_the_step(self):
        before = files_below(self.source)
        plan = self.ok_json("branch", f"{self.source}@12", "--into", self.into)
        self.assertFalse(os.path.exists(self.into), "a plan makes no folder")
        self.assertEqual((plan["from"], plan["step"], plan["done"]), (12, 1, False))
        done = self.ok_json("branch", f"{self.source}@12", "--into", self.into, "--yes")
        self.assertEqual(done["keys"], [written["key"] for written in plan["plan"]["writes"]])
        self.assertEqual(files_below(self.source), before)
        roots = [self.ok_json("digest", address)["root"] for address in (f"{self.source}@12", f"{self.into}@1")]
        self.assertEqual(roots[0], roots[1])
        self.assertEqual(self.ok_json("show", f"{self.into}@1")["branch_of"], f"file://{os.path.realpath(self.source)}@12")
        self.assertIn("branch of", self.ok("log", self.into).out)
        self.assertTrue(self.ok_json("branch", f"{self.source}@12", "--into", self.into, "--yes")["was_there"])
        self.refused(self.run_ds("branch", f"{self.source}@11", "--into", self.into, "--yes"), CONFLICT, "DS-EXISTS")

    def test_it_does_not_begin_where_something_is(self):
        self.refused(self.run_ds("branch", f"{self.source}@12", "--into", self.source, "--yes"), USAGE, "DS-USAGE")


class PlannedObjects(E2ETest):
    """What the plan of `--dry-run` lists is what the system is asked for: objects that are read, written and removed. The
    verification before it also reads what `verify` of that step does. Headers are known from an earlier look."""

    CALLS = "trace=read,pread64,preadv,preadv2,mmap,linkat,renameat,renameat2,unlinkat,ftruncate,write,pwrite64"

    def prepare(self, case):
        need_strace()
        self.source, self.into = self.path("run"), self.path("into")
        shutil.copytree(os.path.join(GOLDEN, case, "bucket"), self.source, copy_function=shutil.copyfile)
        base = os.path.join(GOLDEN, case, "base")
        self.base = ["--base", base] if os.path.isdir(base) else []
        log = self.ok_json("log", self.source, *self.base)
        return [step["step"] for step in log["epochs"][-1]["steps"]]

    def traced(self, *args):
        """(document, {"reads", "writes", "deletes": paths of payload}) of a call."""
        trace = self.path("trace")
        document = self.ok_json(*args, *self.base, wrapper=["strace", "-f", "-y", "-o", trace, "-e", self.CALLS])
        seen = {"reads": set(), "writes": set(), "deletes": set()}
        with open(trace, encoding="utf-8", errors="replace") as f:
            for line in f:
                begun = re.search(r"^\d+ +(\w+)\((.*)", line)
                if not begun:  # the end of a call, or of a thread
                    continue
                call, names = begun[1], re.findall(r'<(/[^>]*)>, "([^"]*)"', begun[2])
                if call in ("linkat", "renameat", "renameat2"):
                    seen["writes"].add(os.path.join(*names[-1]))
                elif call == "unlinkat":
                    seen["deletes"].add(os.path.join(*names[0]))
                else:
                    file = re.search(r"<(/[^>]*)>", begun[2])
                    seen["reads" if "read" in call or call == "mmap" else "writes"].update(file.groups() if file else ())
        kept = [os.path.realpath(place) + os.sep for place in (self.source, self.into, *self.base[1:])]
        return document, {what: {path for path in found if path.startswith(tuple(kept)) and ".deltascope" not in path
                                 and "#" not in path} for what, found in seen.items()}

    def listed(self, rows):
        place = lambda store: os.path.realpath((store or self.source).removeprefix("file://"))
        return {os.path.join(place(row["store"]), row["key"]) for row in rows}

    def check(self, act, step, *more):
        before = files_below(self.source)
        address = f"{self.source}@{step}"
        verified = self.traced("verify", address, "--level", "3")[1]["reads"]
        planned, seen = self.traced(act, address, *more, "--dry-run")
        plan = planned["plan"]
        reads, writes = self.listed(plan["reads"]), self.listed(plan["writes"])
        self.assertEqual(seen, {"reads": reads | verified, "writes": set(), "deletes": set()})
        self.assertEqual(files_below(self.source), before)
        self.assertFalse(os.path.exists(self.into))
        seen = self.traced(act, address, *more, "--yes")[1]
        self.assertEqual(seen["reads"] - writes, reads | verified)
        self.assertEqual(seen["writes"], writes)
        self.assertEqual(seen["deletes"], self.listed(plan["deletes"]))

    def test_rollback_trl(self):
        self.prepare("trl-v2-gap")
        self.check("rollback", 12)

    def test_rollback_slime(self):
        steps = self.prepare("slime-v2-xor")
        self.check("rollback", steps[-2])

    def test_branch_trl(self):
        self.prepare("trl-v2-gap")
        self.check("branch", 12, "--into", self.into)

    def test_branch_slime(self):
        steps = self.prepare("slime-v2-xor")
        self.check("branch", steps[-2], "--into", self.into)

    def test_acts_that_only_read(self):
        """Over HTTP; what is traced is the line that the plan offers for a terminal."""
        self.prepare("trl-v2-gap")
        os.mkdir(self.path("out"))
        daemon = Daemon(self.source, self.path("out"), self.environment())
        self.addCleanup(lambda: daemon.end(signal.SIGKILL))
        acts = [("verify", {"range": "12", "level": level}) for level in (0, 1, 2, 3)]
        acts += [("verify", {"level": 4}), ("diff", {"a": "3", "b": "12"}), ("materialize", {"step": "12", "to": "made"})]
        for kind, args in acts:
            plan = daemon.plan(kind, args)
            seen = self.traced(*shlex.split(plan["cli"])[1:])[1]
            self.assertEqual(seen["reads"], self.listed(plan["act"]["reads"]), (kind, args))
            self.assertEqual((seen["writes"], seen["deletes"]), (set(), set()), (kind, args))


class ForTraining(E2ETest):
    STATE = {"optimizer.pt": b"moments" * 100_000, "scheduler.pt": b"s", "rng_state.pth": b"r", "trainer_state.json": b"{}"}

    def setUp(self):
        super().setUp()
        self.source = self.path("run")
        shutil.copytree(os.path.join(GOLDEN, "hf-sharded", "bucket"), self.source)
        for folder in os.listdir(self.source):
            for name in ("trainer_state.json", "training_args.bin"):
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    os.remove(os.path.join(self.source, folder, name))
        self.steps = [s["step"] for s in self.ok_json("log", self.source)["epochs"][-1]["steps"]]

    def put(self, step, names):
        for name in names:
            with open(os.path.join(self.source, f"checkpoint-{step}", name), "wb") as f:
                f.write(self.STATE[name])

    def test_the_files_of_the_trainer_come_along(self):
        self.put(self.steps[-1], self.STATE)
        out = self.path("out")
        made = self.ok_json("materialize", f"{self.source}@{self.steps[-1]}", "-o", out, "--for-training")
        self.assertEqual((made["trainer_files"], made["missing"]), (sorted(self.STATE), []))
        for name, content in self.STATE.items():
            with open(os.path.join(out, name), "rb") as f:
                self.assertEqual(f.read(), content, name)

    def test_what_is_not_there_is_named(self):
        self.put(self.steps[-1], ["scheduler.pt"])
        made = self.ok("materialize", f"{self.source}@{self.steps[-1]}", "-o", self.path("out"), "--for-training")
        self.assertIn("no optimizer, no random state, no trainer state", made.out)
        other = self.ok_json("materialize", f"{self.source}@{self.steps[0]}", "-o", self.path("other"), "--for-training")
        self.assertEqual(len(other["missing"]), 4)

    def test_the_state_of_another_step_stays_behind(self):
        source = self.path("trl")
        shutil.copytree(os.path.join(GOLDEN, "trl-v2-gap", "bucket"), source)
        with open(os.path.join(source, "anchors", "optimizer.pt"), "wb") as f:
            f.write(b"of the anchor")
        made = self.ok_json("materialize", f"{source}@12", "-o", self.path("out"), "--for-training")
        self.assertEqual((made["trainer_files"], len(made["missing"])), ([], 4))
        self.assertFalse(os.path.exists(self.path("out/optimizer.pt")))


if __name__ == "__main__":
    main()
