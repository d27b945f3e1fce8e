#!/usr/bin/env python3
"""Ctrl-C, broken pipes, terminals: how the program behaves as a citizen of a shell."""

import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess

from support import BIN, OK, STOPPED, E2ETest, main, tree_state, wait_until

ESCAPE = "\x1b"


class Interrupts(E2ETest):
    def prepare(self):
        # Large enough that the work lasts longer than it takes to notice that it began.
        self.run_made = self.make_run(tensors=16, elements=8 << 20, steps=4)
        self.before = tree_state(self.run_made.source)
        self.folder = self.path("out")
        os.mkdir(self.folder)
        self.destination = os.path.join(self.folder, "checkpoint")
        self.command = ["materialize", self.run_made.at(4), "-o", self.destination, "--threads", 1]

    def leftovers(self):
        return [n for n in os.listdir(self.folder) if n.startswith(".checkpoint.ds-")]

    def begun(self):
        """Bytes of the result were written into the private folder."""
        for name in self.leftovers():
            for path, _, files in os.walk(os.path.join(self.folder, name)):
                if any(f.endswith(".safetensors") for f in files):
                    return path
        return None

    def interrupt(self, *signals, options=()):
        """Sends signals to a rebuild that has begun. Returns it and what it said."""
        for _ in range(5):
            process = self.start(*self.command, *options)
            wait_until(lambda p=process: self.begun() or p.poll() is not None, 60, "the rebuild to begin")
            for number in signals:
                process.send_signal(number)
            out, err = process.communicate(timeout=60)
            if process.returncode != OK:
                self.assertFalse(self.assert_no_half_result(self.destination, self.run_made.truth(4)))
                return process.returncode, out, err
            shutil.rmtree(self.destination)  # it was faster than we were
        self.fail("never fast enough to interrupt it")

    def finish(self):
        self.ok(*self.command)
        self.assertTrue(self.assert_no_half_result(self.destination, self.run_made.truth(4)))
        self.assertEqual(os.listdir(self.folder), ["checkpoint"])
        self.assertEqual(self.before, tree_state(self.run_made.source))

    def test_one_interrupt_stops_and_the_next_call_finishes(self):
        self.prepare()
        code, out, err = self.interrupt(signal.SIGINT)
        self.assertEqual(code, STOPPED, err)
        self.assertEqual(out, b"")
        self.assertIn(b"DS-CANCELED", err)
        self.assertTrue(self.leftovers(), "nothing was kept to go on with")
        self.finish()

    def test_interrupted_with_json_says_so_in_one_document(self):
        self.prepare()
        code, out, err = self.interrupt(signal.SIGINT, options=["--json"])
        self.assertEqual(code, STOPPED, err)
        self.assertEqual(json.loads(out)["error"]["code"], "DS-CANCELED")

    def test_a_terminated_rebuild_resumes_too(self):
        self.prepare()
        code, _, err = self.interrupt(signal.SIGTERM)
        self.assertIn(code, (STOPPED, -signal.SIGTERM, 128 + signal.SIGTERM), err)
        self.finish()

    def test_two_interrupts_end_at_once(self):
        self.prepare()
        code, _, err = self.interrupt(signal.SIGINT, signal.SIGINT)
        self.assertIn(code, (STOPPED, 130, -signal.SIGINT), err)
        self.finish()


