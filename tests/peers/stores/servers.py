"""A server process of a test on 127.0.0.1: started on a free port, waited for, always stopped; a failure shows its log.

Linux ends the server with the test that started it, however that ends (PR_SET_PDEATHSIG).
"""

import contextlib
import ctypes
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

LOG_END = 6000  # characters that are shown
PR_SET_PDEATHSIG = 1
TRIES = 3  # between choosing a port and listening on it another process may take it


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class ServerFailed(Exception):
    pass


class Server:
    """A context manager. A subclass says how to start (`command`) and whether it answers (`answers`)."""

    def __init__(self):
        self.work = self.process = None

    def command(self, port):
        """(arguments, variables of the environment)"""
        raise NotImplementedError

    def answers(self):
        """Whether the server is ready. May raise OSError while it is not."""
        raise NotImplementedError

    def stop_beside(self):
        """Ends what belongs to the server, after it."""

    def __enter__(self):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="ds-store-"))
        try:
            for last in range(TRIES):
                if self.start(free_port(), last == TRIES - 1):
                    return self
            raise AssertionError("unreachable")
        except BaseException:
            self.stop()
            raise

    def start(self, port, last):
        arguments, variables = self.command(port)
        with open(self.work / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                [*map(str, arguments)],
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,
            )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            ended = self.process.poll() is not None
            with contextlib.suppress(OSError):
                if not ended and self.answers():
                    return True
            if ended and not last:
                return False
            if ended:
                break
            time.sleep(0.02)
        raise ServerFailed(f"{arguments[0]} does not answer\n{self.log_end()}")

    def __exit__(self, kind, value, trace):
        if kind is not None:
            print(self.log_end(), file=sys.stderr)
        self.stop()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.stop_beside()
        shutil.rmtree(self.work, ignore_errors=True)

    def log_end(self):
        log = self.work / "server.log"
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        return f"-- end of the log of {type(self).__name__}\n{text[-LOG_END:]}"
