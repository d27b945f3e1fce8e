#!/usr/bin/env python3
"""Drives the program as a user does: a real X server, real keys, and a look at the pixels.

From the start to a moving chart with one key, from there to a checkpoint with three more; then a second start is handed
over to the first one, and the window closes when it is told to. Times are printed, never judged.

usage: real_window.py PROGRAM
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from screen import PATIENCE, Screen, wait_for


def checkpoints(home):
    """Those that are whole: what is being written is in a folder with a dot."""
    made = pathlib.Path(home, "checkpoints").rglob("deltascope.provenance.json")
    return [path.parent.name for path in made if not path.parent.name.startswith(".")]


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as home, Screen() as screen:
        environment = {**screen.environment, "DELTASCOPE_HOME": home, "HOME": home, "XDG_RUNTIME_DIR": home}
        os.chmod(home, 0o700)
        begin = time.monotonic()
        app = subprocess.Popen([program], env=environment)
        try:
            window = wait_for("the window", lambda: screen.window("Deltascope"))
            print(f"window after {time.monotonic() - begin:.2f} s")
            time.sleep(0.3)
            screen.press(window, "Return")  # Watch a live demo: it has the focus
            window = wait_for("the demo's window", lambda: screen.window("demo – Deltascope"))
            chart = (90, 220, 400, 170)  # the first card of the page Live

            def moves():
                before = screen.pixels(*chart)
                time.sleep(0.4)
                after = screen.pixels(*chart)
                return before != after and len({bytes(row) for row in after}) > 20

            wait_for("a chart that moves", moves)
            print(f"moving chart after {time.monotonic() - begin:.2f} s, 1 act")

            screen.press(window, "ctrl+m")
            sheet = wait_for("the sheet", lambda: screen.window("Materialize step"))
            time.sleep(0.5)
            screen.press(sheet, "Return")
            made = wait_for("the checkpoint", lambda: checkpoints(home))
            print(f"checkpoint {made[0]}")
            screen.press(window, "ctrl+m")  # the folder is remembered: no question now
            wait_for("the next checkpoint", lambda: len(checkpoints(home)) == 2)

            for page in range(2, 9):
                screen.press(window, f"ctrl+{page}")
                time.sleep(0.2)
            second = subprocess.run([program, "--page", "lineage"], env=environment, timeout=PATIENCE)
            assert second.returncode == 0, "a second start ends at once"
            assert app.poll() is None, "the first one goes on"
            screen.press(window, "ctrl+q")
            assert app.wait(PATIENCE) == 0, "the window closes when it is told to"
        finally:
            if app.poll() is None:
                app.kill()
    print("ok")


if __name__ == "__main__":
    main()
