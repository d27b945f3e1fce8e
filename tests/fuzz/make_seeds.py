#!/usr/bin/env python3
"""Writes the seeds of version_fuzz.cpp: small runs by the makers of tests/reference, packed as that program reads them.
And those of bundle_fuzz.cpp, spans_fuzz.cpp and heartbeat_fuzz.cpp.

usage: make_seeds.py [FOLDER]   (tests/fuzz/seeds; needs the packages of tests/peers, and the program as DELTASCOPE_BIN)
"""

import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "reference"))

from make_case import make  # noqa: E402

# folder of the seeds: words of the makers
SEEDS = {
    "trl_v1_0": ["trl-v1.0"],
    "trl_v1_1": ["trl-v1.1"],
    "trl_v1_2": ["trl-v1.2"],
    "slime_v1": ["slime-v1-indices", "slime-v1-deltas", "slime-v1-deltas-zstd"],
    "skyrl": ["skyrl", "skyrl-sha256"],
    "modelexpress": ["modelexpress", "modelexpress-plain-keys"],
    "grail": ["grail-v2", "grail-v3", "grail-v3.1", "grail-old-arithmetic", "grail-old-absolute"],
    "prime_rl": ["prime-rl-update", "prime-rl-update-i64", "prime-rl-update-zstd", "prime-rl-manifest"],
}
RECORDED = {"trl_adapter": "trl-adapter/bucket"}  # below tests/golden
BUNDLES = {"chain": "trl-v2", "digests": "slime-v2-xor"}  # name of the seed: word of the maker
PARTS = ("alerts.jsonl", "counts.jsonl", "listing.json", "manifest.json", "snapshot.json")  # what the window reads
NOW = 1_787_400_000_000_000
LARGEST = 8 * 1024  # objects beyond this are cut: their headers are what matters
OBJECTS = 24


def record(name, content):
    return bytes([len(name.encode())]) + name.encode() + len(content).to_bytes(3, "little") + content


def packed(contents):
    return b"".join(record(name, content) for name, content in contents.items())


def pack(root):
    paths = sorted(p for p in root.rglob("*") if p.is_file())[:OBJECTS]
    return packed({str(path.relative_to(root)): path.read_bytes()[:LARGEST] for path in paths})


def lines(rows):
    return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)


def span(actor, phase, step, begin, end, **more):
    return {"actor": actor, "phase": phase, "step": step, "epoch": 0, "t0_us": begin, "t1_us": end, **more}


def heartbeat(**more):
    return {"id": "r1", "engine": "vllm", "state": "serving", "step": 3, "epoch": 0, "t_us": NOW, "period_s": 1, **more}


def spans():
    """name: an object of spans"""
    steps = range(1, 5)
    publisher = [span("publisher", p, s, NOW + s, NOW + s + 9, bytes=7) for s in steps for p in ("diff", "upload")]
    replica = [span("r1", p, s, NOW + s, NOW + s + 5) for s in steps for p in ("fetch", "pause", "sync")]
    notes = [span("trainer", "note", -1, 0, 5, note="größer"), span("trainer", "note", 2, NOW, NOW, note="")]
    limits = [span("a", "pause", 2**63 - 1, 0, 2**63 - 1, bytes=2**64 - 1), span("a", "sync", 1, 2**63 - 1, 2**63 - 1)]
    unsound = [span("", "diff", 1, 0, 1), span("a", "diff", -2, 0, 1), span("a", "diff", 1, 2, 1), [], {"actor": 1}]
    cut = lines(publisher)[:-20]
    out = {"publisher": publisher, "replica": replica + notes, "limits": limits + unsound}
    return {name: lines(rows) for name, rows in out.items()} | {"cut": cut}


def heartbeats():
    """name: a heartbeat"""
    return {
        "serving": lines([heartbeat(endpoint="http://10.0.0.7:8000", detail="größer")]),
        "stalled": lines([heartbeat(state="stalled", step=-1, period_s=0.25)]),
        "limits": lines([heartbeat(step=2**63 - 1, epoch=2**31 - 1, t_us=2**63 - 1, period_s=1e308)]),
        "unsound": lines([heartbeat(id="", period_s=-1)]),
        "two": lines([heartbeat(), heartbeat()]),
    }


def bundles():
    """name: a bundle, or its files packed"""
    out = {}
    for name, word in BUNDLES.items():
        with tempfile.TemporaryDirectory() as work:
            case = pathlib.Path(work) / "case"
            make(word, case, seed=1, steps=4, small=True)
            beside = case / "bucket" / ".deltascope" / "v1"
            for kind, seeds in {"spans": spans(), "replicas": heartbeats()}.items():
                (beside / kind).mkdir(parents=True)
                for seed, content in seeds.items():
                    (beside / kind / f"{seed}.json").write_bytes(content)
            for path in case.rglob("*"):
                os.utime(path, (1_767_225_600, 1_767_225_600))
            base = ["--base", case / "base"] if (case / "base").exists() else []
            bundle = case / "run.dscope"
            command = [os.environ["DELTASCOPE_BIN"], "export", case / "bucket", "--bundle", bundle, *base]
            environment = os.environ | {"DELTASCOPE_HOME": str(case / "home")}
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
            with zipfile.ZipFile(bundle) as archive:
                parts = {part: archive.read(part).replace(work.encode(), b"/data") for part in PARTS}
        out[name] = packed(parts)
        published = b'"published_at":'
        past = parts["snapshot.json"].replace(published + b"1", published + b"-9223372036854775808,\"was\":1", 1)
        out[f"{name}-impossible-time"] = packed(parts | {"snapshot.json": past})
        archived = io.BytesIO()
        with zipfile.ZipFile(archived, "w") as archive:
            for part, content in parts.items():
                archive.writestr(zipfile.ZipInfo(part), content, zipfile.ZIP_DEFLATED)
        out[f"{name}.dscope"] = archived.getvalue()
    return out


def main():
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "seeds"
    for folder, words in SEEDS.items():
        (target / folder).mkdir(parents=True, exist_ok=True)
        for word in words:
            with tempfile.TemporaryDirectory() as work:
                case = pathlib.Path(work) / "case"
                make(word, case, seed=1, steps=2)
                (target / folder / word).write_bytes(pack(case / "bucket"))
    for folder, bucket in RECORDED.items():
        (target / folder).mkdir(parents=True, exist_ok=True)
        (target / folder / "recorded").write_bytes(pack(HERE.parent / "golden" / bucket))
    for folder, seeds in {"spans": spans(), "heartbeat": heartbeats(), "bundle": bundles()}.items():
        (target / folder).mkdir(parents=True, exist_ok=True)
        for name, content in seeds.items():
            (target / folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
