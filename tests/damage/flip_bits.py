#!/usr/bin/env python3
"""Turns single bits over and counts what is refused.

usage: flip_bits.py [--flips N] [--seed S] [--layout WORD ...] [--base] [--out TABLE.md]

For each layout a small bucket is made. Then, N times: one random bit of one random object is turned over; size and time
stay. Asked is for each step whose rebuild reads the object, and for another one, with `digest`, twice:

* By a program that remembers: a `verify --level 2` saw the sound bucket. Each of the steps is refused, by `materialize`
  too, unless its rebuild does not read the object (UNREAD); then it comes out right.
* At first sight, with nothing remembered. A flip is *refused* if at least one step is, and none comes out wrong;
  *harmless* if all come out right; else it *cannot be seen*, and UNSEEN has to say why.

Ends with 1 if a flip is in none of these classes.

Without --seed it is a sweep (tests/support/sweep.py): slice n makes its own buckets, of seed n / 2, of every other layout
and turns over 10 bits in each.
With --base the bits are those of the external checkpoint.
"""

import argparse
import collections
import pathlib
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator

from bucket import Bucket, memory
from make_case import CASES

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from sweep import Sweep  # noqa: E402

SWEEP = Sweep("damage.flips", 60)
STEPS, ANCHOR_EVERY = 7, 4
WITHOUT = ("modelexpress-plain-keys", "grail-v3", "grail-old-arithmetic", "grail-old-absolute", "prime-rl-update-i64")
WORDS = [word for word in CASES if word not in WITHOUT]  # of these another variant stands for all
PAYLOAD = ("values", "positions", "payload")
REGIONS = (*PAYLOAD, "header", "digest", "manifest", "other")
MANIFESTS = (".json", ".sig", ".metadata")

NO_DIGEST = "the layout has no digest"
ADLER = "another state has the same Adler-32"
BASE = "nothing vouches for the base"
# Why a flip in a part of a layout cannot be seen at first sight.
UNSEEN = {
    "trl-v1.0": {"header": "its digest covers values without their names"},
    "trl-v1.1": dict.fromkeys(REGIONS, NO_DIGEST),
    "trl-v1.2": dict.fromkeys(REGIONS, NO_DIGEST),
    "trl-v2": dict.fromkeys(REGIONS, NO_DIGEST),
    "slime-v2-adler32": dict.fromkeys(PAYLOAD, ADLER),
    "modelexpress": dict.fromkeys(PAYLOAD, ADLER),
    "prime-rl-manifest": dict.fromkeys(REGIONS, NO_DIGEST),
    "trl-adapter": dict.fromkeys(REGIONS, NO_DIGEST),
    "hf": dict.fromkeys(REGIONS, NO_DIGEST),
}
# Objects that lie in the folder of a version, and that its rebuild does not read. Where a version has two forms
# (grail), it reads one of them, and the other one if the first is damaged.
UNREAD = re.compile(r"README\.md|(adapter_)?config\.json|manifest\.sig|DELTA|FULL")


class Flip:
    """What was turned over, and what came of it."""

    def __init__(self, key, step, at, bit, region, may_be_unread):
        self.key, self.step, self.at, self.bit, self.region = key, step, at, bit, region
        self.may_be_unread = may_be_unread
        self.remembering = {}  # step: right, wrong or the word of a refusal
        self.first = {}  # the same at first sight
        self.materialized = ""  # its own step, remembering
        self.same_sums = False  # the slow reader takes each wrong state too, digests and all
        self.verify_tells = False  # at first sight

    @property
    def is_unread(self):
        return set(self.remembering.values()) == {"right"}

    @property
    def word(self):
        """refused, harmless or unseen at first sight"""
        if "wrong" in self.first.values():
            return "unseen"
        return "harmless" if set(self.first.values()) == {"right"} else "refused"

    def __str__(self):
        remembering, first = (
            " ".join(f"{step}:{state}" for step, state in found.items()) for found in (self.remembering, self.first)
        )
        return (
            f"{self.key} byte {self.at} bit {self.bit} ({self.region}): remembering {remembering}, materialize "
            f"{self.materialized}; at first sight {first}"
        )


