"""What the end-to-end tests share: programs, folders, an independent reader of checkpoints. Standard library only.

Programs come from the environment: DELTASCOPE_BIN, DELTASCOPE_MAKE_RUN. Every test gets a folder of its own and a
DELTASCOPE_HOME of its own. Nothing here sleeps to wait for something; wait_until() asks until it is so.
"""

import ctypes
import hashlib
import http.client
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GOLDEN = os.environ.get("DELTASCOPE_GOLDEN", os.path.join(ROOT, "tests", "golden"))
MIB = 1 << 20
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))  # sweep.py
OK, OTHER, USAGE, NOT_FOUND, NOT_AUTHORIZED, TEMPORARY, DAMAGED, GAP, CONFLICT, NO_SPACE, STOPPED = range(11)


def program(variable, name):
    path = os.environ.get(variable) or os.path.join(ROOT, "build", "release", "bin", name)
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there; set {variable}")
    return os.path.abspath(path)


BIN = program("DELTASCOPE_BIN", "deltascope")
MAKE_RUN = program("DELTASCOPE_MAKE_RUN", "deltascope-make-run")


def loudly_skip(reason):
    print(f"\nSKIPPED LOUDLY: {reason}", file=sys.stderr, flush=True)
    raise unittest.SkipTest(reason)


# --- hashes and files ------------------------------------------------------------------------------------------------


class Xxh3:
    """XXH3-128 of the system's libxxhash: the one that made the expected digests is compiled into another program."""

    _lib = None

    class _Hash(ctypes.Structure):
        _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]

    @classmethod
    def _library(cls):
        if cls._lib is None:
            lib = ctypes.CDLL("libxxhash.so.0")
            lib.XXH3_createState.restype = ctypes.c_void_p
            lib.XXH3_128bits_digest.restype = cls._Hash
            for name in ("XXH3_freeState", "XXH3_128bits_reset", "XXH3_128bits_digest"):
                getattr(lib, name).argtypes = [ctypes.c_void_p]
            lib.XXH3_128bits_update.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
            cls._lib = lib
        return cls._lib

    def __init__(self, data=b""):
        lib = self._library()
        self._state = lib.XXH3_createState()
        lib.XXH3_128bits_reset(self._state)
        self.update(data)

    def __del__(self):
        self._library().XXH3_freeState(self._state)

    def update(self, data):
        data = bytes(data)
        self._library().XXH3_128bits_update(self._state, data, len(data))

    def hexdigest(self):
        value = self._library().XXH3_128bits_digest(self._state)
        return f"{value.high:016x}{value.low:016x}"


def read_header(path):
    """(header, offset of the data) of a safetensors file, with the checks that keep a wrong file from looking right."""
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        header = json.loads(f.read(size))
    header.pop("__metadata__", None)
    end = 0
    for info in sorted(header.values(), key=lambda i: i["data_offsets"]):
        if info["data_offsets"][0] != end:
            raise ValueError(f"{path}: hole or overlap at {end}")
        end = info["data_offsets"][1]
    if os.path.getsize(path) != 8 + size + end:
        raise ValueError(f"{path}: file size is not the end of its data")
    return header, 8 + size


def read_checkpoint(folder, make_hash=Xxh3):
    """{tensor: (dtype, shape, digest)} of every safetensors file in a folder; checks the index too."""
    out, where = {}, {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".safetensors"):
            continue
        path = os.path.join(folder, name)
        header, data = read_header(path)
        with open(path, "rb") as f:
            for tensor, info in header.items():
                if tensor in out:
                    raise ValueError(f"{tensor} stands in two files")
                begin, end = info["data_offsets"]
                f.seek(data + begin)
                digest = make_hash()
                left = end - begin
                while left:
                    chunk = f.read(min(left, MIB))
                    if not chunk:
                        raise ValueError(f"{path}: {tensor} is cut short")
                    digest.update(chunk)
                    left -= len(chunk)
                out[tensor] = (info["dtype"], info["shape"], digest.hexdigest())
                where[tensor] = name
    index = os.path.join(folder, "model.safetensors.index.json")
    if os.path.exists(index):
        with open(index, encoding="utf-8") as f:
            if json.load(f)["weight_map"] != where:
                raise ValueError("index and files do not agree")
    elif set(where.values()) not in ({"model.safetensors"}, {"adapter_model.safetensors"}, set()):
        raise ValueError("several files and no index")
    return out


def tree_state(folder, folder_times=True, without=()):
    """Everything that must not change in a folder: names, kinds, modes, sizes, times and bytes, but for what is in `without`."""
    digest = hashlib.sha256()
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in without)
        for name in sorted(files) + folders:
            full = os.path.join(path, name)
            st = os.lstat(full)
            when = st.st_mtime_ns if folder_times or name in files else 0
            size = st.st_size if name in files else 0
            digest.update(f"{os.path.relpath(full, folder)}\0{st.st_mode}\0{size}\0{when}\0".encode())
            if name in files and not os.path.islink(full):
                content = Xxh3()
                with open(full, "rb") as f:
                    while chunk := f.read(MIB):
                        content.update(chunk)
                digest.update(content.hexdigest().encode())
    return digest.hexdigest()


