#!/usr/bin/env python3
"""`materialize` killed with SIGKILL, at random moments and at single system calls: the final name never shows a half
result, the source never changes, and the next call finishes."""

import os
import random
import shutil
import subprocess

from support import E2ETest, count_calls, main, need_strace, spread, tree_state
from sweep import Sweep

SWEEP = Sweep("e2e.kill", 20)
KILLS = 50  # in a slice

# Calls that change a disk, or stand right before or behind one that does.
CALLS = (
    "write",
    "pwrite64",
    "pwritev",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "fallocate",
    "ftruncate",
    "openat",
    "mkdir",
    "mkdirat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "flock",
    "close",
)


class Kill(E2ETest):
    def prepare(self, **options):
        self.run_made = self.make_run(**options)
        self.before = tree_state(self.run_made.source)
        self.folder = self.path("out")
        os.mkdir(self.folder)
        self.destination = os.path.join(self.folder, "checkpoint")
        self.step = self.run_made.last
        self.command = ["materialize", self.run_made.at(self.step), "-o", self.destination]

    def check(self):
        """Returns whether the result is there."""
        done = self.assert_no_half_result(self.destination, self.run_made.truth(self.step))
        self.assertEqual(self.before, tree_state(self.run_made.source), "the source was changed")
        return done

    def finish_and_clear(self, done):
        if not done:
            self.ok(*self.command)
            self.assertTrue(self.check())
        self.assertEqual(os.listdir(self.folder), ["checkpoint"], "a finished rebuild leaves nothing else")
        shutil.rmtree(self.destination)

    def duration(self):
        seconds = []
        for _ in range(3):
            seconds.append(self.ok(*self.command).seconds)
            self.finish_and_clear(True)
        return sorted(seconds)[1]

    @SWEEP
    def test_random_moments(self, number):
        rng = random.Random(number)
        self.prepare(tensors=9, elements=(2 << 20) + 4321, steps=9, density=0.01)
        duration = self.duration()
        print(f"{KILLS} kills over {duration:.2f} s of work", flush=True)
        hit = 0
        for i in range(KILLS):
            with self.subTest(kill=i):
                process = self.start(*self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    process.wait(timeout=rng.uniform(0, 1.05 * duration))
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    hit += 1
                done = self.check()
                if not done and rng.random() < 0.3:
                    continue  # the next kill meets the leftovers of this one
                self.finish_and_clear(done)
        if not os.path.exists(self.destination):
            self.ok(*self.command)
        self.finish_and_clear(True)
        print(f"{hit} of {KILLS} hit a living process", flush=True)
        self.assertGreater(hit, KILLS // 4, "the kills came too late to mean anything")

    def test_every_kind_of_system_call(self):
        need_strace()
        self.prepare(tensors=3, elements=200_000, steps=4, density=0.01)
        trace = self.path("trace")
        self.ok(*self.command, wrapper=["strace", "-f", "-o", trace, "-e", "trace=" + ",".join(CALLS)])
        self.finish_and_clear(True)
        with open(trace, encoding="utf-8", errors="replace") as f:
            lines = f.readlines()
        killed = 0
        for call in CALLS:
            for n in spread(count_calls(lines, call), 12):
                with self.subTest(call=call, n=n):
                    outcome = self.run_ds(
                        *self.command,
                        wrapper=[
                            "strace",
                            "-f",
                            "-o",
                            os.devnull,
                            "-e",
                            f"trace={call}",
                            "-e",
                            f"inject={call}:signal=SIGKILL:when={n}",
                        ],
                    )
                    killed += outcome.code != 0
                    self.finish_and_clear(self.check())
        print(f"\n{killed} kills at system calls", flush=True)
        self.assertGreater(killed, 30)


if __name__ == "__main__":
    main()
