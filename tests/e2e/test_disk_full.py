#!/usr/bin/env python3
"""Disks that are full, quotas that end, and system calls that fail while a checkpoint is written."""

import os
import resource
import shutil
import signal
import subprocess
import sys

from support import MIB, NO_SPACE, OK, E2ETest, count_calls, loudly_skip, main, need_strace, spread, tree_state

IN_NAMESPACE = "DS_E2E_OWN_MOUNTS"


def may_mount(folder):
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "deltascope-test", folder]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return False
    subprocess.run(["umount", folder], check=True)
    return True


def enter_namespace():
    """Starts this program again where it may mount, if it may not here."""
    if os.environ.get(IN_NAMESPACE) or os.geteuid() == 0 or not shutil.which("unshare"):
        return
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode == 0:
        os.execvpe("unshare", ["unshare", "-Urm", sys.executable, *sys.argv], os.environ | {IN_NAMESPACE: "1"})


class WriteFailures(E2ETest):
    def prepare(self, **options):
        self.run_made = self.make_run(**({"tensors": 5, "elements": 300_001, "steps": 5} | options))
        self.before = tree_state(self.run_made.source)
        self.folder = self.path("out")
        os.mkdir(self.folder)
        self.destination = os.path.join(self.folder, "checkpoint")
        self.step = self.run_made.last
        self.command = ["materialize", self.run_made.at(self.step), "-o", self.destination]
        self.ok("log", self.run_made.source)

    def check(self):
        done = self.assert_no_half_result(self.destination, self.run_made.truth(self.step))
        self.assertEqual(self.before, tree_state(self.run_made.source), "the source was changed")
        return done

    def finish_and_clear(self):
        """What failed before works now."""
        if not self.check():
            self.ok(*self.command)
            self.assertTrue(self.check())
        self.assertEqual(os.listdir(self.folder), ["checkpoint"])
        shutil.rmtree(self.destination)


class FullDisk(WriteFailures):
    def mount(self, folder, size, *options):
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", ",".join([f"size={size}", *options]), "deltascope-test", folder], check=True
        )

    @staticmethod
    def remount(folder, option):
        # Without the options that mountinfo shows: a namespace's own uid cannot be given again.
        command = [
            "mount",
            "--options-mode",
            "ignore",
            "-t",
            "tmpfs",
            "-o",
            f"remount,{option}",
            "deltascope-test",
            folder,
        ]
        subprocess.run(command, check=True)

    def test_no_space_at_many_sizes(self):
        self.prepare()
        if not may_mount(self.folder):
            loudly_skip(
                "neither root nor an unprivileged user namespace may mount a tmpfs here; a full disk cannot be made"
            )
        needed = sum(
            os.path.getsize(os.path.join(self.run_made.source, "anchors", f))
            for f in os.listdir(os.path.join(self.run_made.source, "anchors"))
        )
        sizes = [4096 * round(needed * i / 40 / 4096 + 1) for i in range(40)] + [
            needed - 4096,
            needed,
            needed + 4096,
            needed + 8192,
        ]
        failed = 0
        for size in sizes:
            with self.subTest(size=size):
                self.mount(self.folder, size)
                try:
                    outcome = self.run_ds(*self.command)
                    if outcome.code == OK:
                        self.assertGreaterEqual(size, needed)
                    else:
                        failed += 1
                        self.refused(outcome, NO_SPACE, "DS-NOSPACE")
                        self.assertFalse(self.check())
                        self.remount(self.folder, f"size={needed * 3 + MIB}")
                    self.finish_and_clear()
                finally:
                    subprocess.run(["umount", self.folder], check=True)
        self.assertGreater(failed, 35)

    def test_no_files_left(self):
        self.prepare()
        if not may_mount(self.folder):
            loudly_skip(
                "neither root nor an unprivileged user namespace may mount a tmpfs here; a full disk cannot be made"
            )
        for inodes in range(2, 6):
            with self.subTest(inodes=inodes):
                self.mount(self.folder, "64m", f"nr_inodes={inodes}")
                try:
                    outcome = self.run_ds(*self.command)
                    if outcome.code != OK:
                        self.refused(outcome, NO_SPACE, "DS-NOSPACE")
                        self.assertFalse(self.check())
                        self.remount(self.folder, "nr_inodes=1000")
                    self.finish_and_clear()
                finally:
                    subprocess.run(["umount", self.folder], check=True)

    def test_the_disk_of_the_catalog_is_full(self):
        """The catalog is a cache: without room for it the answers are the same."""
        self.prepare()
        if not may_mount(self.folder):
            loudly_skip(
                "neither root nor an unprivileged user namespace may mount a tmpfs here; a full disk cannot be made"
            )
        self.home = self.path("small-home")
        os.mkdir(self.home)
        self.mount(self.home, "8k")
        try:
            with open(os.path.join(self.home, "filler"), "wb", buffering=0) as f:
                try:
                    while f.write(b"x" * 4096):
                        pass
                except OSError:
                    pass
            self.assert_digest(self.ok_json("digest", self.run_made.at(self.step)), self.run_made.truth(self.step))
            self.ok("log", self.run_made.source)
            self.ok(*self.command)
            self.assertTrue(self.check())
        finally:
            subprocess.run(["umount", self.home], check=True)


