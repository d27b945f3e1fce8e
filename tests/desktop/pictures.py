#!/usr/bin/env python3
"""Pictures of every page on the live demo, light and dark, from the real window.

usage: pictures.py PROGRAM FOLDER [SECONDS]    SECONDS: how long the demo runs before the first one (45: a byte of it is
damaged by then)
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from screen import PATIENCE, Screen, wait_for

PAGES = ("live", "heatmap", "timeline", "lineage", "bucket", "tensors", "diff", "alerts", "journal")
HINTS_SEEN = "[firstrun]\nseen=pause, heatmap, materialize, anchor\n"
APPEARANCES = {"light": 1, "dark": 2}


def take(program, folder, seconds, name, appearance):
    with tempfile.TemporaryDirectory() as home, Screen() as screen:
        environment = {**screen.environment, "DELTASCOPE_HOME": home, "HOME": home, "XDG_RUNTIME_DIR": home}
        os.chmod(home, 0o700)
        settings = pathlib.Path(home, "config", "deltascope", "deltascope-desktop.conf")
        settings.parent.mkdir(parents=True)
        settings.write_text(f"[look]\nappearance={appearance}\n{HINTS_SEEN}", encoding="utf-8")
        app = subprocess.Popen([program], env=environment)
        try:
            window = wait_for("the window", lambda: screen.window("Deltascope"))
            time.sleep(1)
            screen.picture(folder / f"desktop-welcome-{name}.png")
            screen.press(window, "Return")
            window = wait_for("the demo", lambda: screen.window("demo – Deltascope"))
            time.sleep(seconds)
            for number, page in enumerate(PAGES, 1):
                screen.press(window, f"ctrl+{number}")
                if page == "diff":
                    screen.press(window, "ctrl+d")
                time.sleep(2)
                screen.picture(folder / f"desktop-{page}-{name}.png")
            screen.press(window, "ctrl+q")
            app.wait(PATIENCE)
        finally:
            if app.poll() is None:
                app.kill()


def main():
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 45
    for name, appearance in APPEARANCES.items():
        take(sys.argv[1], folder, seconds, name, appearance)


if __name__ == "__main__":
    main()
