"""A command that runs beside everything else, at the lowest priority, until it is waited for."""

import os
import signal
import subprocess

LOG_END = 10_000  # characters that are shown


class Beside:
    def __init__(self, command, log, **options):
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                ["nice", "-n", "19", *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                process_group=0,  # not a session: with one of its own, Linux would rank it as high as all others together
                **options,
            )

    def wait(self, finish):
        """`finish`: waits for a process, as ledger.finish does. Shows the end of the log."""
        finish(self.process)
        print(self.log.read_text(encoding="utf-8", errors="replace")[-LOG_END:], end="", flush=True)

    def stop(self):
        if self.process.returncode is None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()