class FileSizeLimit(WriteFailures):
    def test_limits_below_the_size_of_the_result(self):
        self.prepare()
        whole = max(
            os.path.getsize(os.path.join(self.run_made.source, "anchors", f))
            for f in os.listdir(os.path.join(self.run_made.source, "anchors"))
        )
        for i in range(1, 11):
            limit = whole * i // 11
            with self.subTest(limit=limit):
                outcome = self.run_ds(
                    *self.command, preexec_fn=lambda n=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (n, n))
                )
                self.assertNotEqual(outcome.code, -signal.SIGXFSZ, "killed by SIGXFSZ")
                self.refused(outcome, NO_SPACE, "DS-NOSPACE")
                self.assertFalse(self.check())
                self.finish_and_clear()


class DoctorWithoutRoom(E2ETest):
    """Where catalog and records cannot grow, no line says that all is well."""

    def examine(self, home, source, limit=resource.RLIM_INFINITY):
        outcome = self.ok_json(
            "doctor", source, env=self.environment(DELTASCOPE_HOME=home),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        return {check["name"]: check for check in outcome["checks"]}

    def test_what_is_full_is_called_so(self):
        run = self.make_run()
        for used in (False, True):
            for limit in (1 << 10, 4 << 10, 16 << 10, 40 << 10):
                with self.subTest(used=used, limit=limit):
                    home = self.path(f"home-{used}-{limit}")
                    if used:
                        self.ok("log", self.make_run(f"another-{limit}").source, env=self.environment(DELTASCOPE_HOME=home))
                    checks = self.examine(home, run.source, limit)
                    for name in ("catalog", "records"):
                        self.assertFalse(checks[name]["ok"], checks[name])
                        self.assertRegex(checks[name]["detail"], r"^DS-NOSPACE: .*(too large|full)")
                    has_problems = not checks["layout"]["detail"].endswith(", 0 problems")
                    self.assertEqual(checks["health"]["ok"], not has_problems, checks["layout"])
                    if has_problems:
                        self.assertRegex(checks["health"]["detail"], "^DS-(NOSPACE|IO): ")
                    if used:
                        self.assertEqual(has_problems, limit < 40 << 10)

    def test_with_room_all_is_well(self):
        run = self.make_run()
        for again in (False, True):
            checks = self.examine(self.path("home"), run.source)
            for name in ("catalog", "records", "layout", "health"):
                self.assertTrue(checks[name]["ok"], (again, checks[name]))
            self.assertTrue(checks["layout"]["detail"].endswith(", 0 problems"), checks["layout"])
        left = [name for _, _, files in os.walk(self.path("home")) for name in files if name.startswith("doctor-")]
        self.assertEqual(left, [])


class FailingCalls(WriteFailures):
    """The n-th call of a kind fails, once or from then on."""

    def sweep(self, errors, calls, most):
        need_strace()
        self.prepare(tensors=3, elements=200_000, steps=4)
        trace = self.path("trace")
        self.ok(*self.command, wrapper=["strace", "-f", "-o", trace, "-e", "trace=" + ",".join(calls)])
        self.finish_and_clear()
        with open(trace, encoding="utf-8", errors="replace") as f:
            lines = f.readlines()
        failures = 0
        for call in calls:
            for n in spread(count_calls(lines, call), most):
                for error in errors:
                    for lasting in ("", "+"):
                        with self.subTest(call=call, n=n, error=error, lasting=bool(lasting)):
                            outcome = self.run_ds(
                                *self.command,
                                wrapper=[
                                    "strace",
                                    "-f",
                                    "-o",
                                    os.devnull,
                                    "-e",
                                    f"trace={call}",
                                    "-e",
                                    f"inject={call}:error={error}:when={n}{lasting}",
                                ],
                            )
                            if outcome.code == 127 and "shared libraries" in outcome.err:
                                continue  # the loader failed before the program began
                            failures += outcome.code != OK
                            done = self.check()
                            if outcome.code == OK:
                                self.assertTrue(done, f"exit 0 without a result: {outcome}")
                            else:
                                self.assertTrue(0 < outcome.code < 124, f"crashed: {outcome}")
                                if call != "write":  # stderr itself may be what fails there
                                    self.refused(outcome)
                            self.finish_and_clear()
        print(f"\n{failures} runs failed as they should", flush=True)
        self.assertGreater(failures, 5)

    def test_input_output_errors(self):
        self.sweep(
            ["EIO"],
            ["pwrite64", "write", "fsync", "fdatasync", "rename", "renameat2", "mkdir", "mkdirat", "fallocate"],
            6,
        )

    def test_read_errors(self):
        self.sweep(["EIO"], ["pread64", "read"], 10)

    def test_no_space_in_single_calls(self):
        self.sweep(["ENOSPC"], ["pwrite64", "fallocate", "mkdir", "mkdirat", "fsync"], 6)


if __name__ == "__main__":
    enter_namespace()
    main()
