#!/usr/bin/env python3
"""The servers that stores are tested against: do they do what the tests of stores take for granted?

Official clients against versitygw and the stand-in for the Hub. Standard clients only; no program of ours runs here.
"""

import hashlib
import pathlib
import random
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "hub_standin"))

import servers
import shard_check
import uploads
from botocore.exceptions import ClientError
from hub import HubServer
from s3 import S3Server

FILES = {
    "empty.bin": b"",
    "one.txt": b"x",
    "a/100.bin": bytes(range(100)),
    "a/b/w eird #%+ü.bin": random.Random(2).randbytes(200_000),
    "a.1": b"prefix",
    "repeat.bin": random.Random(3).randbytes(1_500_000) * 2,
}


class S3Test(unittest.TestCase):
    tls = False

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(S3Server(tls=cls.tls))
        cls.s3 = cls.server.client(retries={"max_attempts": 0})

    def status(self, call, **arguments):
        try:
            return call(Bucket=self.server.bucket, **arguments)["ResponseMetadata"]["HTTPStatusCode"]
        except ClientError as error:
            return error.response["ResponseMetadata"]["HTTPStatusCode"]

    def test_what_is_put_is_listed_and_read(self):
        place = uploads.S3Place(self.server, "listed/run")
        for path, data in FILES.items():
            place.put_object(path, data)
        self.assertEqual(place.contents(), FILES)
        self.assertEqual(place.keys(), sorted(FILES, key=str.encode))

    def test_the_etag_is_a_digest_and_ranges_can_be_bound_to_it(self):
        data = random.Random(4).randbytes(10_000)
        etag = self.s3.put_object(Bucket=self.server.bucket, Key="etag", Body=data)["ETag"]
        self.assertEqual(etag.strip('"'), hashlib.md5(data).hexdigest())
        reply = self.s3.get_object(Bucket=self.server.bucket, Key="etag", Range="bytes=10-19", IfMatch=etag)
        self.assertEqual((reply["ResponseMetadata"]["HTTPStatusCode"], reply["Body"].read()), (206, data[10:20]))
        self.assertEqual(self.status(self.s3.get_object, Key="etag", Range="bytes=0-1", IfMatch='"x"'), 412)

    def test_of_many_puts_of_a_new_key_one_wins(self):
        put = lambda i: self.status(self.s3.put_object, Key="race", Body=b"%d" % i, IfNoneMatch="*")
        with ThreadPoolExecutor(16) as pool:
            statuses = list(pool.map(put, range(16)))
        self.assertEqual(statuses.count(200), 1, statuses)

    def test_a_put_is_bound_to_what_was_there(self):
        etag = self.s3.put_object(Bucket=self.server.bucket, Key="bound", Body=b"1")["ETag"]
        self.assertEqual(self.status(self.s3.put_object, Key="bound", Body=b"2", IfMatch='"x"'), 412)
        self.assertEqual(self.status(self.s3.put_object, Key="bound", Body=b"3", IfMatch=etag), 200)
        self.assertEqual(self.s3.get_object(Bucket=self.server.bucket, Key="bound")["Body"].read(), b"3")

    def test_parts_become_an_object_or_nothing(self):
        place = {"Bucket": self.server.bucket, "Key": "parts"}
        parts = [bytes([n]) * (5 << 20) for n in range(2)] + [b"z"]
        upload = self.s3.create_multipart_upload(**place)["UploadId"]
        etags = [
            self.s3.upload_part(**place, UploadId=upload, PartNumber=n, Body=part)["ETag"]
            for n, part in enumerate(parts, 1)
        ]
        self.assertEqual(self.status(self.s3.head_object, Key="parts"), 404)
        listed = [{"PartNumber": n, "ETag": etag} for n, etag in enumerate(etags, 1)]
        self.s3.complete_multipart_upload(**place, UploadId=upload, MultipartUpload={"Parts": listed})
        self.assertEqual(self.s3.get_object(**place)["Body"].read(), b"".join(parts))

    def test_a_wrong_signature_is_refused(self):
        key = {"Bucket": self.server.bucket, "Key": "secret"}
        self.s3.put_object(**key, Body=b"x")
        with self.assertRaisesRegex(ClientError, "SignatureDoesNotMatch"):
            self.server.client(secret="wrong", retries={"max_attempts": 0}).get_object(**key)


