#!/usr/bin/env python3
"""Damaged objects: wrong bytes never leave with exit 0 where the publisher recorded digests, and nothing crashes or
hangs where none were recorded."""

import os
import random

from support import OK, E2ETest, main, spread
from sweep import Sweep

SWEEP = Sweep("e2e.damage", 10)
FLIPS = 40  # of single bits in a slice, of each layout


def objects(folder):
    return sorted(os.path.join(p, f) for p, _, files in os.walk(folder) for f in files)


class Damage(E2ETest):
    def ask(self, run):
        """Digest of the last step, with nothing remembered. Returns whether it is right; False is a clean refusal."""
        outcome = self.run_ds("digest", run.at(run.last), *run.base_args, "--json", timeout=20)
        if outcome.code != OK:
            self.refused(outcome)
            return False
        truth, got = run.truth(run.last), {t["name"]: t for t in outcome.json()["tensors"]}
        return set(got) == set(truth) and all(got[n]["xxh3_128"] == t["xxh3_128"] for n, t in truth.items())

    def flip(self, run, rng, protected):
        files = objects(run.source)
        found = 0
        for i in range(FLIPS):
            path = rng.choice(files)
            with open(path, "rb") as f:
                content = f.read()
            header = 8 + int.from_bytes(content[:8], "little") if path.endswith(".safetensors") else len(content)
            # Half of them into headers and indices, where the structure is.
            at = rng.randrange(header if rng.random() < 0.5 else len(content))
            bit = rng.randrange(8)
            with self.subTest(file=os.path.relpath(path, run.source), at=at, bit=bit):
                changed = bytearray(content)
                changed[at] ^= 1 << bit
                times = os.stat(path)
                with open(path, "wb") as f:
                    f.write(changed)
                os.utime(path, ns=(times.st_mtime_ns, times.st_mtime_ns))
                try:
                    right = self.ask(run)
                    found += not right
                    if not right and protected:
                        outcome = self.run_ds("digest", run.at(run.last), *run.base_args)
                        self.assertNotEqual(outcome.code, OK, "wrong bytes with exit 0 although digests are recorded")
                finally:
                    with open(path, "wb") as f:
                        f.write(content)
                    os.utime(path, ns=(times.st_mtime_ns, times.st_mtime_ns))
        self.assertTrue(self.ask(run), "the undamaged run")
        print(f"{found} of {FLIPS} flips had an effect", flush=True)
        self.assertGreater(found, FLIPS // 3)

    @SWEEP
    def test_flips_in_a_run_with_digests(self, number):
        for encoding in ("xor", "overwrite"):
            # Every tensor changes in every step, so a digest covers every byte of the state.
            run = self.make_run(
                encoding, layout="slime-v2", encoding=encoding, tensors=3, elements=4000, steps=4, density=0.02
            )
            self.flip(run, random.Random(f"{encoding} {number}"), protected=True)

    def test_a_delta_whose_index_lost_the_key_that_makes_it_one(self):
        """Without delta_encoding the folder looks like a full version, and its compressed patches like tensors."""
        run = self.make_run(layout="slime-v2", tensors=3, elements=4000, steps=4, density=0.02)
        index = os.path.join(run.source, "weight_v000004", "model.safetensors.index.json")
        with open(index, encoding="utf-8") as f:
            text = f.read()
        with open(index, "w", encoding="utf-8") as f:
            f.write(text.replace("delta_encoding", "delta_eNcoding"))
        self.refused(self.run_ds("digest", run.at(4), *run.base_args))
        self.refused(self.run_ds("materialize", run.at(4), "-o", self.path("out"), *run.base_args))
        self.assertFalse(os.path.exists(self.path("out")))
        self.ok("log", run.source, *run.base_args)  # one bad version does not hide the others
        self.assert_digest(self.ok_json("digest", run.at(3), *run.base_args), run.truth(3))

    @SWEEP
    def test_flips_in_a_run_without_digests(self, number):
        run = self.make_run(tensors=3, elements=4000, steps=5, anchor_every=3, density=0.02)
        self.flip(run, random.Random(number), protected=False)

    @SWEEP
    def test_flips_in_the_base(self, number):
        run = self.make_run(layout="slime-v2", tensors=3, elements=4000, steps=2, density=0.02)
        run_like = type(run)(run.source, run.base, run.expected_path)
        path = os.path.join(run.base, "model.safetensors")
        with open(path, "rb") as f:
            content = f.read()
        rng = random.Random(number)
        for _ in range(FLIPS // 4):
            at = rng.randrange(len(content))
            with self.subTest(at=at):
                changed = bytearray(content)
                changed[at] ^= 1 << rng.randrange(8)
                with open(path, "wb") as f:
                    f.write(changed)
                outcome = self.run_ds("digest", run.at(2), *run.base_args)
                if outcome.code == OK:
                    self.assertTrue(self.ask(run_like), "wrong bytes with exit 0 although digests are recorded")
                else:
                    self.refused(outcome)

    def test_cuts(self):
        for options in ({"layout": "trl-v2"}, {"layout": "slime-v2"}, {"layout": "hf"}):
            run = self.make_run(options["layout"], tensors=3, elements=4000, steps=3, density=0.02, **options)
            for path in objects(run.source):
                if "config" in os.path.basename(path):
                    continue
                with open(path, "rb") as f:
                    content = f.read()
                times = os.stat(path)
                for size in [0, *spread(len(content) - 1, 8)]:
                    with self.subTest(file=os.path.relpath(path, run.source), size=size):
                        with open(path, "wb") as f:
                            f.write(content[:size])
                        os.utime(path, ns=(times.st_mtime_ns, times.st_mtime_ns))
                        alone = options["layout"] == "hf" and f"checkpoint-{run.last}{os.sep}" not in path
                        self.assertEqual(self.ask(run), alone, "a cut object that the step needs")
                with open(path, "wb") as f:
                    f.write(content + b"x")
                os.utime(path, ns=(times.st_mtime_ns, times.st_mtime_ns))
                if path.endswith(".safetensors") and not alone:
                    self.assertFalse(self.ask(run), "a byte too many")
                with open(path, "wb") as f:
                    f.write(content)
                os.utime(path, ns=(times.st_mtime_ns, times.st_mtime_ns))
            self.assertTrue(self.ask(run))

    def test_swapped_and_repeated_deltas(self):
        """Files that are sound by themselves at the wrong place."""
        run = self.make_run(layout="slime-v2", tensors=2, elements=4000, steps=4, density=0.02)
        one, two = (os.path.join(run.source, f"weight_v{n:06}", "model-00000-of-00001.safetensors") for n in (2, 3))
        os.rename(one, one + ".aside")
        os.rename(two, one)
        os.rename(one + ".aside", two)
        outcome = self.run_ds("materialize", run.at(4), "-o", self.path("out"), *run.base_args)
        self.refused(outcome)
        self.assertFalse(os.path.exists(self.path("out")))


class Caches(E2ETest):
    """What the program keeps for itself may rot; the answers stay right."""

    @SWEEP
    def test_a_damaged_catalog(self, number):
        run = self.make_run(steps=6)
        first = self.ok_json("log", run.source)
        rng = random.Random(number)
        files = [f for f in objects(self.home) if os.path.getsize(f)]
        self.assertTrue(files, "nothing is kept at all")
        for i in range(12):
            for path in files:
                if not os.path.exists(path) or "journal" in path:
                    continue
                content = bytearray(open(path, "rb").read())
                for _ in range(1 + len(content) // 512):
                    content[rng.randrange(len(content))] = rng.randrange(256)
                with open(path, "wb") as f:
                    f.write(content[: rng.randrange(len(content))] if i % 3 == 2 else content)
            with self.subTest(i=i):
                self.assertEqual(self.ok_json("log", run.source)["epochs"], first["epochs"])
                self.assert_digest(self.ok_json("digest", run.at(6)), run.truth(6))

    def test_a_home_that_cannot_be_written(self):
        run = self.make_run()
        with open(self.path("file"), "w", encoding="utf-8") as f:
            f.write("not a folder")
        env = self.environment(DELTASCOPE_HOME=self.path("file", "home"))
        outcome = self.run_ds("digest", run.at(6), "--json", env=env)
        if outcome.code == OK:
            self.assert_digest(outcome.json(), run.truth(6))
        else:
            self.refused(outcome)


if __name__ == "__main__":
    main()
