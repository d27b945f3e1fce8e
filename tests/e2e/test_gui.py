#!/usr/bin/env python3
"""deltascope gui becomes the desktop app beside it, with the words that it was given."""

import os
import shutil
import subprocess

from support import BIN, E2ETest, main

NOT_FOUND = 3


class Gui(E2ETest):
    def setUp(self):
        super().setUp()
        self.folder = self.path("bin")
        os.mkdir(self.folder)
        self.program = shutil.copy(BIN, self.folder)
        self.environment = {**os.environ, "DELTASCOPE_HOME": self.path("home"), "PATH": "/nowhere"}

    def run_gui(self, *words):
        return subprocess.run([self.program, "gui", *words], env=self.environment, capture_output=True, text=True,
                              check=False)

    def test_says_that_there_is_none(self):
        missing = self.run_gui()
        self.assertEqual(missing.returncode, NOT_FOUND)
        self.assertIn("not installed", missing.stderr)

    def test_hands_its_words_on(self):
        desktop = os.path.join(self.folder, "deltascope-desktop")
        with open(desktop, "w", encoding="utf-8") as script:
            script.write('#!/bin/sh\nfor word; do echo "$word"; done\n')
        os.chmod(desktop, 0o755)
        words = ["a run", "--base", "b", "--logs", "c", "--logs", "d", "--page", "heatmap"]
        self.assertEqual(self.run_gui(*words).stdout.splitlines(), words)


if __name__ == "__main__":
    main()
