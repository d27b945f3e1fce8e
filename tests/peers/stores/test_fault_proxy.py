#!/usr/bin/env python3
"""The fault proxy itself: what goes through unhurt is the same, and each kind of fault does what it says.

boto3 in front of versitygw; what a client without retries sees is compared with what one with retries gets."""

import hashlib
import time
import unittest
import urllib.parse

import faults
from botocore.exceptions import BotoCoreError, ClientError
from fault_proxy import FaultProxy
from faults import KINDS, Fault
from s3 import S3Server

DATA = bytes(range(256)) * 40


class ProxyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(S3Server())
        cls.proxy = cls.enterClassContext(FaultProxy(cls.server.endpoint, cls.change, cls.whole))
        cls.direct = cls.server.client()
        cls.server.endpoint, cls.upstream = cls.proxy.url, cls.server.endpoint  # its clients use the proxy from here on
        cls.once = cls.server.client(retries={"max_attempts": 0}, read_timeout=3)
        cls.stubborn = cls.server.client(retries={"max_attempts": 4, "mode": "standard"}, read_timeout=3)

    @classmethod
    def key_of(cls, target):
        path = urllib.parse.unquote(urllib.parse.urlsplit(target).path)
        return {"Bucket": cls.server.bucket, "Key": path.split("/", 2)[2]}

    @classmethod
    def change(cls, target):
        cls.direct.put_object(**cls.key_of(target), Body=DATA[::-1])

    @classmethod
    def whole(cls, target):
        return cls.direct.get_object(**cls.key_of(target))["Body"].read()

    def setUp(self):
        self.key = {"Bucket": self.server.bucket, "Key": "folder/w eird+ü"}
        self.direct.put_object(**self.key, Body=DATA)
        for n in range(9):
            self.direct.put_object(Bucket=self.server.bucket, Key=f"listed/{n}", Body=b"x")
        self.proxy.plan()

    def read(self, client, **more):
        return client.get_object(**self.key, **more)["Body"].read()

    def names(self, client):
        listing = client.list_objects_v2(Bucket=self.server.bucket, Prefix="listed/")
        return [entry["Key"] for entry in listing.get("Contents", [])]

    def test_without_faults_nothing_changes(self):
        self.once.put_object(Bucket=self.server.bucket, Key="new", Body=DATA, ContentType="application/x-test")
        for client in (self.once, self.direct):
            reply = client.get_object(Bucket=self.server.bucket, Key="new", Range="bytes=10-19")
            self.assertEqual((reply["Body"].read(), reply["ContentRange"]), (DATA[10:20], f"bytes 10-19/{len(DATA)}"))
            self.assertEqual(reply["ETag"].strip('"'), hashlib.md5(DATA).hexdigest())
            head = client.head_object(Bucket=self.server.bucket, Key="new")
            self.assertEqual((head["ContentLength"], head["ContentType"]), (len(DATA), "application/x-test"))
        self.assertEqual(self.names(self.once), self.names(self.direct))
        big = bytes(6 << 20)
        upload = self.once.create_multipart_upload(Bucket=self.server.bucket, Key="big")["UploadId"]
        part = {"Bucket": self.server.bucket, "Key": "big", "UploadId": upload}
        etag = self.once.upload_part(**part, PartNumber=1, Body=big)["ETag"]
        self.once.complete_multipart_upload(**part, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": etag}]})
        self.assertEqual(self.direct.head_object(Bucket=self.server.bucket, Key="big")["ContentLength"], len(big))

    def outcome(self, client, kind, **plan):
        """What a ranged read and a listing come to while one fault is planned: bytes, names, or the error."""
        self.proxy.plan(Fault(kind, **plan))
        try:
            return self.read(client, Range="bytes=100-8099"), self.names(client)
        except (ClientError, BotoCoreError) as error:
            return error

    def test_what_a_single_try_sees(self):
        range_, names = DATA[100:8100], [f"listed/{n}" for n in range(9)]
        whole, sound = (DATA, names), (range_, names)
        flipped = range_[:4000] + bytes([range_[4000] ^ 1]) + range_[4001:]
        code = lambda name: lambda got: name in str(got)
        for kind, expected in {
            "refused": code("Connection was closed"),
            "lost": code("Connection was closed"),
            "cut": code("Connection broken"),
            "slow": sound,
            "stall": code("Read timeout"),
            "500": code("InternalError"),
            "503": code("SlowDown"),
            "503-after": code("SlowDown"),
            "429": code("TooManyRequests"),
            "429-after": code("TooManyRequests"),
            "too-long": code("IncompleteRead"),
            "too-short": (range_[:4000], names),
            "whole": whole,
            "cut-listing": code("(500)"),  # what botocore makes of a 200 that it cannot read
            "shrunk-listing": (range_, names[:4]),
            "skewed-date": sound,
            "time-too-skewed": code("RequestTimeTooSkewed"),
            "expired-key": code("ExpiredToken"),
            "flip": (flipped, names),
            "changed": (DATA[::-1][100:8100], names),
        }.items():
            with self.subTest(kind=kind):
                self.setUp()
                got = self.outcome(self.once, kind)
                self.assertTrue(expected(got) if callable(expected) else got == expected, repr(got)[:300])
                self.assertEqual([f["kind"] for f in self.proxy.injected], [kind])
                self.assertEqual(self.proxy.injected[0]["transient"], KINDS[kind][0])
                self.assertEqual(self.proxy.faults, [])

    def test_a_client_that_tries_again_gets_what_it_wants(self):
        for kind in ("refused", "lost", "500", "503", "503-after", "429", "429-after"):
            with self.subTest(kind=kind):
                self.assertEqual(self.outcome(self.stubborn, kind)[0], DATA[100:8100])
                self.assertEqual(len(self.proxy.injected), 1)

    def test_a_lost_reply_to_a_put_is_work_done(self):
        self.proxy.plan(Fault("lost", match="^PUT"))
        with self.assertRaises(BotoCoreError):
            self.once.put_object(**self.key, Body=b"done")
        self.assertEqual(self.read(self.direct), b"done")
        self.proxy.plan(Fault("refused", match="^PUT"))
        with self.assertRaises(BotoCoreError):
            self.once.put_object(**self.key, Body=b"not done")
        self.assertEqual(self.read(self.direct), b"done")

    def test_a_fault_strikes_the_request_that_is_meant(self):
        self.proxy.plan(Fault("500", skip=2, match="GET .*weird|GET .*w%20eird"))
        seen = []
        for _ in range(5):
            self.names(self.once)
            try:
                seen.append(self.read(self.once) == DATA)
            except ClientError:
                seen.append(False)
        self.assertEqual(seen, [True, True, False, True, True])

    def test_kinds_that_boto3_does_not_meet(self):
        bearer = faults.Request("GET", "/v2/reconstructions/x", [("Authorization", "Bearer xet_read_1")], b"")
        signed = faults.Request("GET", "/file/x?Expires=1&Signature=2", [], b"")
        self.assertEqual(faults.instead(Fault("expired-token"), bearer).status, 401)
        self.assertEqual(faults.instead(Fault("expired-url"), signed).status, 403)
        self.assertIn(("RateLimit", '"api";r=0;t=1'), faults.instead(Fault("429-window"), signed).headers)
        self.assertFalse(faults.fits("expired-token", signed) or faults.fits("expired-url", bearer))
        listing = b'[{"path": "a"}, {"path": "b"}, {"path": "c"}]'
        self.assertEqual(faults.shrunk(listing), (b'[{"path": "a"}]', 2))

    def test_a_skewed_date_is_seen(self):
        self.proxy.plan(Fault("skewed-date"))
        date = self.once.head_object(**self.key)["ResponseMetadata"]["HTTPHeaders"]["date"]
        ahead = time.mktime(time.strptime(date, "%a, %d %b %Y %H:%M:%S GMT")) - time.mktime(time.gmtime())
        self.assertAlmostEqual(ahead, faults.SKEW, delta=600)


if __name__ == "__main__":
    unittest.main(verbosity=2)
