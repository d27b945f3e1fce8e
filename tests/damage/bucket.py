"""A small made bucket (tests/reference/make_case.py) that is damaged and asked about, each time with nothing remembered."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))

from make_case import make  # noqa: E402
from read_run import read_run  # noqa: E402

PROGRAM = os.environ.get("DELTASCOPE_BIN", "deltascope")
FIRST_TIME = 1_767_225_600  # long ago: what was just written looks like publishing
TIMEOUT = 60


class Answer:
    """How one run of the program ended. A crash or a hang is an error of the test, not an answer."""

    def __init__(self, command, code, out, err):
        self.command, self.code, self.err = command, code, err
        try:
            self.document = json.loads(out)
        except ValueError:
            self.document = {}
        self.error = self.document.get("error")
        if code < 0 or code >= 124 or (code and not self.error and "steps" not in self.document):
            raise AssertionError(f"{self}\n{out[:1000]}")
        if "DS-INTERNAL" in out or "DS-INTERNAL" in err:
            raise AssertionError(f"{self}\n{out[:1000]}")

    def __str__(self):
        return f"{' '.join(map(str, self.command))}\n  exit {self.code}\n  {self.err[:1000]}"

    def problems(self):
        """Those of the run and of its steps, or the error."""
        if self.error:
            return [self.error]
        steps = self.document.get("steps", [])
        return self.document.get("problems", []) + [p for step in steps for p in step.get("problems", [])]


class Bucket:
    def __init__(self, word: str, folder: pathlib.Path, seed: int, steps: int, anchor_every: int):
        self.word = word
        self.seed = seed
        self.folder = folder
        self.make(word, folder, seed, steps, anchor_every)
        expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
        self.layout = expected["layout"]
        self.source = folder / "bucket"
        self.base = ["--base", folder / "base"] if expected["base"] else []
        self.truth = {step["step"]: step for step in expected["steps"]}
        self.steps = sorted(self.truth)
        self.objects = {step: sorted(row["objects"] + row.get("full_objects", [])) for step, row in self.truth.items()}
        self.owner = {key: step for step, keys in self.objects.items() for key in keys}
        self.time = {}
        for number, step in enumerate(self.steps):
            for key in self.objects[step]:
                self.time[key] = FIRST_TIME + 60 * number
                self.touch(key)

    def make(self, word, folder, seed, steps, anchor_every):
        make(word, folder, seed, steps, small=True, anchor_every=anchor_every)

    def objects_of_base(self) -> list[str]:
        """Keys of the checkpoint that the chain starts from, as far as it holds bytes."""
        keys = [f"../base/{path.name}" for path in sorted(self.base[1].iterdir())] if self.base else []
        for key in keys:
            self.owner[key] = self.steps[0]
            self.time[key] = FIRST_TIME
            self.touch(key)
        return keys

    def path(self, key: str) -> pathlib.Path:
        return self.source / key

    def touch(self, key: str) -> None:
        os.utime(self.path(key), (self.time[key], self.time[key]))

    def read(self, key: str) -> bytes:
        return self.path(key).read_bytes()

    def write(self, key: str, data: bytes) -> None:
        """The time stays: nothing but the bytes tells."""
        self.path(key).parent.mkdir(parents=True, exist_ok=True)
        self.path(key).write_bytes(data)
        self.touch(key)

    @contextlib.contextmanager
    def kept(self, keys):
        """What is done to these objects is undone."""
        sound = {key: self.read(key) for key in keys}
        try:
            yield sound
        finally:
            for key, data in sound.items():
                self.write(key, data)

    def ask(self, *arguments, home=None) -> Answer:
        with memory() if home is None else contextlib.nullcontext(home) as folder:
            command = [PROGRAM, *map(str, arguments), *map(str, self.base), "--json", "--threads", "1"]
            env = dict(os.environ, DELTASCOPE_HOME=str(folder))
            done = subprocess.run(command, capture_output=True, env=env, timeout=TIMEOUT, check=False)
            out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
            return Answer(command, done.returncode, out, err)

    def digest(self, step: int, home=None) -> str:
        """right, wrong, or the word of the refusal"""
        answer = self.ask("digest", f"{self.source}@{step}", home=home)
        if answer.error:
            return answer.error["code"]
        self.found = {t["name"]: (t["dtype"], t["shape"], t["xxh3_128"]) for t in answer.document["tensors"]}
        return "right" if self.is_state_of(step) else "wrong"

    def is_state_of(self, step: int) -> bool:
        """The last digest."""
        truth = self.truth[step]["tensors"]
        return self.found == {n: (t["dtype"], t["shape"], t["xxh3_128"]) for n, t in truth.items()}

    def slow_reader_takes(self, step: int) -> bool:
        """Whether the reference reader rebuilds this step, with every digest that is recorded on the way."""
        base = self.base[1] if self.base else None
        return any(s.version.step == step and not s.error for s in read_run(self.layout, self.source, base))

    def needs(self, step: int) -> list[int]:
        """The steps that rebuilding this one reads, itself last."""
        out = [step]
        while self.truth[out[0]]["base_step"] in self.truth and not self.truth[out[0]].get("full_objects"):
            out.insert(0, self.truth[out[0]]["base_step"])
        return out

    def needed_by(self, step: int) -> list[int]:
        """The steps that cannot be without this one, itself first."""
        return [other for other in self.steps if step in self.needs(other)]


@contextlib.contextmanager
def memory():
    """A catalog and records that know nothing yet."""
    folder = tempfile.mkdtemp(prefix="ds-home-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