def region_of(key: str, data: bytes, at: int) -> str:
    if key.endswith(".zst") or data[:4] == b"\x28\xb5\x2f\xfd":
        return "payload"
    if key.endswith(MANIFESTS):
        return "digest" if in_digest(data, at) else "manifest"
    if key.endswith(".distcp"):
        return "payload" if in_stored_tensor(data, at) else "header"
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


def in_stored_tensor(data: bytes, at: int) -> bool:
    """In a record data/0 of one of the archives that a .distcp file holds."""
    for header in re.finditer(rb"PK\x03\x04.{14}(.{4}).{4}(.{2})(.{2})archive/data/0", data, re.DOTALL):
        size, name, extra = (int.from_bytes(part, "little") for part in header.groups())
        begin = header.start(3) + 2 + name + extra
        if begin <= at < begin + size:
            return True
    return False


class Flipper:
    def __init__(self, bucket: Bucket, chance: random.Random):
        self.bucket, self.chance = bucket, chance
        self.home = bucket.folder / "home"
        self.sound = self.problems(bucket.ask("verify", bucket.source, "--level", 2, home=self.home))
        with memory() as home:
            if any(bucket.digest(step, home) != "right" for step in bucket.steps):
                raise AssertionError(f"{bucket.word}: the sound bucket is not rebuilt")

    @staticmethod
    def problems(answer):
        return {(p["code"], p["step"], p["where"], p["text"]) for p in answer.problems()}

    def turn_over(self, key, at, bit):
        bucket = self.bucket
        with bucket.kept([key]) as sound:
            data = bytearray(sound[key])
            step = bucket.owner[key]
            has_two_forms = "full_objects" in bucket.truth[step]
            may_be_unread = has_two_forms or bool(UNREAD.fullmatch(key.rpartition("/")[2]))
            flip = Flip(key, step, at, bit, region_of(key, bytes(data), at), may_be_unread)
            data[at] ^= 1 << bit
            bucket.write(key, bytes(data))
            reading = bucket.steps if key.startswith("..") else bucket.needed_by(flip.step)
            others = [step for step in bucket.steps if step not in reading]
            asked = sorted({*reading, *self.chance.sample(others, min(1, len(others)))})
            with memory() as home:
                shutil.copytree(self.home, home, dirs_exist_ok=True)
                flip.remembering = {step: bucket.digest(step, home) for step in reading}
                flip.materialized = self.materialize(reading[0], home)
            with memory() as home:
                flip.first = {step: bucket.digest(step, home) for step in asked}
            if flip.word == "unseen":
                wrong = [step for step, state in flip.first.items() if state == "wrong"]
                flip.same_sums = all(bucket.slow_reader_takes(step) for step in wrong)
                answer = bucket.ask("verify", bucket.source, "--level", 2)
                flip.verify_tells = bool(self.problems(answer) - self.sound)
        return flip

    def materialize(self, step, home):
        """done, or the word of the refusal"""
        output = pathlib.Path(home) / "output"
        answer = self.bucket.ask("materialize", f"{self.bucket.source}@{step}", "--output", output, home=home)
        shutil.rmtree(output, ignore_errors=True)
        return answer.error["code"] if answer.error else "done"


def series(word: str, count: int, seed: int, folder: pathlib.Path, in_base=False):
    bucket = Bucket(word, folder, seed, STEPS, ANCHOR_EVERY)
    chance = random.Random(f"{word} {seed}")
    keys = bucket.objects_of_base() if in_base else sorted(key for key in bucket.owner if bucket.read(key))
    flipper = Flipper(bucket, chance)
    for _ in range(count):
        key = chance.choice(keys)
        yield flipper.turn_over(key, chance.randrange(len(bucket.read(key))), chance.randrange(8))


def reason(word: str, flip: Flip) -> str | None:
    """Why it cannot be seen at first sight."""
    if flip.key.startswith(".."):
        return BASE
    why = UNSEEN.get(word, {}).get(flip.region)
    return None if why == ADLER and not flip.same_sums else why


