"""W10: bytes to and from remote stores on this machine, against the clients that people use: curl, boto3, s5cmd and
huggingface_hub with hf_xet. The servers are those of tests/peers/stores."""

import json
import os
import random
import shlex
import shutil
import subprocess
import sys

from harness import HERE
from publish_bench import peers_python

STORES = os.path.join(HERE, "..", "peers", "stores")
PARALLEL = 16  # requests of ours at once
PIECE = 8 << 20
MEMORY = "/dev/shm/deltascope-bench"  # files in memory: a disk would be measured otherwise
RANGES = os.path.join(MEMORY, "ranges")
SEED = 1


class Peer:
    """A server of tests/peers/stores with its files in memory, as long as this lives. Its variables go into the
    environment of all commands."""

    def __init__(self, bench, script):
        self.file = os.path.join(bench.work, f"{script}.env")
        dump = f"import json, os, sys; json.dump(dict(os.environ), open({self.file + '.new'!r}, 'w'))"
        rename = f"os.rename({self.file + '.new'!r}, {self.file!r}); sys.stdin.read()"
        if os.path.exists(self.file):
            os.remove(self.file)
        command = [bench.peers, "-B", os.path.join(STORES, script), sys.executable, "-c", f"{dump}; {rename}"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, env=os.environ | {"TMPDIR": MEMORY})
        while not os.path.exists(self.file):
            if self.process.poll() is not None:
                sys.exit(f"{script} does not start")
        with open(self.file, encoding="utf-8") as file:
            os.environ.update(json.load(file))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def write_random(path, size):
    """What neither compresses nor repeats."""
    with open(path, "wb") as file:
        for _ in range(size // (1 << 20)):
            file.write(random.randbytes(1 << 20))


def python_client(bench, code):
    """A command that runs code of the peers' Python; the code sets `seconds`, of what counts."""
    whole = f"import json, time\n{code}\nprint(json.dumps({{'seconds': seconds}}))"
    return [bench.peers, "-c", whole]


def timed_code(setup, action):
    return f"{setup}\nbegan = time.perf_counter()\n{action}\nseconds = time.perf_counter() - began"


def nothing():
    pass


def by_own_clock(command, prepare=nothing):
    """A contestant whose own clock counts: without the start of Python, say."""
    return (prepare, lambda: [command], nothing, True)


def by_process(command, clean=nothing):
    """A contestant whose whole process counts."""
    return (nothing, lambda: [command], clean)


def remove_ranges():
    shutil.rmtree(RANGES)
    os.mkdir(RANGES)


def curl(bench, name, keys, transfers):
    """A command that makes all transfers at once, each some lines of curl's configuration."""
    signed = f'header = "x-amz-content-sha256: UNSIGNED-PAYLOAD"\naws-sigv4 = "aws:amz:us-east-1:s3"\nuser = "{keys}"\n'
    path = os.path.join(bench.work, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("next\n".join(f"create-dirs\n{lines}\n{signed}" for lines in transfers))
    return ["curl", "--silent", "--show-error", "--fail", "--parallel", "--parallel-max", str(PARALLEL), "-K", path]


def ranges_of(url, size, kept):
    """The transfers of an object in ranges; its bytes go to files in memory, or nobody keeps them."""
    for at in range(0, size, PIECE):
        output = os.path.join(RANGES, str(at)) if kept else "/dev/null"
        yield f'url = "{url}"\nrange = "{at}-{min(at + PIECE, size) - 1}"\noutput = "{output}"'


def s3(bench, file, size):
    peer = Peer(bench, "s3.py")
    try:
        bucket = "deltascope-test"
        program = [bench.bin["deltascope-bench-store"]]
        client = "import boto3, os; from boto3.s3.transfer import TransferConfig\n"
        client += "from botocore.config import Config\n"
        client += "s3 = boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT_URL_S3'], "
        client += "config=Config(s3={'addressing_style': 'path'}))"
        many = f"TransferConfig(max_concurrency={PARALLEL}, multipart_chunksize={PIECE})"
        upload = f"s3.upload_file({file!r}, {bucket!r}, 'put/boto3', Config={many})"
        address = f"s3://{bucket}/put"
        bench.timed([*program, "put", address, "ours", file])
        keys = f"{os.environ['AWS_ACCESS_KEY_ID']}:{os.environ['AWS_SECRET_ACCESS_KEY']}"
        url = f"{os.environ['AWS_ENDPOINT_URL_S3']}/{bucket}/put/ours"
        title = f"W10 ranged GET of {size >> 20} MiB, {PIECE >> 20} MiB each, {PARALLEL} at once"
        rows = {
            "ours": by_process([*program, "get", address, "ours"]),
            "curl into memory": by_process(curl(bench, "kept", keys, ranges_of(url, size, True)), remove_ranges),
            "curl into /dev/null": by_process(curl(bench, "lost", keys, ranges_of(url, size, False))),
        }
        bench.compare(title, rows, {"curl into memory": ("at_least", 0.9), "curl into /dev/null": ("at_least", None)})
        restore = Restore(bench, bucket, keys)
        restore.compare()
        restore.compare_far()
        rows = {"ours": by_own_clock([*program, "put", address, "ours", file])}
        rows["boto3"] = by_own_clock(python_client(bench, timed_code(client, upload)))
        goals = {"boto3": ("at_least", 0.9)}
        if program_of_user := shutil.which("s5cmd"):  # it is in no package index that the peers come from
            command = [program_of_user, "--endpoint-url", os.environ["AWS_ENDPOINT_URL_S3"], "cp", "-c", str(PARALLEL)]
            rows["s5cmd"] = by_process([*command, file, f"s3://{bucket}/put/s5cmd"])
            goals["s5cmd"] = ("at_least", 0.9)
        bench.compare(f"W10 multipart PUT of {size >> 20} MiB", rows, goals)
    finally:
        peer.end()


class Restore:
    """Step 11 of a run (anchor + 10): out of the store, or fetched by curl into a folder and rebuilt there."""

    BACK = 10

    def __init__(self, bench, bucket, keys):
        elements = (1 << 17) if bench.small else (1 << 23)
        options = {"layout": "trl-v2", "tensors": 64, "elements": elements, "steps": 1 + self.BACK, "density": 0.01, "seed": 1}
        self.bench, self.keys = bench, keys
        self.source, self.steps = bench.make("small-11" if bench.small else "gib-11", **options)
        self.url = f"{os.environ['AWS_ENDPOINT_URL_S3']}/{bucket}/run"
        self.address = f"s3://{bucket}/run"
        self.fetched, self.out = os.path.join(bench.work, "fetched"), os.path.join(bench.work, "restored")
        self.objects = sorted(
            os.path.relpath(os.path.join(parent, name), self.source)
            for parent, _, names in os.walk(self.source)
            for name in names
            if name.endswith(".safetensors")
        )
        for key in self.objects:
            file = os.path.join(self.source, key)
            bench.timed([bench.bin["deltascope-bench-store"], "put", self.address, key, file])

    def compare_far(self):
        """The same, and a verification of all objects, where the store is 40 ms away and gives 200 MB/s."""
        near = os.environ["AWS_ENDPOINT_URL_S3"]
        command = [sys.executable, os.path.join(HERE, "far.py"), near.rsplit(":", 1)[1], "20", "200e6"]
        far = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            os.environ["AWS_ENDPOINT_URL_S3"] = f"http://127.0.0.1:{far.stdout.readline().strip()}"
            self.url = self.url.replace(near, os.environ["AWS_ENDPOINT_URL_S3"])
            rows = {
                "ours": by_process(self.materialize(self.address), self.clean),
                "curl, then from a folder": by_process(self.curl_and_rebuild(), self.clean),
            }
            title = f"W10 materialize anchor+{self.BACK} from S3, 40 ms and 200 MB/s away"
            self.bench.compare(title, rows, {"curl, then from a folder": ("at_most", 1.0)})
            verify = [self.bench.bin["deltascope"], "verify", self.address, "--json"]
            size = sum(os.path.getsize(os.path.join(self.source, key)) for key in self.objects)
            transfers = []
            for key in self.objects:
                path = os.path.join(self.source, key)
                transfers += ranges_of(f"{self.url}/{key}", os.path.getsize(path), False)
            rows = {
                "ours": by_process(verify, self.clean),
                "curl into /dev/null": by_process(curl(self.bench, "all", self.keys, transfers)),
            }
            title = f"W10 verify of {size >> 20} MiB in S3, 40 ms and 200 MB/s away"
            self.bench.compare(title, rows, {"curl into /dev/null": ("at_most", 1.5)})
        finally:
            os.environ["AWS_ENDPOINT_URL_S3"] = near
            far.stdin.close()
            far.wait()

    def clean(self):
        for folder in (self.fetched, self.out, self.bench.home):
            shutil.rmtree(folder, ignore_errors=True)

    def materialize(self, source):
        return [self.bench.bin["deltascope"], "materialize", f"{source}@{1 + self.BACK}", "-o", self.out, "--json"]

    def curl_and_rebuild(self):
        outputs = ((key, os.path.join(self.fetched, key)) for key in self.objects)
        fetch = curl(self.bench, "objects", self.keys, (f'url = "{self.url}/{k}"\noutput = "{o}"' for k, o in outputs))
        return ["sh", "-c", f'{shlex.join(fetch)} && exec "$0" "$@"', *self.materialize(self.fetched)]

    def compare(self):
        rows = {
            "ours": by_process(self.materialize(self.address), self.clean),
            "curl, then from a folder": by_process(self.curl_and_rebuild(), self.clean),
        }
        for _, command, clean in rows.values():
            clean()
            self.bench.timed(*command())
            self.bench.gate(self.out, self.steps[1 + self.BACK]["tensors"], "materialize")
            clean()
        title = f"W10 materialize anchor+{self.BACK} from S3"
        self.bench.compare(title, rows, {"curl, then from a folder": ("at_most", 1.15)})


def hub(bench, file, size):
    peer = Peer(bench, "hub.py")
    try:
        bucket = "tester/bench"
        program = [bench.bin["deltascope-bench-store"]]
        client = "import os, random; from huggingface_hub import HfApi\n"
        client += "api = HfApi(endpoint=os.environ['HF_ENDPOINT'], token=os.environ['HF_TOKEN'])"
        bench.timed(python_client(bench, f"{client}\napi.create_bucket({bucket!r}, exist_ok=True); seconds = 0"))
        number = iter(range(1_000_000))
        fresh = os.path.join(bench.work, "fresh")

        def other():
            """New bytes each time: what the store has already is not sent again."""
            random.seed(next(number))
            write_random(fresh, size)

        up = f"api.batch_bucket_files({bucket!r}, add=[({fresh!r}, 'put/theirs')])"
        rows = {
            "ours": by_own_clock([*program, "put", f"hf://buckets/{bucket}/put", "ours", fresh], other),
            "hf_xet": by_own_clock(python_client(bench, timed_code(client, up)), other),
        }
        bench.compare(f"W10 Xet upload of {size >> 20} MiB", rows, {"hf_xet": ("at_least", 1.0)})
        target = os.path.join(bench.work, "downloaded")
        down = f"api.download_bucket_files({bucket!r}, [('put/ours', {target!r})])"
        rows = {
            "ours": by_own_clock([*program, "get", f"hf://buckets/{bucket}/put", "ours"]),
            "hf_xet": by_own_clock(python_client(bench, timed_code(client, down))),
        }
        bench.compare(f"W10 Xet download of {size >> 20} MiB", rows, {"hf_xet": ("at_least", 0.8)})
    finally:
        peer.end()


def w10(bench):
    size = (64 if bench.small else 1024) << 20
    bench.peers = peers_python(bench)
    bench.bin["deltascope-bench-store"] = os.path.join(os.path.dirname(bench.bin["deltascope"]), "deltascope-bench-store")
    file = os.path.join(bench.work, "payload")
    random.seed(SEED)
    write_random(file, size)
    os.makedirs(RANGES, exist_ok=True)
    try:
        s3(bench, file, size)
        hub(bench, file, size)
    finally:
        shutil.rmtree(MEMORY)
