#!/usr/bin/env python3
"""`publish --watch`: what a trainer drops is published, complete, in order, once, and every step is bit for bit a checkpoint."""

import json
import os
import shutil
import signal
import time

from publication import Trainer
from support import GOLDEN, NOT_FOUND, OK, main, wait_until

LAYOUTS = ("trl-v2", "slime-v2")
PATIENCE = 30.0


class PublishWatch(Trainer):
    def begin(self, *options, quiet=0):
        self.errors = open(self.at("stderr"), "w+b")  # noqa: SIM115
        self.addCleanup(self.errors.close)
        self.process = self.start(*self.watch_args(*options, quiet=quiet), stderr=self.errors)

    def said(self):
        with open(self.at("stderr"), encoding="utf-8") as f:
            return f.read()

    def wait_for(self, origin):
        def there():
            if self.process.poll() is not None:
                self.fail(f"ended with {self.process.returncode}: {self.said()}")
            return origin in (facts.get("ds.origin") for facts in self.facts().values())

        wait_until(there, PATIENCE, f"{origin} to be published")

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        self.assertEqual(self.process.wait(PATIENCE), OK, self.said())
        self.assertNotRegex(self.said(), "terminate|DS-")

    def once(self, *options):
        return self.ok(*self.watch_args("--once", *options))


