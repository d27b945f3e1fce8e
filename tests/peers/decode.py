#!/usr/bin/env python3
"""Reads published runs as the frameworks' receivers do, with the packages that they use.

usage: decode.py SOURCE LAST [--base DIR]

Prints the state after version LAST, a line per tensor: XXH3-128 and SHA-256 of its bytes, dtype, shape, name. The order
of what is done, the metadata that is read and the checks follow TRL's vLLM worker and SGLang's /pull_weights
(docs/formats/trl-v2.md and slime-v2.md name the commits). What a receiver refuses is refused; what it does not look at
is not looked at here either, and is checked by writer_rules.py.
"""

import argparse
import hashlib
import json
import pathlib
import re
import sys
import zlib

import blake3
import numpy
import safetensors
import xxhash
import zstandard

from container import read_checkpoint, read_file

BLOCK = 2 << 20


class Refused(Exception):
    """A receiver raises here, and serves what it had before."""


class TrlReceiver:
    """TRL's worker: told of each file in turn, it loads an anchor and scatters a delta into the weights that it has."""

    def __init__(self):
        self.state = {}

    @staticmethod
    def versions(source):
        """{step: path}; an anchor and a delta of one number do not occur in what one writer leaves."""
        return {
            int(path.stem.removeprefix("step_")): path
            for folder in ("deltas", "anchors")
            for path in sorted((pathlib.Path(source) / folder).glob("step_*.safetensors"))
        }

    def receive(self, path):
        try:
            metadata, tensors = read_file(path)
        except safetensors.SafetensorError as error:
            raise Refused(f"{path}: {error}") from error
        if path.parent.name == "anchors":  # the trainer says "dense" with it
            self.state.update(tensors)
            return
        encoding = metadata.get("encoding", "gap_delta")
        patches = []
        for name in sorted(key.removesuffix(".val") for key in tensors if key.endswith(".val")):
            if f"{name}.idx" not in tensors:
                raise Refused(f"{path}: {name} has values and no positions")
            patches.append((name, self.positions(tensors[f"{name}.idx"], encoding), tensors[f"{name}.val"]))
        for name, positions, values in patches:
            self.scatter(name, positions, values)

    @staticmethod
    def positions(index, encoding):
        if encoding == "raw":
            return numpy.frombuffer(index.data, {"I32": "<i4"}[index.dtype])
        if encoding == "gap_delta":
            gaps = numpy.frombuffer(index.data, {"U16": "<u2", "U32": "<u4"}[index.dtype])
            return (numpy.cumsum(gaps.astype(numpy.int64) + 1) - 1).astype(numpy.int32)
        raise Refused(f"encoding {encoding}")

    def scatter(self, name, positions, values):
        """index_copy_ on the flat parameter: dtypes and lengths must agree, and every position must be inside."""
        if name not in self.state:
            raise Refused(f"{name} is not in the snapshot")
        target = self.state[name]
        if values.dtype != target.dtype or values.dtype != "BF16":
            raise Refused(f"{name}: {values.dtype} into {target.dtype}")
        if values.elements != len(positions):
            raise Refused(f"{name}: {len(positions)} positions for {values.elements} values")
        words = numpy.frombuffer(target.data, "<u2").copy()
        if len(positions) and not (0 <= positions.min() and positions.max() < len(words)):
            raise Refused(f"{name}: a position outside of {len(words)} elements")
        words[positions] = numpy.frombuffer(values.data, "<u2")
        self.state[name] = target._replace(data=words.tobytes())


class Adler32:
    def __init__(self):
        self.value = 1

    def update(self, data):
        self.value = zlib.adler32(data, self.value)

    def hexdigest(self):
        return f"{self.value:08x}"


HASHERS = {"xxh3-128": xxhash.xxh3_128, "blake3": blake3.blake3, "adler32": Adler32}


