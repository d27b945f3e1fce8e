#!/usr/bin/env python3
"""Objects that are still being written: shown as publishing, never used, complete as soon as they are."""

import os
import shutil

from support import OK, E2ETest, age, log_steps, main

HOUR = 3600
SOUND = {"verified", "consistent", "first_sight", "unverified"}


class Publishing(E2ETest):
    """The newest step of a run is taken away and comes back piece by piece."""

    def take_newest(self, **options):
        self.run_made = self.make_run(tensors=3, elements=60_000, steps=5, **options)
        self.last = self.run_made.last
        if options.get("layout") == "slime-v2":
            self.newest = os.path.join(self.run_made.source, f"weight_v{self.last:06}")
            return
        self.newest = os.path.join(self.run_made.source, "deltas", f"step_{self.last:06}.safetensors")
        with open(self.newest, "rb") as f:
            self.content = f.read()
        os.unlink(self.newest)

    def look(self):
        document = self.ok_json("log", self.run_made.source, *self.run_made.base_args)
        latest = document["latest"]
        return log_steps(document), latest["step"] if isinstance(latest, dict) else latest

    def assert_publishing(self):
        steps, latest = self.look()
        self.assertEqual(steps[(0, self.last)]["state"], "publishing")
        self.assertFalse(steps[(0, self.last)]["restorable"])
        self.assertEqual(latest, self.last - 1)
        self.assertEqual(steps[(0, self.last - 1)]["state"], "complete")
        for address in ("latest", self.last - 1):
            self.assert_digest(
                self.ok_json("digest", self.run_made.at(address), *self.run_made.base_args),
                self.run_made.truth(self.last - 1),
            )
        verify = self.run_ds("verify", self.run_made.source, "--level", 3, *self.run_made.base_args, "--json")
        document = verify.json()
        self.assertIn(
            document["result"], SOUND | {"incomplete"}, f"a step that is being published is no damage: {verify}"
        )
        words = {p["code"] for s in document["steps"] for p in s["problems"]}
        self.assertLessEqual(words, {"DS-PUBLISHING"}, str(verify))
        out = self.path("must-not-be")
        outcome = self.run_ds("materialize", self.run_made.at(self.last), "-o", out, *self.run_made.base_args)
        self.refused(outcome, word={"DS-PUBLISHING", "DS-UNFINISHED"})
        self.assertFalse(os.path.exists(out))

    def assert_broken(self, states=("broken",)):
        steps, latest = self.look()
        self.assertIn(steps[(0, self.last)]["state"], states)
        self.assertFalse(steps[(0, self.last)]["restorable"])
        self.assertEqual(latest, self.last - 1)
        # Somebody else looks: verify remembers what it saw, and the file is made whole later in this test.
        os.makedirs(self.path("other-home"), exist_ok=True)
        env = self.environment(DELTASCOPE_HOME=self.path("other-home"))
        verify = self.run_ds("verify", self.run_made.source, "--level", 3, *self.run_made.base_args, env=env)
        self.assertNotEqual(verify.code, OK, "nobody writes it any more, so it is damage")

    def assert_complete(self):
        steps, latest = self.look()
        self.assertEqual(steps[(0, self.last)]["state"], "complete")
        self.assertTrue(steps[(0, self.last)]["restorable"])
        self.assertEqual(latest, self.last)
        self.assert_digest(
            self.ok_json("digest", self.run_made.at("latest"), *self.run_made.base_args), self.run_made.truth(self.last)
        )
        verify = self.ok_json("verify", self.run_made.source, "--level", 3, *self.run_made.base_args)
        self.assertIn(verify["result"], SOUND)
        problems = [p for s in verify["steps"] for p in s["problems"]]
        self.assertEqual(problems, [], "what was seen half-written is held against it")

    def test_a_growing_file(self):
        self.take_newest()
        header = 8 + int.from_bytes(self.content[:8], "little")
        with open(self.newest, "wb", buffering=0) as f:
            for end in (0, 4, 8, header // 2, header, header + 100, len(self.content) - 1):
                f.seek(0, os.SEEK_END)
                f.write(self.content[f.tell() : end])
                with self.subTest(bytes=end):
                    self.assert_publishing()
            age(self.newest, 2 * HOUR)
            self.assert_broken()
            f.write(self.content[f.tell() :])
        self.assert_complete()

    def test_a_preallocated_file(self):
        self.take_newest()
        with open(self.newest, "wb", buffering=0) as f:
            os.posix_fallocate(f.fileno(), 0, len(self.content))
            self.assert_publishing()
            age(self.newest, 2 * HOUR)
            self.assert_broken()
            f.write(self.content)
        self.assert_complete()

    def test_a_file_that_got_its_size_first(self):
        self.take_newest()
        with open(self.newest, "wb", buffering=0) as f:
            f.truncate(len(self.content))
            self.assert_publishing()
            age(self.newest, 2 * HOUR)
            self.assert_broken()
            f.write(self.content)
        self.assert_complete()

    def partly_written(self, reserve):
        """Header and front are there, the size stands, the tail is a hole."""
        self.take_newest(density=0.5)
        half = len(self.content) // 2 // 4096 * 4096
        with open(self.newest, "wb", buffering=0) as f:
            reserve(f)
            f.write(self.content[:half])
            os.fsync(f.fileno())
            if os.lseek(f.fileno(), 0, os.SEEK_HOLE) >= len(self.content):
                self.skipTest("this file system does not tell where a file has holes")
            f.seek(half)
            self.assert_publishing()
            age(self.newest, 2 * HOUR)
            self.assert_broken(("broken", "complete"))  # a hole may be meant, but zeros for values and gaps are not
            f.write(self.content[half:])
            os.fsync(f.fileno())
        self.assert_complete()

    def test_a_sparse_file_with_a_header(self):
        self.partly_written(lambda f: f.truncate(len(self.content)))

    def test_a_preallocated_file_with_a_header(self):
        self.partly_written(lambda f: os.posix_fallocate(f.fileno(), 0, len(self.content)))

    def test_the_first_object_of_a_run(self):
        run = self.make_run(tensors=3, elements=60_000, steps=1)
        anchor = os.path.join(run.source, "anchors", "step_000001.safetensors")
        with open(anchor, "rb") as f:
            content = f.read()
        with open(anchor, "wb", buffering=0) as f:
            f.write(content[: len(content) // 3])
            outcome = self.run_ds("log", run.source, "--json")
            self.assertEqual(outcome.code, OK, str(outcome))
            self.assertEqual(log_steps(outcome.json())[(0, 1)]["state"], "publishing")
            f.write(content[len(content) // 3 :])
        self.assert_digest(self.ok_json("digest", run.at("latest")), run.truth(1))

    def test_a_slime_version_without_its_index(self):
        self.take_newest(layout="slime-v2")
        index = os.path.join(self.newest, "model.safetensors.index.json")
        aside = self.path("index")
        shutil.move(index, aside)
        for name in os.listdir(self.newest):
            os.utime(os.path.join(self.newest, name))
        self.assert_publishing()
        for name in os.listdir(self.newest):
            age(os.path.join(self.newest, name), 2 * HOUR)
        age(self.newest, 2 * HOUR)
        self.assert_broken()
        shutil.move(aside, index)
        self.assert_complete()

    def test_a_slime_version_with_a_growing_file(self):
        self.take_newest(layout="slime-v2")
        name = next(n for n in os.listdir(self.newest) if n.endswith(".safetensors"))
        path = os.path.join(self.newest, name)
        with open(path, "rb") as f:
            content = f.read()
        with open(path, "wb", buffering=0) as f:
            f.write(content[:-100])
            self.assert_publishing()
            f.write(content[-100:])
        self.assert_complete()


if __name__ == "__main__":
    main()
