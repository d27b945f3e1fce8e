#!/usr/bin/env python3
"""serve --open: the browser comes up with the page, and nobody else learns the one-time code."""

import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

from support import HERE, wait_until

PROGRAM = os.environ.get("DELTASCOPE_BIN") or os.path.join(HERE, "..", "..", "build", "release", "bin", "deltascope")
BUCKET = os.path.join(HERE, "..", "golden", "trl-v2-raw", "bucket")
BROWSER = """#!/bin/sh
printf '%s\\n' "$@" > "$TOLD.new"
cp -p "$1" "$TOLD.page"
mv "$TOLD.new" "$TOLD"
"""


class Opening(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.told = os.path.join(self.folder, "told")
        os.mkdir(os.path.join(self.folder, "bin"))
        browser = os.path.join(self.folder, "bin", "xdg-open")
        with open(browser, "w", encoding="utf-8") as file:
            file.write(BROWSER)
        os.chmod(browser, 0o755)

    def serve(self, **environment):
        base = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        base |= {"DELTASCOPE_HOME": os.path.join(self.folder, "home"), "TOLD": self.told,
                 "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        process = subprocess.Popen([PROGRAM, "serve", BUCKET, "--listen", "127.0.0.1:0", "--open"], env=base | environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process, process.stdout.readline().strip()

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        return process.communicate(timeout=30)[1]

    def test_the_code_is_in_a_private_file_and_in_no_argument(self):
        os.umask(0o022)
        process, address = self.serve(DISPLAY=":7")
        code = address.partition("#k=")[2]
        self.assertRegex(code, "^[0-9a-f]{32}$")
        wait_until(lambda: os.path.exists(self.told), "the browser to be called")
        with open(self.told, encoding="utf-8") as file:
            words = file.read().split("\n")
        page = words[0]
        self.assertEqual(words, [page, ""], "one argument")
        self.assertNotIn(code, page)
        self.assertEqual(stat.S_IMODE(os.stat(self.told + ".page").st_mode), 0o600)
        with open(self.told + ".page", encoding="utf-8") as file:
            self.assertIn(f'content="0; url={address}"', file.read())
        self.assertTrue(os.path.exists(page))
        self.end(process)
        self.assertFalse(os.path.exists(page), "the file goes with the daemon")

    def test_what_is_at_its_name_is_replaced_and_not_written_through(self):
        process, address = self.serve(DISPLAY=":7")
        wait_until(lambda: os.path.exists(self.told), "the browser to be called")
        with open(self.told, encoding="utf-8") as file:
            page = file.read().strip()
        process.kill()  # the page stays
        process.wait()
        self.assertTrue(os.path.exists(page))
        port = re.search(r":(\d+)/", address)[1]
        victim = os.path.join(self.folder, "victim")
        os.remove(page)
        os.symlink(victim, page)
        os.remove(self.told)
        again = subprocess.Popen([PROGRAM, "serve", BUCKET, "--listen", f"127.0.0.1:{port}", "--open"],
                                 env=os.environ | {"DELTASCOPE_HOME": os.path.join(self.folder, "home"), "DISPLAY": ":7",
                                                   "TOLD": self.told, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"},
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, again)
        wait_until(lambda: os.path.exists(self.told), "the browser to be called")
        self.assertFalse(os.path.exists(victim))

    def test_without_a_desktop_nothing_is_opened_or_written(self):
        process, address = self.serve()
        self.assertIn("#k=", address)
        self.assertEqual(self.end(process).count("cannot be opened"), 0)
        self.assertFalse(os.path.exists(self.told))

    def test_a_page_that_cannot_be_written_is_told(self):
        home = os.path.join(self.folder, "home")
        process, address = self.serve()
        self.end(process)
        port = re.search(r":(\d+)/", address)[1]
        state = next(root for root, folders, _ in os.walk(home) if "serve-tasks" in folders)
        os.mkdir(os.path.join(state, f"sign-in-{port}.html"))  # a folder is not replaced
        environment = os.environ | {"DELTASCOPE_HOME": home, "DISPLAY": ":7", "TOLD": self.told,
                                    "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        process = subprocess.Popen([PROGRAM, "serve", BUCKET, "--listen", f"127.0.0.1:{port}", "--open"], env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        self.assertIn("#k=", process.stdout.readline())
        self.assertIn("the browser cannot be opened", self.end(process))
        shutil.rmtree(state)


if __name__ == "__main__":
    unittest.main()
