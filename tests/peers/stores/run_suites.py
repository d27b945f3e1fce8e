#!/usr/bin/env python3
"""The suites of a GoogleTest program that are for a remote store, against a real server:

run_suites.py PROGRAM s3 [KIND] [tls]
run_suites.py PROGRAM hub

It fails where no case ran, or where all were skipped. What the Xet suites leave in the server is downloaded and compared
by the official client, and they read what that client uploaded.
"""

import json
import os
import pathlib
import subprocess
import sys
import urllib.request
import xml.etree.ElementTree as xml

from hub import TOKEN, HubServer
from s3 import KINDS, S3Server

WORDS = {"s3": ["S3"], "hub": ["Hub", "Xet"]}  # of the names of suites and stores
SEED, SIZE = 77, 6_000_000  # of the file that the official client uploads


def filter_of(store):
    forms = ("*Conformance*{0}*", "*{0}*Conformance*", "*{0}*Server*", "*{0}*Peer*", "*Peer*{0}*")
    return ":".join(form.format(word) for word in WORDS[store] for form in forms)


class S3Peer:
    def __init__(self, options):
        self.kind = next((option for option in options if option in KINDS), "versitygw")
        self.server = S3Server(self.kind, "tls" in options)

    def before(self):
        return {"S3_KEEPS_NO_CHECKSUMS": "1", "STORE_LOSES_LINE_ENDS": "1"} if self.kind == "moto" else {}

    def after(self, _):
        return []


class HubPeer:
    bucket = "tester/cas"

    def __init__(self, _):
        self.server = HubServer()

    def before(self):
        """Variables of tests/engine/xet_server_test.cpp."""
        self.api, self.left = self.server.api(), self.server.work / "left"
        self.left.mkdir()
        self.api.create_bucket(self.bucket)
        self.api.batch_bucket_files(self.bucket, add=[(split_mix(SEED, SIZE), "official")])
        entry = next(iter(self.api.list_bucket_tree(self.bucket, recursive=True)))
        return {
            "DELTASCOPE_TEST_CAS": self.bucket,
            "DELTASCOPE_TEST_CAS_READ": f"{entry.xet_hash}:{SIZE}:{SEED}",
            "DELTASCOPE_TEST_CAS_FILES": str(self.left),
        }

    def after(self, suites):
        """Complaints about what was left."""
        files = sorted(self.left.iterdir())
        if any("XetServer" in suite for suite in suites) and not files:
            return ["the Xet suites ran and left nothing"]
        lines = [json.dumps({"type": "addFile", "path": f"left/{f.name}", "xetHash": f.name}) for f in files]
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/x-ndjson"}
        url = f"{self.server.hub}/api/buckets/{self.bucket}/batch"
        if lines:
            urllib.request.urlopen(urllib.request.Request(url, "\n".join(lines).encode(), headers)).read()
        wrong = []
        for file in files:
            got = self.server.work / "got"
            self.api.download_bucket_files(self.bucket, [(f"left/{file.name}", str(got))])
            if got.read_bytes() != file.read_bytes():
                wrong.append(f"the official client reads {file.name} otherwise")
        print(f"{len(files)} files were read by the official client", flush=True)
        return wrong


def split_mix(seed, count):
    """Bytes of the SplitMix64 generator, little end first: randomBytes() of the Xet tests."""
    mask, words = (1 << 64) - 1, []
    for _ in range((count + 7) // 8):
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        word = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & mask
        word = (word ^ word >> 27) * 0x94D049BB133111EB & mask
        words.append((word ^ word >> 31).to_bytes(8, "little"))
    return b"".join(words)[:count]


def run(program, store, peer):
    server = peer.server
    results = server.work / "suites.xml"
    variables = os.environ | server.environment | {"DELTASCOPE_TEST_STORES": "1"} | peer.before()
    command = [program, f"--gtest_filter={filter_of(store)}", f"--gtest_output=xml:{results}"]
    status = subprocess.run(command, env=variables, check=False).returncode
    cases = list(xml.parse(results).getroot().iter("testcase")) if results.exists() else []
    ran = [case.get("classname") for case in cases if case.get("result") == "completed"]
    complaints = [f"{program.name} ended with status {status}"] if status else []
    complaints += [] if ran else ["no case ran"]
    complaints += peer.after(set(ran))
    print(f"{len(ran)} ran, {len(cases) - len(ran)} were skipped", flush=True)
    if complaints:
        print("\n".join([*complaints, server.log_end()]), file=sys.stderr)
    return 1 if complaints else 0


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in WORDS:
        sys.exit(__doc__)
    program, store = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    peer = (HubPeer if store == "hub" else S3Peer)(sys.argv[3:])
    with peer.server:
        return run(program, store, peer)


if __name__ == "__main__":
    sys.exit(main())
