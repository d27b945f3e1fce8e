#!/usr/bin/env python3
"""`serve` with sources that are not there: it stays, and holds no more threads and memory the longer it tries."""

import os
import resource
import signal
import subprocess
import time

from support import BIN, E2ETest, main

SOURCES = 10
ADDRESS_SPACE = 1_500_000 << 10
SETTLE_SECONDS = 5
WATCH_SECONDS = 20
MAPPINGS_LEFT_FREE = 20  # arenas of the allocator come and go


class Unreachable(E2ETest):
    def test_sources_that_are_not_there_cost_nothing(self):
        process = subprocess.Popen(
            [BIN, "serve", *(self.path(f"no{n}") for n in range(SOURCES)), "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "DELTASCOPE_HOME": self.path("home")},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE)))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(process.stdout.readline(), "it does not serve")

        def held():
            with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
                return len(os.listdir(f"/proc/{process.pid}/task")), len(maps.readlines())

        time.sleep(SETTLE_SECONDS)  # the threads of the first tries end
        threads, mappings = held()
        end = time.monotonic() + WATCH_SECONDS
        while time.monotonic() < end:
            time.sleep(1)
            self.assertIsNone(process.poll(), "it ended")
            now = held()
            self.assertLessEqual(now[0], threads + SOURCES, "threads: at most one more for each try")
            self.assertLessEqual(now[1], mappings + 2 * SOURCES + MAPPINGS_LEFT_FREE, "mappings")
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


if __name__ == "__main__":
    main()