class Backlog(PublishWatch):
    def test_in_order_and_only_once(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                self.train(layout, count=12)
                numbers = range(self.first, 13)
                self.drop(*reversed(numbers))
                self.once()
                self.assert_published(self.names(*numbers))
                self.once()
                self.assertEqual(len(self.origins()), len(numbers), "published twice")

    def test_a_restart_goes_on_behind_the_last_one(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                self.train(layout)
                self.drop(*range(self.first, 4))
                self.once()
                shutil.rmtree(os.path.join(self.checkpoints, self.name(3)))
                self.drop(4, 5)
                self.once()
                self.drop(6)
                self.once()
                self.assert_published(self.names(*range(self.first, 7)))

    def test_an_empty_folder_is_waited_for_or_left(self):
        self.train()
        self.assertIn(f"{self.checkpoints} holds no checkpoint\n", self.once().err)
        self.assertEqual(self.facts(), {})
        self.begin()
        wait_until(lambda: "holds no checkpoint yet; waiting for the first one" in self.said(), PATIENCE, "a word")
        self.drop(1)
        self.wait_for("checkpoint-1")
        self.end()
        self.assert_published(self.names(1))

    def test_a_missing_folder_leaves_no_run_behind(self):
        self.train()
        os.rmdir(self.checkpoints)
        self.refused(self.run_ds(*self.watch_args("--once")), NOT_FOUND)
        self.assertFalse(os.path.exists(self.into))

    def test_cadence_and_encodings(self):
        for layout, options, anchors in (
            ("trl-v2", ["--encoding", "raw", "--anchor-every", 2], [1, 3, 5]),
            ("trl-v2", ["--anchor-every", 0], [1]),
            ("slime-v2", ["--encoding", "overwrite", "--checksum", "blake3"], []),
        ):
            with self.subTest(layout=layout, options=options):
                self.train(layout)
                self.drop(*range(self.first, 7))
                self.once(*options)
                self.assert_published(self.names(*range(self.first, 7)))
                _, steps = self.log()
                self.assertEqual([step for (_, step), s in sorted(steps.items()) if s["kind"] == "anchor"], anchors)

    def test_a_new_epoch(self):
        self.train(count=7)
        self.drop(1, 2, 3)
        self.once()
        for n in (1, 2, 3):
            shutil.rmtree(os.path.join(self.checkpoints, self.name(n)))
        self.drop(5, 6)
        self.once("--new-epoch")
        self.drop(7)
        self.once()
        self.assert_published(self.names(1, 2, 3, 5, 6, 7))
        document, steps = self.log()
        self.assertEqual(sorted(steps), [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (1, 6)])
        self.assertEqual(steps[(1, 4)]["kind"], "anchor")
        self.assertEqual(document["problems"], [])


class NotUnderstood(PublishWatch):
    def adapters(self, *numbers):
        """Pickled ones; those in safetensors are checkpoints like others."""
        golden = os.path.join(GOLDEN, "trl-adapter", "bucket", "out", ".vllm_lora", "trl-policy-v7")
        for n in numbers:
            folder = os.path.join(self.checkpoints, self.name(n))
            shutil.copytree(golden, folder)
            os.rename(os.path.join(folder, "adapter_model.safetensors"), os.path.join(folder, "adapter_model.bin"))
            with open(os.path.join(folder, "optimizer.pt"), "wb") as f:
                f.write(b"state")

    def assert_named(self, outcome, *numbers):
        self.refused(outcome, NOT_FOUND, "DS-LAYOUT")
        self.assertIn(f"{', '.join(self.names(*numbers))} ", outcome.err)
        self.assertRegex(outcome.err, r"PEFT adapter \(adapter_model\.bin\)")
        self.assertRegex(outcome.err, "→ merge the adapter into its base model")

    def test_adapters_are_named_and_fail(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                self.train(layout)
                self.adapters(10, 20)
                self.assert_named(self.run_ds(*self.watch_args("--once")), 10, 20)
                document = self.run_ds(*self.watch_args("--once"), "--json")
                self.assertEqual(document.code, NOT_FOUND, str(document))
                self.assertEqual(document.json()["error"]["code"], "DS-LAYOUT")
                self.assertEqual(self.facts(), {})

    def test_checkpoints_beside_them_are_published(self):
        self.train()
        self.drop(1, 3)
        self.adapters(2)
        self.assert_named(self.run_ds(*self.watch_args("--once")), 2)
        self.assert_published(self.names(1, 3))

    def test_json_leaves_the_words_on_stderr(self):
        self.train()
        self.drop(1, 3)
        self.adapters(2)
        outcome = self.run_ds(*self.watch_args("--once"), "--json")
        self.assertEqual(outcome.code, NOT_FOUND, str(outcome))
        lines = [json.loads(line) for line in outcome.out.splitlines()]
        self.assertEqual([line["step"] for line in lines[:-1]], [1, 2], str(outcome))
        self.assertEqual(lines[-1]["error"]["code"], "DS-LAYOUT")
        self.assertIn("checkpoint-2: not published, it holds a PEFT adapter", outcome.err)

    def test_an_endless_watch_says_them_and_goes_on(self):
        self.train()
        self.adapters(1)
        self.begin()
        wait_until(lambda: "checkpoint-1: not published, it holds a PEFT adapter" in self.said(), PATIENCE, "a word")
        self.drop(2)
        self.wait_for("checkpoint-2")
        self.end()
        self.assertEqual(self.said().count("PEFT adapter"), 1)
        self.assert_published(self.names(2))


class Complete(PublishWatch):
    def test_a_marker_ends_a_checkpoint(self):
        self.train()
        self.drop(1)
        open(os.path.join(self.checkpoints, "checkpoint-1", "done"), "w", encoding="utf-8").close()
        # It looks whole and old, but its weights are not the last word.
        shutil.copytree(os.path.join(self.made, self.name(5)), os.path.join(self.checkpoints, self.name(2)))
        self.begin("--marker", "done")
        self.wait_for("checkpoint-1")
        time.sleep(0.6)  # several looks at the second one
        self.assertEqual(self.origins(), self.names(1))
        for name in os.listdir(os.path.join(self.made, self.name(2))):
            shutil.copy2(os.path.join(self.made, self.name(2), name), os.path.join(self.checkpoints, self.name(2), name))
        open(os.path.join(self.checkpoints, "checkpoint-2", "done"), "w", encoding="utf-8").close()
        self.wait_for("checkpoint-2")
        self.end()
        self.assert_published(self.names(1, 2))

    def test_a_checkpoint_that_grows_is_left_alone_until_it_is_quiet(self):
        quiet = 1.5
        self.train(shards=3)
        made, growing = (os.path.join(folder, self.name(1)) for folder in (self.made, self.checkpoints))
        self.begin(quiet=quiet)
        os.mkdir(growing)
        index = "model.safetensors.index.json"
        names = [index, *sorted(n for n in os.listdir(made) if n.endswith(".safetensors")), "config.json", "trainer_state.json"]
        for name in names:
            time.sleep(0.4)  # the pace of a slow trainer
            if os.path.exists(os.path.join(made, name)):
                shutil.copyfile(os.path.join(made, name), os.path.join(growing, name))
            else:
                with open(os.path.join(growing, name), "w", encoding="utf-8") as f:
                    f.write("{}")
        self.wait_for("checkpoint-1")
        self.end()
        self.assert_published(self.names(1))
        last = max(os.stat(os.path.join(growing, name)).st_mtime for name in os.listdir(growing))
        done = os.stat(os.path.join(self.into, "anchors", "step_000001.safetensors")).st_mtime
        self.assertGreater(done - last, quiet - 0.1)

    def test_a_checkpoint_without_all_its_files_is_never_taken(self):
        self.train(shards=3)
        self.drop(1)
        torn = os.path.join(self.checkpoints, self.name(2))
        shutil.copytree(os.path.join(self.made, self.name(2)), torn)
        missing = next(n for n in sorted(os.listdir(torn)) if n.endswith(".safetensors"))
        os.unlink(os.path.join(torn, missing))
        self.begin()
        self.wait_for("checkpoint-1")
        time.sleep(0.6)  # several looks at the torn one
        self.assertEqual(self.origins(), self.names(1))
        shutil.copy2(os.path.join(self.made, self.name(2), missing), torn)
        self.wait_for("checkpoint-2")
        self.end()
        self.assert_published(self.names(1, 2))


class Pace(PublishWatch):
    def test_only_the_newest_of_those_that_came_meanwhile(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                self.train(layout, count=7)
                self.drop(self.first)
                self.begin()
                self.wait_for(self.name(self.first))
                self.process.send_signal(signal.SIGSTOP)
                self.drop(*range(3, 8))
                self.process.send_signal(signal.SIGCONT)
                self.wait_for("checkpoint-7")
                self.end()
                published = self.origins()
                self.assert_published(published)
                skipped = [n for n in self.names(*range(3, 8)) if n not in published]
                self.assertGreater(len(skipped), 0, "all were published")
                for name in skipped:
                    self.assertRegex(self.said(), rf"{name}\b.*passed over")

    def test_a_trainer_that_keeps_only_the_newest(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                self.train(layout)
                self.begin()
                for n in range(self.first, 7):
                    self.drop(n)
                    if n > self.first:  # at once, perhaps while it is published from
                        shutil.rmtree(os.path.join(self.checkpoints, self.name(n - 1)))
                    self.wait_for(self.name(n))
                self.end()
                self.assert_published(self.names(*range(self.first, 7)))

    def test_a_stop_is_clean_and_the_next_start_goes_on(self):
        for layout in LAYOUTS:
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(layout=layout, signal=number):
                    self.train(layout, count=8, elements=200_000)
                    self.drop(*range(self.first, 9))
                    self.begin()
                    self.wait_for(self.name(self.first))
                    self.end(number)
                    done = len(self.origins())
                    self.assertEqual(self.origins(), self.names(*range(self.first, self.first + done)))
                    self.assert_sound()
                    self.once()
                    self.assert_published(self.names(*range(self.first, 9)))


if __name__ == "__main__":
    main()