class S3OverTlsTest(S3Test):
    tls = True


class HubTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(HubServer("--page-size", "3"))
        cls.place = uploads.HubPlace(cls.server, "run")
        cls.api, cls.bucket = cls.place.api, cls.place.bucket

    def download(self, path):
        target = self.server.work / "one"
        self.api.download_bucket_files(self.bucket, [(path, str(target))])
        return target.read_bytes()

    def test_what_is_put_is_listed_and_read(self):
        place = uploads.HubPlace(self.server, "listed")
        self.api.batch_bucket_files(self.bucket, add=[(data, f"listed/{path}") for path, data in FILES.items()])
        self.assertEqual(sorted(place.keys()), sorted(FILES))
        self.assertEqual(place.contents(), FILES)

    def test_a_range_is_read_by_a_redirect_without_the_token(self):
        from huggingface_hub import HfFileSystem

        self.place.put_object("ranged", FILES["repeat.bin"])
        name = f"buckets/{self.bucket}/run/ranged"
        with HfFileSystem(endpoint=self.server.hub, token=self.api.token).open(name, "rb") as file:
            file.seek(70_000)
            self.assertEqual(file.read(5000), FILES["repeat.bin"][70_000:75_000])
        cdn = [entry for entry in self.server.control("log") if entry["side"] == "cdn"]
        self.assertTrue(any(entry["status"] == 206 for entry in cdn))
        self.assertFalse([entry for entry in cdn if entry["authorization"]])

    def test_a_copy_needs_no_bytes(self):
        self.place.put_object("original", FILES["repeat.bin"])
        before = len(self.server.control("log"))
        self.api.copy_files(f"hf://buckets/{self.bucket}/run/original", f"hf://buckets/{self.bucket}/run/copy")
        sent = self.server.control("log")[before:]
        self.assertFalse([entry for entry in sent if entry["side"] == "cdn"], sent)
        self.assertEqual(self.download("run/copy"), FILES["repeat.bin"])

    def test_changes_are_told(self):
        from huggingface_hub._bucket_live_follow import BucketFollower

        self.place.put_object("old", b"1")
        told = []
        follower = BucketFollower(
            endpoint=self.server.hub,
            bucket_id=self.bucket,
            on_changes=told.extend,
            on_reconcile=lambda: None,
            is_alive=lambda: True,
        )
        follower.start()
        self.addCleanup(follower.stop)
        deadline = time.monotonic() + 60
        while not follower.subscribed and time.monotonic() < deadline:
            time.sleep(0.01)
        self.api.batch_bucket_files(self.bucket, add=[(b"1", "run/new")], delete=["run/old"])
        while len(told) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(sorted((c.op, c.path) for c in told), [("add", "run/new"), ("delete", "run/old")])

    def test_the_official_client_copes_with_faults(self):
        """So that a rule that breaks every client is found here."""
        for n, (rule, uploads_meet_it) in enumerate(
            (
                ({"side": "hub", "path": "/batch", "status": 503}, True),
                ({"side": "hub", "path": "/batch", "status": 429, "headers": {"RateLimit": '"api";r=0;t=0'}}, True),
                ({"side": "hub", "path": "/batch", "lost": True}, True),
                ({"side": "cdn", "method": "PUT", "status": 403}, True),
                ({"side": "cas", "path": "/xorb-grants/", "status": 404}, True),
                ({"side": "cas", "path": "/v2/shards", "status": 404}, True),
                ({"side": "cas", "path": "/v2/reconstructions", "status": 404}, False),
                ({"side": "cdn", "method": "GET", "status": 403}, False),
            )
        ):
            with self.subTest(**rule):
                data = random.Random(n).randbytes(100_000)
                if uploads_meet_it:
                    self.server.control("faults", [rule])
                self.place.put_object("fault", data)
                if not uploads_meet_it:
                    self.server.control("faults", [rule])
                self.assertEqual(self.download("run/fault"), data)
                self.assertEqual(self.server.control("faults"), [], "nobody met the fault")

    def test_a_flipped_bit_reaches_the_file(self):
        """Why a reader of the Hub has to hash: the official client does not."""
        data = random.Random(9).randbytes(100_000)
        self.place.put_object("flipped", data)
        self.server.control("faults", [{"side": "cdn", "method": "GET", "flip": 50_000}])
        got = self.download("run/flipped")
        self.assertEqual(len(got), len(data))
        self.assertEqual(sum(a != b for a, b in zip(got, data)), 1)

    def test_one_file_of_a_batch_can_fail(self):
        from huggingface_hub.errors import BucketBatchError

        self.server.control("faults", [{"side": "hub", "path": "/batch", "fail_path": "run/bad"}])
        with self.assertRaises(BucketBatchError) as caught:
            self.api.batch_bucket_files(self.bucket, add=[(b"1", "run/bad"), (b"2", "run/good")])
        self.assertEqual(caught.exception.failures, [{"path": "run/bad", "error": "injected"}])
        self.assertEqual(self.download("run/good"), b"2")

    def test_the_token_is_asked_for(self):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{self.server.hub}/api/buckets/{self.bucket}")
        self.assertEqual(caught.exception.code, 401)


