#!/usr/bin/env python3
"""The golden buckets in a remote store, put there by its official client: the program says of them what it says of the
same bucket in a folder, and the tensors are those that the trainers wrote."""

import hashlib
import json
import os
import pathlib
import re
import sys

import remote  # finds the modules of e2e and support
import support
import test_contract
from sweep import Sweep

SWEEP = Sweep(f"peers.remote_contract_{sys.argv[1] if len(sys.argv) > 1 else ''}", 4)
GOLDEN = pathlib.Path(support.GOLDEN)
# Of a copy in a store: where it is, the times of its objects, what looking cost. Identities differ by kind of store.
LOCAL = {"source", "published_at", "modified_at", "identity", "seconds", "path", "text", "store_meter", "listed_us"}
LOCAL |= {"store_digests"}  # a folder keeps none
LOCAL |= {"most_bytes"}  # that log reads unasked: of a store less


def cases():
    for path in sorted(GOLDEN.glob("*/expected.json")):
        if "files" not in json.loads(path.read_text(encoding="utf-8")):
            yield path.parent.name


def is_address(value):
    return isinstance(value, str) and "://" in value


def comparable(document):
    if isinstance(document, dict):
        return {key: comparable(value) for key, value in document.items() if key not in LOCAL and not is_address(value)}
    if isinstance(document, list):
        return [comparable(value) for value in document]
    return document


class Contract(remote.RemoteTest):
    def check(self, name):
        case = test_contract.Case(name, self.path("case"))
        place = self.store.place(f"{name}/{os.path.basename(case.source)}")
        place.put(case.source, in_order=os.path.exists(self.path("case", "mtimes.json")))
        before = place.times()
        for path, when in before.items():  # how old an unfinished upload is decides what is said of it
            os.utime(os.path.join(case.source, path), (when, when))
        self.here = self.environment(DELTASCOPE_HOME=self.path("home-here"))
        with self.subTest(command="log"):
            self.same(("log",), case, case.source, place.url)
        for key in case.picks():
            version = f"@{key[0]}:{key[1]}"
            with self.subTest(command="digest", version=key):
                document = self.same(("digest",), case, case.source + version, place.url + version).json()
                fields = ("dtype", "shape", "xxh3_128", "sha256")
                got = {t["name"]: {f: t[f] for f in fields} for t in document["tensors"]}
                want = {n: {f: t[f] for f in fields} for n, t in case.steps[key]["tensors"].items()}
                self.assertEqual(got, want)
        if case.good:
            key = case.good[-1]
            version = f"@{key[0]}:{key[1]}"
            with self.subTest(command="show", version=key):
                self.same(("show",), case, case.source + version, place.url + version)
            with self.subTest(command="materialize", version=key):
                self.ok("materialize", place.url + version, "-o", self.path("out"), *case.base)
                truth = {t: (v["dtype"], v["shape"], v["sha256"]) for t, v in case.steps[key]["tensors"].items()}
                self.assertEqual(support.read_checkpoint(self.path("out"), hashlib.sha256), truth)
        for key in case.bad[:1]:
            version = f"@{key[0]}:{key[1]}"
            with self.subTest(command="materialize", refused=key):
                command = ("materialize", "-o", self.path("refused"))
                self.refused(self.same(command, case, case.source + version, place.url + version))
                self.assertFalse(os.path.exists(self.path("refused")))
        with self.subTest(command="verify"):
            digests = self.same(("verify", "--level", "3"), case, case.source, place.url).json()["store_digests"]
            self.assertEqual((digests["not_compared"], digests["none"]), (0, 0), digests)
            self.assertTrue(digests["equal"] > 0 or not case.good, digests)
        self.assertEqual(place.times(), before, "looking changed the store")

    def same(self, command, case, here, there):
        """Runs a command on the folder and on the store. Returns its outcome there."""
        folder = self.run_ds(*command, here, *case.base, "--json", env=self.here)
        store = self.run_ds(*command, there, *case.base, "--json")
        self.assertEqual(store.code, folder.code, str(store))
        self.assertEqual(comparable(store.json()), comparable(folder.json()))
        return store


for slice_number in SWEEP.chosen():
    SWEEP.begin(slice_number)
    for case_name in list(cases())[slice_number :: SWEEP.slices]:

        def test(self, name=case_name):
            self.check(name)

        setattr(Contract, f"test_{re.sub('[^a-z0-9]', '_', case_name.lower())}", test)


if __name__ == "__main__":
    remote.main()
