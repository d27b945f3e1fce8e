#!/usr/bin/env python3
"""`watch`: a line for every step that is published while it runs, and a clean end."""

import os
import queue
import re
import signal
import threading
import time

from support import E2ETest, main, wait_until

GRACE = 5.0  # seconds from the publication to the line


class Watch(E2ETest):
    def begin(self, **options):
        self.run_made = self.make_run("complete", tensors=2, elements=5000, steps=10, **options)
        self.live = self.path("live")
        for folder in ("anchors", "deltas"):
            os.makedirs(os.path.join(self.live, folder))
        self.publish(1)
        self.publish(2)
        self.process = self.start("watch", self.live)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read_lines, daemon=True)
        self.reader.start()
        self.told = []
        self.listener = threading.Thread(target=self.read_told, daemon=True)
        self.listener.start()

    def read_lines(self):
        for line in self.process.stdout:
            self.lines.put(line.decode(errors="replace"))
        self.lines.put(None)

    def read_told(self):
        for line in self.process.stderr:
            self.told.append(line.decode(errors="replace"))

    def has_told(self, text):
        return any(text in line for line in list(self.told))

    def publish(self, step):
        name = os.path.join("anchors" if step == 1 else "deltas", f"step_{step:06}.safetensors")
        os.rename(os.path.join(self.run_made.source, name), os.path.join(self.live, name))

    def line_of(self, step, seconds):
        """The line that names the step, or None if none came in time."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return None
            if line is None:
                self.fail(f"watch ended: {self.told}")
            if re.search(rf"(?<![0-9.]){step}(?![0-9.])", line):
                return line

    def synchronize(self):
        """Publishes steps until one is seen: the first may come before the program looks. Returns the next step."""
        for step in range(3, 7):
            self.publish(step)
            if self.line_of(step, GRACE):
                return step + 1
        self.fail(f"no line for any of the steps 3 to 6; exit {self.process.poll()}: {self.told}")

    def test_a_line_within_seconds_and_a_clean_end(self):
        self.begin()
        step = self.synchronize()
        for step in range(step, 11):
            self.publish(step)
            line = self.line_of(step, GRACE)
            self.assertIsNotNone(line, f"no line for step {step} within {GRACE} s")
            self.assertRegex(line, "delta")
            self.assertNotIn("\x1b", line)
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(timeout=10), 0)
        self.listener.join(10)
        self.assertNotRegex("".join(self.told), "terminate|DS-")

    def test_a_source_that_is_away_for_a_while_is_waited_for(self):
        self.begin()
        step = self.synchronize()
        os.rename(self.live, self.live + ".away")
        wait_until(lambda: self.has_told("DS-"), 60, "a word on the source that is away")
        self.assertFalse(self.has_told("can be read again"))
        os.rename(self.live + ".away", self.live)
        wait_until(lambda: self.has_told("can be read again"), 60, "a word on the source that is back")
        self.publish(step)
        self.assertIsNotNone(self.line_of(step, 60))

    def test_half_a_step_is_not_announced(self):
        self.begin()
        step = self.synchronize()
        name = os.path.join("deltas", f"step_{step:06}.safetensors")
        with open(os.path.join(self.run_made.source, name), "rb") as f:
            content = f.read()
        with open(os.path.join(self.live, name), "wb", buffering=0) as f:
            f.write(content[: len(content) // 2])
            line = self.line_of(step, 1.5)
            self.assertTrue(line is None or "publishing" in line, f"half a step was announced: {line!r}")
            f.write(content[len(content) // 2 :])
        line = self.line_of(step, GRACE)
        self.assertIsNotNone(line, "no line after the step was whole")
        self.assertIn("delta", line)


if __name__ == "__main__":
    main()