class ShardTest(unittest.TestCase):
    def test_blake3_is_that_of_the_published_package(self):
        import blake3

        for size in (0, 1, 64, 65, 1024, 1025, 5000):
            data = random.Random(size).randbytes(size)
            key = shard_check.VERIFY_KEY
            self.assertEqual(shard_check.keyed(key, data), blake3.blake3(data, key=key).digest(), size)

    def test_a_shard_that_is_none_is_refused(self):
        with self.assertRaises(shard_check.ShardError):
            shard_check.check_shard(bytes(96), {}, lambda _: False)


class ServerTest(unittest.TestCase):
    class Sleeper(servers.Server):
        def command(self, port):
            return ["sh", "-c", "echo it began; exec sleep 600"], None

        def answers(self):
            return True

    class Broken(Sleeper):
        def command(self, port):
            return ["sh", "-c", "echo no licence; exit 3"], None

        def answers(self):
            return False

    def test_a_server_is_stopped_on_failure(self):
        with self.assertRaises(ZeroDivisionError):
            with self.Sleeper() as server:
                raise ZeroDivisionError
        self.assertIsNotNone(server.process.returncode)
        self.assertFalse(server.work.exists())

    def test_a_server_ends_with_its_test(self):
        script = "import servers, os, time\nfrom test_stores import ServerTest\n"
        script += (
            "s = ServerTest.Sleeper().__enter__(); print(s.process.pid, s.work, flush=True); os.kill(os.getpid(), 9)"
        )
        command = [sys.executable, "-B", "-c", script]
        p = subprocess.run(command, capture_output=True, text=True, cwd=pathlib.Path(__file__).parent, check=False)
        pid, work = p.stdout.split()
        pathlib.Path(work, "server.log").unlink()
        pathlib.Path(work).rmdir()
        deadline = time.monotonic() + 30
        while alive(pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(alive(pid), p.stderr)

    def test_a_server_that_does_not_start_tells_why(self):
        with self.assertRaisesRegex(servers.ServerFailed, "no licence"):
            self.Broken().__enter__()


def alive(pid):
    try:
        return pathlib.Path("/proc", pid, "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main(verbosity=2)
