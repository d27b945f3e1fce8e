#!/usr/bin/env python3
"""Ends the program in the middle of a materialization, in every way that a user has, and looks at what comes of it.

Told to go on in the background, it ends when the checkpoint is there. Told to pause, or killed, it leaves a task that the
next start goes on with. All checkpoints are, bit for bit, the one that the command line makes.

usage: task_window.py PROGRAM
"""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

from screen import PATIENCE, Screen, wait_for

TENSORS, ROWS, COLUMNS = 192, 2048, 2048  # of bfloat16: 1.6 GB
ATTEMPTS = 8
HINTS_SEEN = "[firstrun]\nseen=pause, heatmap, materialize, anchor\n"
RESUME = ((1471, 925), (1471, 945))  # the button of the only task, below the page Welcome, without and with a frame


def write_run(folder):
    """A run of one anchor (docs/formats/trl-v2.md)."""
    size = ROWS * COLUMNS * 2
    header = {"__metadata__": {
        "format": "sparse_weight_patch", "version": "1", "sparse": "False", "model_version": "1",
        "num_changed_params": str(TENSORS), "total_changed_elements": str(TENSORS * ROWS * COLUMNS),
        "total_elements": str(TENSORS * ROWS * COLUMNS), "sparsity": "0.0", "encoding": "gap_delta"}}
    for i in range(TENSORS):
        header[f"model.layers.{i:03}.weight"] = {"dtype": "BF16", "shape": [ROWS, COLUMNS],
                                                 "data_offsets": [i * size, (i + 1) * size]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path = folder / "anchors/step_000001.safetensors"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for i in range(TENSORS):
            file.write(random.Random(i).randbytes(64 * 1024) * (size // (64 * 1024)))


class TooFast(Exception):
    """The task was over before the program was told to end."""


class App:
    def __init__(self, program, screen, home):
        self.screen = screen
        self.program = program
        self.home = pathlib.Path(home)
        self.environment = {**screen.environment, "DELTASCOPE_HOME": home, "HOME": home, "XDG_RUNTIME_DIR": home}
        self.process = None
        settings = self.home / "config/deltascope/deltascope-desktop.conf"
        settings.parent.mkdir(parents=True)
        settings.write_text(HINTS_SEEN)

    def start(self, *words, title):
        one = {min(os.sched_getaffinity(0))}  # processor: on all of them a task may end before a key is pressed
        self.process = subprocess.Popen([self.program, *words], env=self.environment,
                                        preexec_fn=lambda: os.sched_setaffinity(0, one))
        return wait_for(title, lambda: self.screen.window(title))

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()

    def checkpoints(self):
        return sorted((self.home / "checkpoints").glob("*/step_*"))

    def expect_unfinished(self):
        if self.checkpoints():
            raise TooFast

    def written(self):
        """Tensors that a materialization on its way has finished."""
        return sum(path.read_bytes().count(b"\n")
                   for path in (self.home / "checkpoints").glob("*/.step_*/deltascope-progress.jsonl"))

    def tasks(self):
        return [json.loads(path.read_text()) for path in sorted((self.home / "state/tasks").glob("t*/task.json"))]

    def state(self):
        """Of the newest task; None while there is none."""
        tasks = self.tasks()
        return tasks[-1]["state"] if tasks else None


def begin(app, run):
    """A materialization that is on its way."""
    window = app.start(str(run), title=f"{run.name} – Deltascope")

    def asked():
        app.screen.press(window, "ctrl+m")
        return app.screen.window("Materialize step")

    sheet = wait_for("the sheet", asked)
    wait_for("a task", lambda: app.screen.press(sheet, "Return") or app.written() >= 3)
    return window


def question(app, window):
    app.screen.press(window, "ctrl+q")

    def asked():
        if app.process.poll() is not None:
            raise TooFast
        return app.screen.window("Tasks are running")

    return wait_for("the question", asked)


def resume(app):
    """Goes on with the task that the start before left."""
    app.start(title="Deltascope")

    def resumed():
        for x, y in RESUME:
            app.screen.tool("mousemove", str(x), str(y), "click", "1")
        return app.state() in ("running", "done")

    time.sleep(1)
    wait_for("the task to go on", resumed)
    wait_for("its end", lambda: app.state() == "done")
    return app.tasks()[-1]


def main():
    program = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder, Screen() as screen:
        run = pathlib.Path(folder, "large")
        write_run(run)

        def command(*words):
            done = subprocess.run([str(program.parent / "deltascope"), *map(str, words)], capture_output=True, text=True,
                                  env={**os.environ, "DELTASCOPE_HOME": folder + "/command"}, timeout=PATIENCE * 3)
            assert done.returncode == 0, done.stderr
            return done.stdout

        command("materialize", f"{run}@1", "-o", folder + "/straight")
        straight = json.loads(command("digest", folder + "/straight", "--json"))["root"]

        def check(app):
            made, = app.checkpoints()
            assert json.loads(command("digest", made, "--json"))["root"] == straight, made
            assert not list(made.parent.glob(".step_*")), "nothing is left beside it"

        def attempt(name, act):
            home = folder + "/" + name
            os.makedirs(home, mode=0o700)
            app = App(str(program), screen, home)
            try:
                act(app)
                check(app)
                return True
            except TooFast:
                return False
            finally:
                app.end()
                subprocess.run(["rm", "-rf", home], check=True)

        def scenario(name, act):
            assert any(attempt(name, act) for _ in range(ATTEMPTS)), f"{name}: the task was always over too early"
            print(name, "ok")

        def background(app):
            window = begin(app, run)
            screen.press(question(app, window), "alt+k")
            wait_for("the window to go", lambda: not screen.window("Deltascope"))
            app.expect_unfinished()
            assert app.process.poll() is None, "it goes on"
            assert app.process.wait(PATIENCE) == 0

        def back(app):
            window = begin(app, run)
            screen.press(question(app, window), "alt+k")
            wait_for("the window to go", lambda: not screen.window("Deltascope"))
            assert subprocess.run([app.program], env=app.environment, timeout=PATIENCE).returncode == 0
            wait_for("the window to come back", lambda: screen.window("Deltascope"))
            wait_for("the end", lambda: app.state() == "done")
            assert app.process.poll() is None, "the window is there, so the program is"

        def paused(app):
            window = begin(app, run)
            screen.press(question(app, window), "alt+p")
            assert app.process.wait(PATIENCE) == 0
            app.expect_unfinished()
            assert app.state() == "paused"
            done = resume(app)
            assert done["result"]["resumed_bytes"] > 0, "what was written was used"

        def killed(app):
            begin(app, run)
            app.process.kill()
            app.process.wait()
            app.expect_unfinished()
            assert app.state() in ("queued", "running"), app.state()  # what a slow disk has of it
            done = resume(app)
            assert done["result"]["resumed_bytes"] > 0, "what was written was used"

        for act in (background, back, paused, killed):
            scenario(act.__name__, act)
    print("ok")


if __name__ == "__main__":
    main()