class SlimeReceiver:
    """SGLang's host-local checkpoint: seeded with the base, then patched in place, version by version."""

    def __init__(self, base):
        self.state = read_checkpoint(base)
        self.applied = 0

    @staticmethod
    def versions(source):
        return {
            int(path.name.removeprefix("weight_v")): path
            for path in sorted(pathlib.Path(source).glob("weight_v*"))
            if re.fullmatch(r"weight_v\d{6,}", path.name)
        }

    def receive(self, folder):
        index = self.index(folder)
        metadata = index.get("metadata", {})
        if "delta_encoding" not in metadata:
            self.state = read_checkpoint(folder)
            self.applied = int(folder.name.removeprefix("weight_v"))
            return
        if self.applied != int(metadata["base_version"]):
            raise Refused(f"{folder}: builds on {metadata['base_version']}, {self.applied} is here")
        if metadata["compression_format"] != "zstd":
            raise Refused(f"{folder}: compression {metadata['compression_format']}")
        if metadata["delta_encoding"] not in ("xor", "overwrite"):
            raise Refused(f"{folder}: encoding {metadata['delta_encoding']}")
        items = self.items(folder, index["weight_map"])
        wrong = []
        for name, patch, wanted in items:
            hasher = HASHERS[metadata["checksum_format"]]()
            data = getattr(self, metadata["delta_encoding"])(name, patch, hasher)
            if hasher.hexdigest() != wanted:
                wrong.append(name)
            self.state[name] = self.state[name]._replace(data=data)
        if wrong:
            raise Refused(f"{folder}: another checksum after applying: {wrong}")
        self.applied = int(metadata["version"])

    @staticmethod
    def index(folder):
        path = folder / "model.safetensors.index.json"
        if path.exists():
            return json.loads(path.read_text(encoding="utf-8"))
        if [file.name for file in folder.glob("*.safetensors")] != ["model.safetensors"]:
            raise Refused(f"{folder}: no index, so nothing is published")
        return {}

    def items(self, folder, weight_map):
        """(name, compressed patch, recorded checksum): of the files of the index only, and exactly its names."""
        out = []
        for file in sorted(set(weight_map.values())):
            try:
                checksums, tensors = read_file(folder / file)
            except (OSError, safetensors.SafetensorError) as error:
                raise Refused(f"{folder / file}: {error}") from error
            expected = {name for name, holder in weight_map.items() if holder == file}
            if tensors.keys() != expected:
                raise Refused(f"{folder / file}: index and file differ in {sorted(tensors.keys() ^ expected)}")
            missing = expected - self.state.keys()
            if missing:
                raise Refused(f"{folder / file}: {sorted(missing)} not in the local checkpoint")
            out += [(name, tensor.data, checksums.get(name)) for name, tensor in tensors.items()]
        return out

    def xor(self, name, patch, hasher):
        region = numpy.frombuffer(self.state[name].data, numpy.uint8).copy()
        reader = zstandard.ZstdDecompressor().stream_reader(patch)
        at = 0
        while at < len(region) and (block := reader.read(min(BLOCK, len(region) - at))):
            region[at : at + len(block)] ^= numpy.frombuffer(block, numpy.uint8)
            hasher.update(region[at : at + len(block)])
            at += len(block)
        return region.tobytes()

    def overwrite(self, name, patch, hasher):
        region = numpy.frombuffer(self.state[name].data, numpy.uint8).copy()
        delta = numpy.frombuffer(zstandard.ZstdDecompressor().decompress(patch), numpy.uint8)
        count = int.from_bytes(delta[:4].tobytes(), "little")
        positions = numpy.frombuffer(delta[4 : 4 + 4 * count].tobytes(), "<u4")
        region[positions] = delta[4 + 4 * count :]
        hasher.update(region)
        return region.tobytes()


def follow(source, base=None):
    """Yields (version, state) as a receiver has them that follows the run from its start; Refused where it refuses."""
    receiver = SlimeReceiver(base) if base else TrlReceiver()
    for version, path in sorted(receiver.versions(source).items()):
        receiver.receive(path)
        yield version, dict(receiver.state)


def digests(tensor):
    return {
        "dtype": tensor.dtype,
        "shape": list(tensor.shape),
        "xxh3_128": xxhash.xxh3_128_hexdigest(tensor.data),
        "sha256": hashlib.sha256(tensor.data).hexdigest(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("source")
    parser.add_argument("last", type=int)
    parser.add_argument("--base")
    arguments = parser.parse_args()
    try:
        states = (state for version, state in follow(arguments.source, arguments.base) if version == arguments.last)
        state = next(states, None)
    except Refused as error:
        print(f"refused: {error}", file=sys.stderr)
        return 1
    if state is None:
        print(f"version {arguments.last} is not there", file=sys.stderr)
        return 1
    for name in sorted(state):
        row = digests(state[name])
        print(row["xxh3_128"], row["sha256"], row["dtype"], row["shape"], name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
