#!/usr/bin/env python3
"""10,000 steps: the second look reads no object of the bucket again and says the same."""

import os
import re

from support import E2ETest, main, need_strace

STEPS = 10_000
# With -y each descriptor is shown with its path. Opening alone is allowed: fresh files are asked for holes.
READS = "trace=read,pread64,preadv,preadv2,mmap,io_uring_enter"


class Scale(E2ETest):
    def test_reopening_ten_thousand_steps(self):
        need_strace()
        run = self.make_run(tensors=2, elements=512, steps=STEPS, anchor_every=100)
        first = self.ok("log", run.source, "--json", timeout=600)
        trace = self.path("trace")
        second = self.ok(
            "log",
            run.source,
            "--json",
            timeout=600,
            wrapper=["strace", "-f", "-y", "-o", trace, "-e", READS],
        )
        with open(trace, encoding="utf-8", errors="replace") as f:
            read = [line for line in f if re.search(r"step_\d+\.safetensors", line)]
        self.assertEqual(read[:3], [], f"{len(read)} reads of objects that are known")
        a, b = first.json(), second.json()
        self.assertEqual(a, b)
        steps = [s for e in b["epochs"] for s in e["steps"]]
        self.assertEqual([s["step"] for s in steps], list(range(1, STEPS + 1)))
        for record in steps:
            want = run.steps[record["step"]]
            for field in ("kind", "base_step", "changed_elems", "total_elems", "wire_bytes", "restorable"):
                self.assertEqual(record[field], want[field], f"{record['step']} {field}")
        third = self.ok("log", run.source, "--json")
        print(f"\nfirst look {first.seconds:.2f} s, again {third.seconds:.2f} s", flush=True)
        self.assertEqual(third.json(), b)

    def test_one_new_step_costs_one_object(self):
        need_strace()
        run = self.make_run(tensors=2, elements=512, steps=200)
        newest = os.path.join(run.source, "deltas", "step_000200.safetensors")
        os.rename(newest, self.path("aside"))
        self.ok("log", run.source, "--json")
        os.rename(self.path("aside"), newest)
        trace = self.path("trace")
        self.ok(
            "log",
            run.source,
            "--json",
            "--headers-only",
            wrapper=["strace", "-f", "-y", "-o", trace, "-e", READS],
        )
        with open(trace, encoding="utf-8", errors="replace") as f:
            names = set(re.findall(r"step_\d+\.safetensors", f.read()))
        self.assertEqual(names, {"step_000200.safetensors"})


if __name__ == "__main__":
    main()
