#!/usr/bin/env python3
"""Turns single bits over and counts what finds it.

usage: flip_bits.py [--flips N] [--seed S] [--layout WORD ...] [--base] [--out TABLE.md]

For each layout a small bucket is made. Then, N times: one random bit of one random object is turned over, its time
stays, and with nothing remembered the lowest level of `deltascope verify` that reports anything new is searched, and
`digest` of the steps from there on is compared with the truth. What nothing reported is asked about once more by a
`verify` that saw the sound bucket before. Ends with 1 if a layout with digests gave out wrong bytes, but for what the
digests of that layout cannot tell (WEAK), or if a flip in its payload was found without being named.

Without --seed it is a sweep (tests/support/sweep.py): each slice makes its own buckets and turns over 10 bits in each.

With --base the bits are those of the external checkpoint; then nothing is asserted.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import shutil
import sys
import tempfile

from bucket import Bucket, memory

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from sweep import Sweep  # noqa: E402

SWEEP = Sweep("damage.flips", 50)
STEPS, ANCHOR_EVERY = 7, 4
PAYLOAD = ("values", "positions", "payload")
WITH_DIGESTS = (
    "trl-v1.0",
    "slime-v2-xor",
    "slime-v2-overwrite",
    "slime-v2-adler32",
    "skyrl",
    "skyrl-sha256",
    "modelexpress",
    "grail-v2",
    "grail-v3.1",
)
# What their digests cannot tell, as the slow reader confirms: many states have one Adler-32, and the checksum of
# trl-v1.0 has no names, so it holds for a tensor with another one.
WEAK = {"slime-v2-adler32": PAYLOAD, "modelexpress": PAYLOAD, "trl-v1.0": ("header",)}
WITHOUT = (
    "trl-v1.1",
    "trl-v1.2",
    "trl-v2",
    "slime-v1-indices",
    "slime-v1-deltas",
    "slime-v1-deltas-zstd",
    "prime-rl-update",
    "prime-rl-manifest",
)
REGIONS = (*PAYLOAD, "header", "digest", "json", "other")
TEXTS = (".json", ".sig")


class Flip:
    """What was turned over, and what came of it."""

    def __init__(self, key, step, at, bit, region):
        self.key, self.step, self.at, self.bit, self.region = key, step, at, bit, region
        self.level = None  # the lowest that reports it
        self.named = False  # with its step or its object
        self.states = {}  # step: right, wrong or the word of a refusal
        self.remembered = None  # of what nothing reports: whether who saw the sound bucket does
        self.collides = False  # the slow reader takes the wrong state too, digests and all

    @property
    def wrong(self):
        return "wrong" in self.states.values()

    @property
    def harmless(self):
        return self.level is None and not self.wrong

    def __str__(self):
        level = "not found" if self.level is None else f"level {self.level}{'' if self.named else ', not named'}"
        states = " ".join(f"{step}:{state}" for step, state in self.states.items())
        return f"{self.key} byte {self.at} bit {self.bit} ({self.region}): {level}; {states}"


def region_of(key: str, data: bytes, at: int) -> str:
    if key.endswith(".zst") or data[:4] == b"\x28\xb5\x2f\xfd":
        return "payload"
    if key.endswith(TEXTS):
        return "digest" if in_digest(data, at) else "json"
    if not key.endswith(".safetensors"):
        return "other"
    size = 8 + int.from_bytes(data[:8], "little")
    if at < size:
        return "digest" if in_digest(data[:size], at) else "header"
    for name, begin, end in re.findall(rb'"([^"]+)":\{"dtype":[^}]*"data_offsets":\[(\d+),(\d+)\]', data[:size]):
        if size + int(begin) <= at < size + int(end):
            if name.endswith((b".idx", b".indices", b"__positions__")):
                return "positions"
            return "payload" if b'"dtype":"U8"' in data[:size] and b"__" not in name else "values"
    return "other"


def in_digest(text: bytes, at: int) -> bool:
    """Hexadecimal digits, or the decimal ones of a folded checksum."""
    return any(m.start() <= at < m.end() for m in re.finditer(rb"\b[0-9a-f]{8,}\b|\b\d{12,}\b", text))


class Flipper:
    def __init__(self, bucket: Bucket):
        self.bucket = bucket
        self.home = bucket.folder / "home"
        bucket.ask("verify", bucket.source, "--level", 2, home=self.home)
        self.sound = {level: self.reports(level)[0] for level in range(5)}

    def reports(self, level):
        answer = self.bucket.ask("verify", self.bucket.source, "--level", level)
        problems = {(p["code"], p["step"], p["where"], p["text"]) for p in answer.problems()}
        return problems | {("exit", answer.code, "", "")}, answer

    def look(self, flip, level):
        """Whether this level reports something that the sound bucket has not."""
        new = self.reports(level)[0] - self.sound[level]
        if not new:
            return False
        flip.level = level
        key = flip.key.removeprefix("../")
        folder = key.rpartition("/")[0]
        flip.named = any(
            code != "exit" and (step == flip.step or key in where or (folder and where.endswith(folder)))
            for code, step, where, _ in new
        )
        return True

    def lowest_level(self, flip):
        if not self.look(flip, 3):
            self.look(flip, 4)
        elif self.look(flip, 1):
            self.look(flip, 0)
        else:
            self.look(flip, 2)

    def turn_over(self, key, at, bit):
        bucket = self.bucket
        with bucket.kept([key]) as sound:
            data = bytearray(sound[key])
            flip = Flip(key, bucket.owner[key], at, bit, region_of(key, bytes(data), at))
            data[at] ^= 1 << bit
            bucket.write(key, bytes(data))
            self.lowest_level(flip)
            later = [step for step in bucket.steps if step >= flip.step]
            if flip.level is not None:  # some of them
                later = sorted({later[0], later[1 % len(later)], later[-1]})
            with memory() as home:
                flip.states = {step: bucket.digest(step, home) for step in later}
            if flip.wrong:
                flip.collides = all(
                    bucket.slow_reader_takes(step) for step, state in flip.states.items() if state == "wrong"
                )
                flip.remembered = flip.level is None and self.remembers()
        return flip

    def remembers(self):
        with memory() as home:
            shutil.copytree(self.home, home, dirs_exist_ok=True)
            return self.bucket.ask("verify", self.bucket.source, "--level", 2, home=home).code == 6


def series(word: str, count: int, seed: int, folder: pathlib.Path, in_base=False):
    bucket = Bucket(word, folder, seed, STEPS, ANCHOR_EVERY)
    flipper = Flipper(bucket)
    chance = random.Random(f"{word} {seed}")
    keys = bucket.objects_of_base() if in_base else sorted(key for key in bucket.owner if bucket.read(key))
    for _ in range(count):
        key = chance.choice(keys)
        yield flipper.turn_over(key, chance.randrange(len(bucket.read(key))), chance.randrange(8))


def offends(word: str, flip: Flip) -> bool:
    """With digests nothing wrong may leave, and what is damaged must be named."""
    if word not in WITH_DIGESTS or flip.key.startswith(".."):
        return False
    if flip.wrong and flip.collides and flip.region in WEAK.get(word, ()):
        return False
    return flip.wrong or (flip.region in PAYLOAD and flip.level is not None and not flip.named)


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def row(word: str, flips: list[Flip]) -> str:
    levels = collections.Counter(flip.level for flip in flips)
    found = len(flips) - levels[None]
    unnamed = sum(flip.level is not None and not flip.named for flip in flips)
    harmless = sum(flip.harmless for flip in flips)
    cells = [word, len(flips), *(levels[level] for level in range(5)), unnamed, harmless]
    cells += [sum(flip.wrong and flip.level is None for flip in flips), sum(bool(flip.remembered) for flip in flips)]
    cells += [sum(flip.wrong and flip.level is not None for flip in flips), share(found, len(flips) - harmless)]
    return "| " + " | ".join(map(str, cells)) + " |"


def region_row(word: str, flips: list[Flip], regions: list[str]) -> str:
    cells = [word]
    for region in regions:
        here = [flip for flip in flips if flip.region == region]
        found = sum(flip.level is not None for flip in here)
        wrong = sum(flip.wrong for flip in here)
        cells.append(f"{found} / {sum(flip.harmless for flip in here)} / {wrong}" if here else "")
    return "| " + " | ".join(cells) + " |"


HEAD = """| layout | flips | level 0 | 1 | 2 | 3 | 4 | not named | harmless | wrong, unseen | of these remembered | wrong, reported | found |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
"""


def table(results: dict[str, list[Flip]]) -> str:
    text = HEAD + "\n".join(row(word, flips) for word, flips in results.items())
    hit = {flip.region for flips in results.values() for flip in flips}
    regions = [region for region in REGIONS if region in hit]
    text += "\n\nBy what was hit: found / harmless / wrong state.\n\n"
    text += "| layout | " + " | ".join(regions) + " |\n|---|" + "--:|" * len(regions) + "\n"
    return text + "\n".join(region_row(word, flips, regions) for word, flips in results.items()) + "\n"


def told_series(word: str, seed: int, repeat: str, arguments: argparse.Namespace) -> list[Flip]:
    """A series, of which all that offends is printed with what repeats it."""
    flips = []
    with tempfile.TemporaryDirectory(prefix="ds-flips-") as folder:
        for flip in series(word, arguments.flips, seed, pathlib.Path(folder) / word, arguments.base):
            flips.append(flip)
            if arguments.records:
                with open(arguments.records, "a", encoding="utf-8") as file:
                    print(json.dumps({"layout": word, "seed": seed} | vars(flip)), file=file)
            if offends(word, flip):
                print(f"{word}: {flip}\nto repeat it: {repeat}", flush=True)
            elif arguments.list and (flip.wrong or (flip.level is not None and not flip.named)):
                print(f"{word}: {flip}", flush=True)
    return flips


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=10, help="in each layout; in a sweep, in each slice (10)")
    parser.add_argument("--seed", type=int, help="of one series; without it the slices of DELTASCOPE_SLICE are run")
    parser.add_argument("--layout", nargs="+", choices=WITH_DIGESTS + WITHOUT, default=WITH_DIGESTS + WITHOUT)
    parser.add_argument("--out", type=pathlib.Path, help="where the table goes; else to stdout")
    parser.add_argument("--base", action="store_true", help="in the checkpoint that the chain starts from")
    parser.add_argument("--records", type=pathlib.Path, help="a line of JSON per flip, added to this file")
    parser.add_argument(
        "--list", action="store_true", help="print each flip that gave out wrong bytes or was not named"
    )
    arguments = parser.parse_args()
    results = collections.defaultdict(list)
    for seed in SWEEP.chosen() if arguments.seed is None else [arguments.seed]:
        repeat = SWEEP.begin(seed) if arguments.seed is None else f"--flips {arguments.flips} --seed {seed}"
        for word in arguments.layout:
            results[word] += told_series(word, seed, repeat, arguments)
            print(row(word, results[word]), file=sys.stderr, flush=True)
            if arguments.out:
                arguments.out.write_text(table(results), encoding="utf-8")
    if not arguments.out:
        print(table(results), end="")
    return 1 if any(offends(word, flip) for word, flips in results.items() for flip in flips) else 0


if __name__ == "__main__":
    sys.exit(main())
