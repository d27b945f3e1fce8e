#!/usr/bin/env python3
"""Peak memory of commands over checkpoints of many tensors: what each keeps of one tensor is bounded, whether it prints
text or JSON."""

import os
import struct

from support import BIN, MIB, OK, E2ETest, main, peak_of

TENSORS = 100_000
FIXED = 48 * MIB  # of a command over a checkpoint of one tensor, and of its buffers
BYTES = {  # of one tensor, by command
    "log": 400,
    "show": 200,
    "verify": 200,
    "digest": 250,
    "diff": 400,
    "stats": 300,
    "materialize": 300,
}
BYTES_BEHIND_A_DELTA = {  # that changes every tensor of the anchor in front of it
    "publish": 1150,
    "log": 1000,
    "show": 400,
    "verify": 1200,
    "digest": 750,
    "diff": 950,
    "rollback": 1400,
    "materialize": 650,
}


def write_checkpoint(folder, first_byte):
    os.mkdir(folder)
    header = "{%s}" % ",".join(
        f'"layers.{i:07}":{{"dtype":"BF16","shape":[1],"data_offsets":[{2 * i},{2 * i + 2}]}}' for i in range(TENSORS)
    )
    header += " " * (-len(header) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header.encode())
        file.write(bytes([first_byte, 0x3F]) * TENSORS)


class ManyTensors(E2ETest):
    def test_what_is_kept_of_a_tensor_is_bounded(self):
        run = self.path("run")
        os.mkdir(run)
        for step in (1, 2):
            write_checkpoint(os.path.join(run, f"checkpoint-{step}"), step)
        commands = {
            "log": ["log", run],
            "show": ["show", f"{run}@2"],
            "verify": ["verify", run],
            "digest": ["digest", f"{run}@2"],
            "diff": ["diff", f"{run}@1", f"{run}@2"],
            "stats": ["stats", f"{run}@2", "layers.0000007"],
            "materialize": ["materialize", f"{run}@2", "-o", self.path("out")],
        }
        self.measure(commands, BYTES)

    def test_what_is_kept_of_a_tensor_behind_a_delta_is_bounded(self):
        for step in (1, 2):
            write_checkpoint(self.path(f"checkpoint-{step}"), step)
        ends = ["--from", self.path("checkpoint-1"), "--to", self.path("checkpoint-2")]
        run = self.path("run")
        commands = {
            "publish": ["publish", "--layout", "trl-v2", "--into", run, *ends],
            "log": ["log", run],
            "show": ["show", f"{run}@2"],
            "verify": ["verify", run, "--level", "4"],
            "digest": ["digest", f"{run}@2"],
            "diff": ["diff", f"{run}@1", f"{run}@2"],
            "rollback": ["rollback", f"{run}@1", "--dry-run"],
            "materialize": ["materialize", f"{run}@2", "-o", self.path("out")],
        }
        self.measure(commands, BYTES_BEHIND_A_DELTA)

    def measure(self, commands, limits):
        for name, command in commands.items():
            for form in ([], ["--json"]) if name in ("show", "digest", "diff") else ([],):
                with self.subTest(command=name, form=form):
                    outcome = peak_of([BIN, *command, *form, "--threads", "2"], self.environment())
                    self.assertEqual(outcome.code, OK, str(outcome)[:2000])
                    self.assertGreater(outcome.peak_kib, outcome.floor_kib, "not measured")
                    used = (outcome.peak_kib * 1024 - FIXED) / TENSORS
                    print(f"\n{' '.join([name, *form])}: {outcome.peak_kib} KiB, {used:.0f} bytes a tensor", flush=True)
                    self.assertLess(used, limits[name])


if __name__ == "__main__":
    main()