def offends(word: str, flip: Flip) -> bool:
    """Whether it is in no class."""
    states = set(flip.remembering.values())
    refused = flip.remembering[min(flip.remembering)] != "right"
    if "wrong" in states or (refused and flip.materialized == "done"):
        return True
    if "right" in states and not flip.may_be_unread:
        return True
    return flip.word == "unseen" and reason(word, flip) is None


COLUMNS = (
    "flips",
    "remembering: refused",
    "not read",
    "first sight: refused",
    "harmless",
    "cannot be seen",
    "of these `verify` tells",
)
HEAD = "| layout | " + " | ".join(COLUMNS) + " |\n|---|" + "--:|" * len(COLUMNS) + "\n"


def row(word: str, flips: list[Flip]) -> str:
    words = collections.Counter(flip.word for flip in flips)
    unread = sum(flip.is_unread for flip in flips)
    told = sum(flip.verify_tells for flip in flips)
    cells = [word, len(flips), len(flips) - unread, unread, words["refused"], words["harmless"], words["unseen"], told]
    return "| " + " | ".join(map(str, cells)) + " |"


def region_row(word: str, flips: list[Flip], regions: list[str]) -> str:
    cells = [word]
    for region in regions:
        words = collections.Counter(flip.word for flip in flips if flip.region == region)
        cells.append(f"{words['refused']} / {words['harmless']} / {words['unseen']}" if words else "")
    return "| " + " | ".join(cells) + " |"


def table(results: dict[str, list[Flip]]) -> str:
    text = HEAD + "\n".join(row(word, flips) for word, flips in results.items())
    hit = {flip.region for flips in results.values() for flip in flips}
    regions = [region for region in REGIONS if region in hit]
    text += "\n\nAt first sight, by what was hit: refused / harmless / cannot be seen.\n\n"
    text += "| layout | " + " | ".join(regions) + " |\n|---|" + "--:|" * len(regions) + "\n"
    text += "\n".join(region_row(word, flips, regions) for word, flips in results.items())
    whys = collections.Counter(
        (word, reason(word, flip)) for word, flips in results.items() for flip in flips if flip.word == "unseen"
    )
    text += "\n\n| layout | cannot be seen, because | flips |\n|---|---|--:|\n"
    return text + "".join(f"| {word} | {why} | {count} |\n" for (word, why), count in whys.items())


def told_series(word: str, seed: int, repeat: str, arguments: argparse.Namespace) -> list[Flip]:
    """A series, of which all that offends is printed with what repeats it."""
    flips = []
    with tempfile.TemporaryDirectory(prefix="ds-flips-") as folder:
        for flip in series(word, arguments.flips, seed, pathlib.Path(folder) / word, arguments.base):
            flips.append(flip)
            if offends(word, flip):
                print(f"{word}: {flip}\nto repeat it: {repeat}", flush=True)
    return flips


def chosen(arguments: argparse.Namespace) -> Iterator[tuple[int, list[str], str]]:
    """Seeds, the layouts that are tried with each, and what repeats that."""
    if arguments.seed is not None:
        yield arguments.seed, arguments.layout, f"--flips {arguments.flips} --seed {arguments.seed}"
        return
    for number in SWEEP.chosen():
        yield number // 2, arguments.layout[number % 2 :: 2], SWEEP.begin(number)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=10, help="in each layout; in a sweep, in each slice (10)")
    parser.add_argument("--seed", type=int, help="of one series; without it the slices of DELTASCOPE_SLICE are run")
    parser.add_argument("--layout", nargs="+", choices=WORDS, default=WORDS)
    parser.add_argument("--out", type=pathlib.Path, help="where the tables go; else to stdout")
    parser.add_argument("--base", action="store_true", help="in the checkpoint that the chain starts from")
    arguments = parser.parse_args()
    results = collections.defaultdict(list)
    for seed, words, repeat in chosen(arguments):
        for word in words:
            results[word] += told_series(word, seed, repeat, arguments)
            print(row(word, results[word]), file=sys.stderr, flush=True)
            if arguments.out:
                arguments.out.write_text(table(results), encoding="utf-8")
    if not arguments.out:
        print(table(results), end="")
    return 1 if any(offends(word, flip) for word, flips in results.items() for flip in flips) else 0


if __name__ == "__main__":
    sys.exit(main())
