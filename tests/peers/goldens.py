"""The golden buckets as sources of states."""

import json
import os
import pathlib

from container import read_checkpoint
from decode import Refused, digests, follow

GOLDEN = pathlib.Path(os.environ.get("DELTASCOPE_GOLDEN", pathlib.Path(__file__).resolve().parents[1] / "golden"))


def names():
    """Runs of deltas; hf-* hold checkpoints, the other folders no models."""
    return sorted(path.name for path in GOLDEN.iterdir() if path.name.startswith(("trl-v2-", "slime-v2-")))


def case(name):
    """(source, base or None, expected)"""
    folder = GOLDEN / name
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    base = folder / expected["base"] if expected.get("base") else None
    return folder / expected["source"], base, expected


def sums(state):
    return {name: digests(tensor) for name, tensor in state.items()}


def recorded(tensors):
    """The rows of expected.json, cut to what sums() has."""
    return {name: {key: row[key] for key in ("dtype", "shape", "xxh3_128", "sha256")} for name, row in tensors.items()}


def states(name):
    """The base, and every restorable state of a run that a receiver gets to; oldest first."""
    source, base, expected = case(name)
    restorable = {step["step"] for step in expected["steps"] if step["restorable"]}
    out = [read_checkpoint(base)] if base else []
    try:
        for step, state in follow(source, base):
            if step in restorable:
                out.append(state)
    except Refused:
        pass  # what came before it counts
    return out
