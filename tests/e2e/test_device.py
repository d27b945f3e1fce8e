#!/usr/bin/env python3
"""`--backend cuda` with a module over a driver of the tests: every command answers what the processor answers, says how
much the device did, and why it was not used; a device that fails on the way changes no answer and is named once."""

import os
import re
import subprocess

from support import OTHER, USAGE, E2ETest, Xxh3, main, read_checkpoint, wait_until
from test_tasks import Daemon

MODULE = os.environ["DELTASCOPE_FAKE_CUDA"]
KEEP_ON_DEVICE, KEEP_ON_HOST = 0, 1  # of deltascope/device.h
FAILED = "note: the CUDA device failed ("


class Device(E2ETest):
    def prepared(self):
        # The largest tensors take more than one batch, and more than two.
        return self.make_run("run", tensors=5, elements=5 << 20, steps=5, anchor_every=5)

    def with_device(self, **extra):
        return self.environment(DELTASCOPE_CUDA_MODULE=MODULE, DELTASCOPE_DIFF_BACKEND="cuda", **extra)

    def share(self, outcome):
        """Bytes that the device did, and all, as the command says at its end."""
        found = re.findall(r"^cuda: ([\d.]+ \w+) of ([\d.]+ \w+) in batches on the device, [\d.]+ \w+/s", outcome.err, re.M)
        self.assertEqual(len(found), 1, outcome)
        return found[0]

    @staticmethod
    def answer(outcome):
        """JSON without what a clock or a device says."""
        return {key: value for key, value in outcome.json().items()
                if "seconds" not in key and key not in ("device_bytes", "batch_bytes", "backend_notices")}

    def answers(self, run, env):
        """What each command says of the run, without what a clock or a path says."""
        made = {}
        for name, args in {"diff": ("diff", run.at(2), run.at(5)), "digest": ("digest", run.at(4)),
                           "verify": ("verify", run.source, "--level", "4")}.items():
            outcome = self.run_ds(*args, "--json", env=env)
            self.assertIn(outcome.code, (0, 1), outcome)
            made[name] = self.answer(outcome)
        folder = self.path(f"made-{len(os.listdir(self.work))}")
        outcome = self.run_ds("materialize", run.at(4), "--output", folder, env=env)
        self.assertEqual(outcome.code, 0, outcome)
        made["materialize"] = read_checkpoint(folder)
        return made

    def test_every_command_answers_the_same(self):
        run = self.prepared()
        expected = self.answers(run, self.environment(DELTASCOPE_DIFF_BACKEND="scalar"))
        self.assertEqual(self.answers(run, self.with_device()), expected)

    def test_a_command_says_what_the_device_did(self):
        run = self.prepared()
        # Room for one thread, which compares what it replays on both sides.
        outcome = self.run_ds("diff", run.at(2), run.at(4), "--threads", "1", "--device-memory", "192MiB", env=self.with_device())
        done, all_of_it = self.share(outcome)
        self.assertEqual(done, all_of_it, outcome)
        self.assertNotIn("note:", outcome.err)
        self.assertIn("the processor did the rest", self.run_ds("diff", run.at(2), run.at(5), "--threads", "2",
                                                                "--device-memory", "32MiB", env=self.with_device()).err)
        verified = self.run_ds("verify", run.source, "--level", "3", "--json", env=self.with_device())
        self.assertGreaterEqual(verified.json()["device_bytes"], 5 << 20, "replays that something looks at, too")
        quiet = self.run_ds("diff", run.at(2), run.at(5), "--quiet", env=self.with_device())
        self.assertEqual(quiet.err, "")
        listed = self.run_ds("ls", run.source, env=self.environment(DELTASCOPE_CUDA_MODULE=MODULE))
        self.assertNotIn("cuda", listed.err, "nobody asked for a device")
        looked = self.run_ds("doctor", env=self.environment(DELTASCOPE_CUDA_MODULE=MODULE))
        self.assertIn("a device of a test", looked.out)
        self.assertNotIn("batches", looked.err)
        without = self.run_ds("diff", run.at(2), run.at(5))
        self.assertNotIn("cuda", without.err)

    def test_a_device_that_fails_on_the_way_changes_no_answer(self):
        run = self.prepared()
        expected = self.run_ds("diff", run.at(2), run.at(5), "--json", env=self.environment())
        self.assertNotIn("device_bytes", expected.json(), "nobody asked for a device")
        whole = self.run_ds("diff", run.at(2), run.at(5), "--json", env=self.with_device()).json()
        self.assertNotIn("backend_notices", whole)
        little = self.run_ds("diff", run.at(2), run.at(5), "--json", "--device-memory", "32MiB", env=self.with_device()).json()
        self.assertLess(little["device_bytes"], little["batch_bytes"])
        self.assertEqual(little["batch_bytes"], whole["batch_bytes"], "the work is the same, whoever does it")
        for call in (90, 140, 200):
            with self.subTest(call=call):
                outcome = self.run_ds("diff", run.at(2), run.at(5), "--json",
                                      env=self.with_device(FAKE_DRIVER_FAILS_AT=str(call)))
                self.assertEqual(self.answer(outcome), self.answer(expected))
                self.assertLess(outcome.json()["device_bytes"], whole["device_bytes"])
                self.assertIn(FAILED.removeprefix("note: "), outcome.json()["backend_notices"][0]["text"])
                self.assertEqual(outcome.err.count(FAILED), 1, outcome)
                self.assertIn("CUDA_ERROR_ILLEGAL_ADDRESS", outcome.err)
                self.assertRegex(outcome.err, r"all that follows\n +nvidia-smi", "a line of its own")

    def test_a_task_of_a_server_says_that_its_device_failed(self):
        run = self.prepared()
        self.ok("log", run.source)  # then the server has nothing to analyze, which would use the device beside the task
        output = self.path("out")
        os.mkdir(output)
        done = []
        for fails, notices in (("0", 0), ("120", 1)):
            with self.subTest(fails=fails):
                daemon = Daemon(run.source, output, {**self.with_device(FAKE_DRIVER_FAILS_AT=fails), "PATH": os.environ["PATH"]})
                self.addCleanup(daemon.end)
                task = daemon.start(daemon.plan("materialize", {"step": "4", "to": f"made-{fails}"}))
                now = wait_until(lambda: (at := daemon.task(task))["state"] in ("done", "failed") and at, 120, "the task")
                self.assertEqual(now["state"], "done", now)
                self.assertEqual(now["backend"], "cuda")
                self.assertGreaterEqual(now["batch_bytes"], now["device_bytes"])
                backends = daemon.ask("GET", "capabilities")[1]["backends"]
                self.assertEqual(backends == ["cuda"], not notices, backends)
                self.assertEqual(len(now.get("backend_notices", [])), notices, now)
                done.append(now["device_bytes"])
                if notices:  # the device is not used again
                    later = daemon.start(daemon.plan("materialize", {"step": "3", "to": "made-later"}))
                    now = wait_until(lambda: (at := daemon.task(later))["state"] in ("done", "failed") and at, 120, "the task")
                    self.assertEqual((now["state"], now["device_bytes"]), ("done", 0), now)
                    self.assertGreater(now["batch_bytes"], 0)
                    self.assertEqual(len(now["backend_notices"]), 1, "why the device did nothing of it")
                    self.assertIn("does all that follows", now["backend_notices"][0]["text"])
                    self.assertEqual([now["backend"]], backends, "the processor did all of it")
                daemon.end()
        self.assertGreater(done[0], done[1], "a device that fails does less")
        self.assertEqual(read_checkpoint(os.path.join(output, "made-0")), read_checkpoint(os.path.join(output, "made-120")))

    def test_a_device_that_cannot_be_used_is_refused_with_the_reason(self):
        run = self.make_run("run", tensors=2, elements=600, steps=2)
        sides = run.at(1), run.at(2)
        old = self.with_device(FAKE_DRIVER_VERSION="12080")
        outcome = self.run_ds("diff", *sides, env=old)
        self.refused(outcome, OTHER)
        self.assertIn("the driver knows CUDA 12.8, and CUDA 13.0 is needed", outcome.err)
        self.assertIn("Install a driver of the 580 series or a newer one. Or choose another one: ", outcome.err)
        for command in (("verify", run.source, "--level", "0"), ("ls", run.source)):  # which use no backend
            self.refused(self.run_ds(*command, "--backend", "cuda", env=old), OTHER)
            self.refused(self.run_ds(*command, env=old), OTHER)  # the variable asks for it as the option does
            self.assertEqual(self.ok(*command, env=self.environment(DELTASCOPE_CUDA_MODULE=MODULE, FAKE_DRIVER_VERSION="12080")).err, "")
            self.assertEqual(self.ok(*command, "--backend", "cuda", env=self.with_device()).err.count("cuda"), 1)
        served = self.run_ds("serve", run.source, "--listen", "127.0.0.1:0", env=old)
        self.refused(served, OTHER)
        self.assertIn("the driver knows CUDA 12.8", served.err)
        looked = {check["name"]: check for check in self.ok_json("doctor", env=old)["checks"]}["cuda"]["detail"]
        self.assertIn("CUDA 12.8", looked)
        self.assertIn(f"({MODULE}). Install a driver of the 580 series", looked)
        pipe = self.path("pipe.so")
        os.mkfifo(pipe)
        looked = self.ok_json("doctor", env={**old, "DELTASCOPE_CUDA_MODULE": pipe})["checks"]
        self.assertIn("is no file", {check["name"]: check for check in looked}["cuda"]["detail"])
        little = self.run_ds("diff", *sides, "--device-memory", "31MiB", env=self.with_device())
        self.refused(little, OTHER)
        self.assertIn("31 MiB of the memory of", little.err)
        self.refused(self.run_ds("diff", *sides, "--device-memory", "much", env=self.with_device()), USAGE)
        self.assertIn(self.run_ds("diff", *sides, "--device-memory", "32MiB", env=self.with_device()).code, (0, 1))
        self.assertIn("a device of a test", {check["name"]: check for check in self.ok_json(
            "doctor", env=self.with_device())["checks"]}["cuda"]["detail"])

    def cuda(self, **extra):
        return {check["name"]: check for check in self.ok_json("doctor", env=self.with_device(**extra))["checks"]}["cuda"]

    def test_doctor_lists_devices_and_says_which_is_used(self):
        alone = self.cuda()["detail"]
        self.assertIn("--backend cuda uses it", alone)
        self.assertNotIn("device 1", alone)
        several = self.cuda(FAKE_DRIVER_DEVICES="3")["detail"]
        self.assertIn("device 2, not used: a device of a test", several)
        self.assertIn("CUDA_VISIBLE_DEVICES", several)
        full = self.cuda(FAKE_DRIVER_FREE_BYTES=str(300 << 20))
        self.assertTrue(full["ok"])
        self.assertIn("300 MiB free", full["detail"])
        self.assertIn("not used: 30 MiB of the memory of", full["detail"])

    def test_a_module_of_another_build_is_refused(self):
        run = self.make_run("run", tensors=2, elements=600, steps=2)
        with open(MODULE, "rb") as file:
            content = file.read()
        version = re.search(r"\d+\.\d+\.\d+", self.ok("--version").out).group()
        builds = set(re.findall(rb"(?<=\0)" + re.escape(version).encode() + rb"-[0-9a-f]{16}(?=\0)", content))
        self.assertEqual(len(builds), 1, builds)
        other = self.path("other.so")
        with open(other, "wb") as file:
            file.write(content.replace(builds.pop(), f"{version}-0123456789abcdef".encode()))
        env = {**self.with_device(), "DELTASCOPE_CUDA_MODULE": other}
        outcome = self.run_ds("diff", run.at(1), run.at(2), env=env)
        self.refused(outcome, OTHER)
        self.assertIn("belongs to another build of this program", outcome.err)
        self.assertIn("another build", {check["name"]: check for check in self.ok_json("doctor", env=env)["checks"]}["cuda"]["detail"])
        self.assertIn(self.run_ds("diff", run.at(1), run.at(2)).code, (0, 1), "who asks for no device is not concerned")

    def test_the_module_that_is_built_exports_one_function_and_says_that_there_is_no_driver(self):
        real = os.environ["DELTASCOPE_CUDA"]
        if not real:
            self.skipTest("no module for CUDA devices was built: there is no nvcc")
        listed = subprocess.run(["nm", "-D", "--defined-only", real], capture_output=True, text=True, check=True).stdout
        self.assertEqual([line.split()[-1] for line in listed.splitlines()], ["deltascope_device_module"])
        needed = subprocess.run(["objdump", "-p", real], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(needed, r"NEEDED\s+libcu", "the driver is looked up when it is used, and no library of CUDA is needed")
        cuda = {check["name"]: check for check in self.ok_json("doctor", env=self.environment(DELTASCOPE_CUDA_MODULE=real))["checks"]}["cuda"]
        self.assertNotIn("another build", cuda["detail"])
        self.assertRegex(cuda["detail"], r"libcuda\.so\.1|driver|compute capability")

    def publish_steps(self, into, steps, folder, keep=KEEP_ON_DEVICE, **extra):
        os.makedirs(folder, exist_ok=True)
        return subprocess.run([os.environ["DELTASCOPE_PUBLISH_STEPS"], MODULE, into, str(steps), folder, str(keep)],
                              env=self.with_device(**extra), capture_output=True, text=True, timeout=120, check=False)

    @staticmethod
    def lines(done):
        """Of each step that was put: its number for the trainer and in the run, 1 for an anchor, bytes that came down, and the
        microseconds that the trainer waited."""
        return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]

    def expect_steps(self, into, folder, lines):
        """That each step of the run has the bytes that the trainer held on its device."""
        for of_trainer, of_run, _, _, _ in lines:
            made = self.path(f"made-{of_run}-{len(os.listdir(self.work))}")
            self.ok("materialize", f"{into}@{of_run}", "--output", made)
            for tensor, (_, _, digest) in read_checkpoint(made).items():
                with open(os.path.join(folder, f"step-{of_trainer}.{tensor.split('.')[1]}"), "rb") as file:
                    held = Xxh3()
                    held.update(file.read())
                self.assertEqual(digest, held.hexdigest(), (of_run, tensor))

    def test_a_program_in_c_publishes_the_steps_of_its_device(self):
        for keep in (KEEP_ON_DEVICE, KEEP_ON_HOST):
            with self.subTest(keep=keep):
                into, folder = self.path(f"published-{keep}"), self.path(f"held-{keep}")
                done = self.publish_steps(into, 5, folder, keep)
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = self.lines(done)
                self.assertEqual([line[:3] for line in lines], [(1, 1, 1), (2, 2, 0), (3, 3, 0), (4, 4, 0), (5, 5, 1)])
                down = [line[3] for line in lines]
                self.assertLess(down[1], down[0] / 20, "what changed came down alone")
                self.expect_steps(into, folder, lines)
                self.ok("verify", into, "--level", "4", "--strict")
                again = self.publish_steps(into, 1, self.path(f"again-{keep}"), keep)
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assertEqual(self.lines(again)[0][1], 6, "it goes on behind the run")

    def test_a_failure_of_the_device_loses_one_step_and_a_lost_device_all_that_follow(self):
        lost = 0
        for status, call in ((1, 110), (1, 130), (1, 150), (700, 150)):
            with self.subTest(status=status, call=call):
                into, folder = self.path(f"published-{status}-{call}"), self.path(f"held-{status}-{call}")
                done = self.publish_steps(into, 6, folder, FAKE_DRIVER_FAILS_AT=str(call), FAKE_DRIVER_FAILS_WITH=str(status))
                lines = self.lines(done)
                self.assertGreater(len(lines), 0, done.stderr)
                if status == 1: # a copy that is not hashed is put without that proof
                    lost += done.returncode
                    self.assertEqual((len(lines), lines[-1][0]), (6 - done.returncode, 6),
                                     "the steps behind it are put: " + done.stderr)
                else:
                    self.assertEqual(done.returncode, 3, "what the trainer asks of the driver fails, too: " + done.stdout)
                self.expect_steps(into, folder, lines)
                self.ok("verify", into, "--level", "4")
        self.assertGreater(lost, 0)


if __name__ == "__main__":
    main()