def age(path, seconds):
    """Makes a file look as if it was last written some seconds ago."""
    then = time.time() - seconds
    os.utime(path, (then, then))


# --- waiting ---------------------------------------------------------------------------------------------------------


def wait_until(condition, timeout, what):
    """Returns the first true answer of `condition`. The pause between two questions bounds the load, nothing else."""
    deadline = time.monotonic() + timeout
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {timeout} s")
        time.sleep(0.002)


# --- the program -----------------------------------------------------------------------------------------------------


class Outcome:
    def __init__(self, args, code, out, err, seconds=0.0):
        self.args, self.code, self.out, self.err, self.seconds = args, code, out, err, seconds

    def __str__(self):
        return f"{' '.join(self.args)}\n  exit {self.code}\n  stdout {self.out[:1500]!r}\n  stderr {self.err[:3000]!r}"

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as e:
            raise AssertionError(f"stdout is not one JSON document ({e}): {self}") from None


class E2ETest(unittest.TestCase):
    """A test with a folder of its own (self.work) that calls the program."""

    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="ds-e2e-", dir=os.environ.get("DELTASCOPE_TEST_TMP"))
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)
        self.home = os.path.join(self.work, "home")
        os.mkdir(self.home)

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def environment(self, **extra):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("DELTASCOPE_", "NO_COLOR", "CLICOLOR"))}
        env.update(DELTASCOPE_HOME=self.home, LC_ALL="C.UTF-8", TERM="xterm")
        env.update(extra)
        return env

    def start(self, *args, env=None, wrapper=(), **options):
        """Starts the program; it is killed when the test ends."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen(
            [*wrapper, BIN, *map(str, args)], stdin=subprocess.DEVNULL, env=env or self.environment(), **options
        )
        self.addCleanup(self._stop, process)
        return process

    @staticmethod
    def _stop(process):
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()

    def run_ds(self, *args, timeout=120, env=None, wrapper=(), **options):
        """Runs the program to its end. A signal shows as a negative status; a hang fails the test."""
        command = [*wrapper, BIN, *map(str, args)]
        began = time.monotonic()
        try:
            p = subprocess.run(
                command,
                capture_output=True,
                timeout=timeout,
                stdin=subprocess.DEVNULL,
                env=env or self.environment(),
                check=False,
                **options,
            )
        except subprocess.TimeoutExpired as e:
            raise AssertionError(f"{' '.join(command)}: still running after {timeout} s; stderr {e.stderr!r}") from None
        return Outcome(
            command,
            p.returncode,
            p.stdout.decode(errors="replace"),
            p.stderr.decode(errors="replace"),
            time.monotonic() - began,
        )

    def ok(self, *args, **options):
        outcome = self.run_ds(*args, **options)
        self.assertEqual(outcome.code, OK, str(outcome))
        return outcome

    def ok_json(self, *args, **options):
        return self.ok(*args, "--json", **options).json()

    def refused(self, outcome, code=None, word=None):
        """Asserts that a run of the program was a clean refusal: exit code, error word, remedy."""
        self.assertGreater(outcome.code, 0, f"should have been refused: {outcome}")
        self.assertLess(outcome.code, 124, f"crashed: {outcome}")
        if code is not None:
            codes = code if isinstance(code, (tuple, set, frozenset)) else (code,)
            self.assertIn(outcome.code, codes, str(outcome))
        self.assertRegex(outcome.err, r"\bDS-[A-Z]", f"no error word on stderr: {outcome}")
        if word is not None:
            words = word if isinstance(word, (tuple, set, frozenset)) else (word,)
            self.assertTrue(any(w in outcome.err for w in words), f"none of {sorted(words)} on stderr: {outcome}")

    # --- synthetic runs ----------------------------------------------------------------------------------------------

    def make_run(self, name="run", **options):
        """Writes a synthetic run and returns it. Options are those of deltascope-make-run, with _ for -."""
        folder = self.path(name)
        os.makedirs(folder, exist_ok=True)
        settings = {
            "layout": "trl-v2",
            "tensors": 4,
            "elements": 4096,
            "steps": 6,
            "density": 0.01,
            "seed": 1,
        } | options
        source, expected = os.path.join(folder, "bucket"), os.path.join(folder, "expected.json")
        command = [MAKE_RUN, "--out", source, "--expected", expected]
        base = None
        if settings["layout"] == "slime-v2":
            base = os.path.join(folder, "base")
            command += ["--base-out", base]
        for key, value in settings.items():
            command += ["--" + key.replace("_", "-"), str(value)]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        return SyntheticRun(source, base, expected)

    def assert_checkpoint(self, folder, truth, message=""):
        """`truth`: {tensor: {dtype, shape, xxh3_128}} as in expected.json."""
        got = read_checkpoint(folder)
        want = {name: (t["dtype"], t["shape"], t["xxh3_128"]) for name, t in truth.items()}
        wrong = sorted(name for name in set(got) | set(want) if got.get(name) != want.get(name))
        self.assertFalse(wrong, f"{message} {len(wrong)} of {len(want)} tensors are wrong, first {wrong[:2]}")

    def assert_digest(self, document, truth, message=""):
        got = {t["name"]: (t["dtype"], t["shape"], t["xxh3_128"]) for t in document["tensors"]}
        want = {name: (t["dtype"], t["shape"], t["xxh3_128"]) for name, t in truth.items()}
        wrong = sorted(name for name in set(got) | set(want) if got.get(name) != want.get(name))
        self.assertFalse(wrong, f"{message} {len(wrong)} of {len(want)} tensors are wrong, first {wrong[:2]}")

    def assert_no_half_result(self, destination, truth):
        """The final name is absent, or complete and right; beside it lie only private leftovers of our own. Returns
        whether the result is there."""
        folder, name = os.path.split(destination)
        for entry in os.listdir(folder):
            if entry != name and not entry.startswith(f".{name}.ds-"):
                self.fail(f"{entry!r} was left beside {destination}")
        if not os.path.lexists(destination):
            return False
        self.assertTrue(
            os.path.exists(os.path.join(destination, "deltascope.provenance.json")), f"{destination} has no provenance"
        )
        self.assert_checkpoint(destination, truth, "a half result stands under the final name:")
        return True


class SyntheticRun:
    def __init__(self, source, base, expected):
        self.source, self.base, self.expected_path = source, base, expected
        with open(expected, encoding="utf-8") as f:
            self.expected = json.load(f)
        self.steps = {s["step"]: s for s in self.expected["steps"]}
        self.base_args = ["--base", base] if base else []

    @property
    def last(self):
        return max(self.steps)

    def at(self, step):
        return f"{self.source}@{step}"

    def truth(self, step):
        return self.steps[step]["tensors"]


class Served:
    """`serve` of a source until the test ends, and a browser that is signed in to it."""

    def __init__(self, test, source, *options):
        self.process = test.start("serve", source, "--listen", "127.0.0.1:0", *options, stderr=subprocess.DEVNULL)
        address = self.process.stdout.readline().decode()
        host, code = re.fullmatch(r"http://([^/]*)/.*#k=(.*)\n", address).groups()
        self.client = http.client.HTTPConnection(host, timeout=60)
        test.addCleanup(self.client.close)
        self.headers = {"Origin": f"http://{host}", "Content-Type": "application/json"}
        self.client.request("POST", "/api/v1/session", json.dumps({"code": code}), self.headers)
        answer = self.client.getresponse()
        answer.read()
        self.headers["Cookie"] = answer.headers["set-cookie"].split(";")[0]

    def runs(self):
        self.client.request("GET", "/api/v1/runs", None, self.headers)
        return json.loads(self.client.getresponse().read())["runs"]


def log_steps(document):
    """{(epoch, step): record} of a `log --json` document, without gap entries."""
    return {(e["epoch"], s["step"]): s for e in document["epochs"] for s in e["steps"] if s.get("state") != "gap"}


def peak_of(command, env, timeout=300):
    """Runs a command and returns an Outcome with its peak resident set in KiB; what is not above `floor_kib` was not
    measured."""
    began = time.monotonic()
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as report:
        helper = [sys.executable, "-I", "-S", os.path.join(HERE, "peak.py"), report.name, *command]
        try:
            p = subprocess.run(
                ["sh", "-c", '"$@"; exit 0', "sh", *helper],
                capture_output=True,
                timeout=timeout,
                stdin=subprocess.DEVNULL,
                env=env,
                check=True,
            )
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{' '.join(command)}: still running after {timeout} s") from None
        status, peak, floor = map(int, report.read().split())
    out, err = p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")
    outcome = Outcome(command, status, out, err, time.monotonic() - began)
    outcome.peak_kib, outcome.floor_kib = peak, floor
    return outcome


# --- system calls ----------------------------------------------------------------------------------------------------


def strace_works():
    if not shutil.which("strace"):
        return False
    try:
        p = subprocess.run(["strace", "-f", "-o", os.devnull, "true"], capture_output=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return False
    return p.returncode == 0


def need_strace():
    if not strace_works():
        loudly_skip("strace is missing or may not trace here; system calls cannot be counted or made to fail")


def count_calls(lines, name):
    """The largest number of calls of `name` by one thread in a trace of `strace -f` (injection counts per thread)."""
    per_thread = {}
    for line in lines:
        thread, _, rest = line.partition(" ")
        if rest.lstrip().startswith(name + "("):
            per_thread[thread] = per_thread.get(thread, 0) + 1
    return max(per_thread.values(), default=0)


def spread(count, most):
    """Up to `most` numbers out of 1…count, the first and the last among them."""
    if count <= most:
        return list(range(1, count + 1))
    return sorted({1 + round(i * (count - 1) / (most - 1)) for i in range(most)})


# --- running ---------------------------------------------------------------------------------------------------------


def main():
    unittest.main(module="__main__", verbosity=2)
