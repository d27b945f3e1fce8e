#!/usr/bin/env python3
"""Peak memory of the big operations: bounded, and independent of the size of a tensor. The goal is 256 MiB plus 8 MiB per
thread, and less than 5 % growth for a tensor 16 times larger.

The fixed buffers are a few MiB and a small tensor does not fill them all, so below 128 MiB growth by one thread's allowance
is let pass. DELTASCOPE_MEMORY_MIB=128 makes the smaller tensor large enough for the goal as it stands (4 GiB of disk).
"""

import os
import shutil

from support import BIN, MIB, OK, E2ETest, main, peak_of

THREADS = 2
SMALL_MIB = int(os.environ.get("DELTASCOPE_MEMORY_MIB", "16"))
SMALL = SMALL_MIB * MIB // 2  # elements of BF16
LARGE = 16 * SMALL
MOST_KIB = (256 + 8 * THREADS) * 1024
ALLOWANCE_KIB = 8 * 1024 if SMALL_MIB < 128 else 0


class Memory(E2ETest):
    def peak(self, *args, at_most=None):
        """Least of three, in KiB: what is left above it is noise of the allocator. Ends early where it is below `at_most`."""
        least = None
        for i in range(3):
            home = self.path(f"home-{i}")  # empty, so that nothing is known already
            os.mkdir(home)
            outcome = peak_of([BIN, *map(str, args)], self.environment(DELTASCOPE_HOME=home))
            self.assertEqual(outcome.code, OK, str(outcome))
            self.assertGreater(outcome.peak_kib, outcome.floor_kib, "not measured")
            shutil.rmtree(self.path("out"), ignore_errors=True)
            shutil.rmtree(home)
            least = min(least or outcome.peak_kib, outcome.peak_kib)
            if at_most and least < at_most:
                break
        return least

    def assert_flat(self, what, small, large):
        """`small`, `large`: arguments of the same operation on tensors of both sizes."""
        base = self.peak(*small, "--threads", THREADS)
        bound = min(max(base * 1.05, base + ALLOWANCE_KIB), MOST_KIB)
        grown = self.peak(*large, "--threads", THREADS, at_most=bound)
        print(f"\n{what}: {base} KiB, 16 times larger {grown} KiB", flush=True)
        self.assertLess(base, MOST_KIB)
        self.assertLess(grown, bound)

    def compare(self, layout, encoding):
        small = self.make_run("small", layout=layout, encoding=encoding, tensors=1, elements=SMALL, steps=4)
        large = self.make_run("large", layout=layout, encoding=encoding, tensors=1, elements=LARGE, steps=4)
        commands = {
            "digest": lambda run: ["digest", run.at(4)],
            "verify": lambda run: ["verify", run.source, "--level", 4],
            "diff": lambda run: ["diff", run.at(1), run.at(4)],
            "materialize": lambda run: ["materialize", run.at(4), "-o", self.path("out")],
        }
        for name, command in commands.items():
            with self.subTest(operation=name):
                args = [[*command(run), *run.base_args] for run in (small, large)]
                self.assert_flat(f"{layout} {encoding} {name}", *args)

    def test_trl(self):
        self.compare("trl-v2", "gap_delta")

    def test_slime_xor(self):
        self.compare("slime-v2", "xor")

    def test_slime_overwrite(self):
        self.compare("slime-v2", "overwrite")

    def test_publish(self):
        runs = [
            self.make_run(name, layout="hf", tensors=1, elements=elements, steps=2)
            for name, elements in (("small", SMALL), ("large", LARGE))
        ]
        into = self.path("out")
        for layout, encoding in (("trl-v2", "gap_delta"), ("trl-v2", "raw"), ("slime-v2", "xor"), ("slime-v2", "overwrite")):
            form = ["publish", "--into", into, "--layout", layout, "--encoding", encoding]
            with self.subTest(layout=layout, encoding=encoding):
                args = [[*form, "--from", run.at(1), "--to", run.at(2)] for run in runs]
                self.assert_flat(f"{layout} {encoding} publish", *args)
        with self.subTest("watched"):
            args = [["publish", "--into", into, "--layout", "trl-v2", "--watch", run.source, "--once"] for run in runs]
            self.assert_flat("trl-v2 publish --watch", *args)

    def test_many_tensors(self):
        run = self.make_run(tensors=2000, elements=2000, steps=4)
        for args in (["digest", run.at(4)], ["materialize", run.at(4), "-o", self.path("out")]):
            with self.subTest(operation=args[0]):
                self.assertLess(self.peak(*args, "--threads", THREADS, at_most=MOST_KIB), MOST_KIB)


if __name__ == "__main__":
    main()