class Streams(E2ETest):
    def test_a_broken_pipe_is_silent(self):
        run = self.make_run(tensors=40, elements=64, steps=300)
        for command in (["log", run.source], ["log", run.source, "--json"], ["digest", run.at(5)], ["show", run.at(5)]):
            with self.subTest(command=command[0]):
                process = self.start(*command)
                process.stdout.close()
                err = process.stderr.read().decode()
                process.wait(timeout=60)
                self.assertIn(process.returncode, (OK, -signal.SIGPIPE, 128 + signal.SIGPIPE), err)
                self.assertNotRegex(err.lower(), "pipe|ds-|error|terminate")

    def test_what_waits_ends_when_its_reader_goes_although_nothing_happens(self):
        run = self.make_run()
        os.mkdir(self.path("checkpoints"))
        publish = ["publish", "--into", self.path("into"), "--layout", "trl-v2", "--watch", self.path("checkpoints")]
        for command, speaks in (
            (["watch", run.source], True),
            (["watch", run.source, "--json"], True),
            (["watch", self.path("checkpoints")], False),  # a run without any version yet
            (publish, False),
        ):
            for make in (os.pipe, self.socket_pair):
                with self.subTest(command=command, stream=make.__name__):
                    reader, writer = make()
                    process = self.start(*command, stdout=writer)
                    os.close(writer)
                    if speaks:
                        self.assertTrue(os.read(reader, 1))
                    os.close(reader)
                    self.assertEqual(process.wait(timeout=60), OK)
                    self.assertNotRegex(process.stderr.read().decode(), "(?i)broken pipe|DS-IO|DS-INTERNAL|terminate")

    @staticmethod
    def socket_pair():
        return [end.detach() for end in socket.socketpair()]

    def test_what_waits_goes_on_while_it_is_read(self):
        run = self.make_run()
        newest = os.path.join(run.source, "deltas", f"step_{run.last:06}.safetensors")
        os.rename(newest, self.path("kept"))
        reader, writer = os.pipe()
        process = self.start("watch", run.source, stdout=writer)
        os.close(writer)
        with open(reader, encoding="utf-8") as lines:
            next(lines)
            self.assertIsNone(process.poll())
            os.rename(self.path("kept"), newest)
            self.assertTrue(any(re.match(rf"\W*{run.last} ", line) for line in lines), "it ended")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=60), OK)

    def test_data_on_stdout_the_rest_on_stderr(self):
        run = self.make_run()
        for command in (
            ["log", run.source],
            ["show", run.at(3)],
            ["digest", run.at(3)],
            ["diff", run.at(2), run.at(3)],
            ["verify", run.source, "--level", 3],
            ["materialize", run.at(3), "-o", self.path("out")],
        ):
            with self.subTest(command=command[0]):
                outcome = self.ok(*command, "--json")
                self.assertIsInstance(outcome.json(), dict)
                self.assertEqual(
                    outcome.out.count("\n"), outcome.out.rstrip("\n").count("\n") + 1, "one document and one newline"
                )
                self.assertNotIn("\r", outcome.err, "progress is drawn although stderr is no terminal")

    def test_no_color_without_a_terminal(self):
        run = self.make_run()
        for command in (
            ["log", run.source],
            ["show", run.at(3)],
            ["verify", run.source, "--level", 3],
            ["digest", run.at(99)],
        ):
            outcome = self.run_ds(*command)
            self.assertNotIn(ESCAPE, outcome.out + outcome.err, str(outcome))

    def on_a_terminal(self, *command, **extra):
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [BIN, *command],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=self.environment(COLUMNS="100", **extra),
        )
        os.close(slave)
        chunks = []
        while True:
            ready, _, _ = select.select([master], [], [], 60)
            self.assertTrue(ready, "nothing for a minute")
            try:
                chunk = os.read(master, 65536)
            except OSError:  # the terminal's other end is closed
                break
            if not chunk:
                break
            chunks.append(chunk)
        os.close(master)
        self.assertEqual(process.wait(timeout=60), OK)
        return b"".join(chunks).decode(errors="replace")

    def test_no_color_is_obeyed_on_a_terminal(self):
        run = self.make_run()
        self.assertIn(f"{ESCAPE}[", self.on_a_terminal("log", run.source), "a terminal gets color")
        self.assertNotRegex(self.on_a_terminal("log", run.source, NO_COLOR="1"), f"{ESCAPE}\\[[0-9;]*m")
        self.assertNotRegex(self.on_a_terminal("log", run.source, "--color", "never"), f"{ESCAPE}\\[[0-9;]*m")


if __name__ == "__main__":
    main()
