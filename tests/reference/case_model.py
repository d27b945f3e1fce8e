"""Models for made cases: what real ones hold rarely, and steps of them; and the folder that a case is.

The encoders in case_*.py were written from the format pages. They know the readers only through the container in
tensors.py.
"""

import json
import pathlib
import struct

import numpy

from tensors import State, Tensor, changed_elements, digests, format_safetensors, words

# quiet NaNs of both signs with payloads, then signaling ones, then infinities, numbers, zeros, the smallest numbers
QUIET_NANS = [0x7FC0, 0x7FC1, 0x7FFF, 0xFFC0, 0xFFD5, 0xFFFF]
SIGNALING_NANS = [0x7F81, 0x7FBF, 0xFF81, 0xFFA0]
OTHERS = [0x7F80, 0xFF80, 0x3F80, 0xBF81, 0x0001, 0x8001]
ZEROS = [0x0000, 0x8000]


def bf16(shape: tuple[int, ...], values) -> Tensor:
    return Tensor("BF16", shape, numpy.asarray(values, "<u2").tobytes())


class Model:
    """A state and its steps. What the layout cannot carry is switched off."""

    def __init__(self, seed, *, scalars=True, nans="all", zeros=True, fp32=True, other=True, tricky=True):
        self.random = numpy.random.default_rng(seed)
        self.rare = list(OTHERS)
        if nans in ("quiet", "all"):
            self.rare += QUIET_NANS
        if nans == "all":
            self.rare += SIGNALING_NANS
        if zeros:
            self.rare += ZEROS
        rare = numpy.resize(self.rare, 36)
        self.state: State = {
            "model.embed.weight": self.finite((97, 33)),
            "model.still.weight": self.finite((20, 4)),
            "model.whole.weight": self.finite((16, 8)),
            "model.größe.重み": self.finite((7, 5, 3)),
            "model.wide.weight": self.finite((2, 70_000)),
            "model.tall.weight": self.finite((700, 2)),
            "model.long.bias": self.finite((70_001,)),
            "model.one": self.finite((1,)),
            "model.rare": bf16((6, 6), rare),
            "model.empty": bf16((0,), []),
            "model.empty.rows": bf16((3, 0, 2), []),
        }
        if tricky:  # names that end like the streams of some layouts
            for suffix in ("", ".indices", ".values", ".idx", ".val"):
                self.state["model.tricky" + suffix] = self.finite((9,))
        if scalars:
            self.state["model.scalar"] = self.finite(())
        if fp32:
            self.state["model.norm.fp32"] = self.float32((13, 3))
            self.state["model.router.fp32"] = self.float32((40,))
        if other:
            self.state["model.scale.f16"] = Tensor("F16", (5,), self.random.integers(0, 0x7C00, 5, "<u2").tobytes())

    def finite(self, shape):
        """Numbers around one, of both signs, and no zero."""
        count = int(numpy.prod(shape, dtype=int))
        exponents = self.random.integers(118, 131, count)
        rest = self.random.integers(0, 128, count)
        signs = self.random.integers(0, 2, count)
        return bf16(shape, signs << 15 | exponents << 7 | rest)

    def float32(self, shape):
        return Tensor("F32", shape, self.random.normal(size=shape).astype("<f4").tobytes())

    def bytes_only(self):
        """Types that only byte patches carry."""
        self.state["model.steps.i64"] = Tensor("I64", (2, 2), self.random.bytes(32))
        self.state["model.mask"] = Tensor("BOOL", (4,), bytes([0, 1, 1, 0]))
        self.state["model.quantized.f8"] = Tensor("F8_E4M3", (5, 4), self.random.bytes(20))

    def add_nans(self):
        self.rare += QUIET_NANS + SIGNALING_NANS

    def edit(self, name, positions, flips=1):
        tensor = self.state[name]
        out = words(tensor).copy()
        out[positions] ^= out.dtype.type(flips)
        self.state[name] = tensor._replace(data=out.tobytes())

    def step(self, number: int) -> State:
        """Changes the state; a copy of it."""
        embed = self.state["model.embed.weight"].elements
        self.edit("model.embed.weight", self.random.choice(embed, 30 + number, replace=False), 0x0003)
        self.edit("model.whole.weight", slice(None), 0x0101 if number % 2 else 0x0055)
        self.edit("model.größe.重み", [0, 17 + number, 104], 0x8000)
        # gaps of 65,535 (the largest of 16 bits), in odd steps also of one more; columns above 65,535
        self.edit("model.wide.weight", [number, number + 65_536, number + 131_072 + number % 2, 139_999])
        self.edit("model.tall.weight", [1, 520 + number, 1399])
        self.edit("model.long.bias", [66_000 + 7 * number, 70_000] if number % 2 else [number, 300])
        if number % 2:
            self.edit("model.one", [0], 0x0100)
            if "model.scalar" in self.state:
                self.edit("model.scalar", [0], 0x0021)
        for suffix in ("", ".indices", ".values", ".idx", ".val"):
            if "model.tricky" + suffix in self.state:
                self.edit("model.tricky" + suffix, [number % 9, 8] if number % 9 < 8 else [8])
        if "model.norm.fp32" in self.state:
            self.edit("model.norm.fp32", [number % 39], 0x0000_0001)
            self.edit("model.router.fp32", [0, 39], 0x0001_8000)
        if "model.scale.f16" in self.state:
            self.edit("model.scale.f16", [number % 5])
        if "model.steps.i64" in self.state:
            self.edit("model.steps.i64", [0, 3], 1 << 40)
            self.edit("model.mask", [number % 4])
            self.edit("model.quantized.f8", [0, 19], 0x80)
        # every rare word becomes another one: NaN to NaN of another payload, number to NaN, zero to zero
        self.state["model.rare"] = bf16((6, 6), numpy.resize(self.rare[number % len(self.rare) :] + self.rare, 36))
        return dict(self.state)


class SmallModel(Model):
    """A few thousand bytes, for tests that make many broken copies. A tenth of the elements changes per step, always
    the lowest bit, so that many come back to what they were: after a lost step the no-op test has much to see."""

    def __init__(self, seed, *, scalars=True, nans="all", zeros=True, fp32=True, other=True, tricky=True):
        self.random = numpy.random.default_rng(seed)
        self.state: State = {
            "model.embed.weight": self.finite((20, 16)),
            "model.layer.weight": self.finite((16, 12)),
            "model.long.bias": self.finite((90,)),
            "model.still.weight": self.finite((20, 4)),
        }
        self.rare = []
        if fp32:
            self.state["model.norm.fp32"] = self.float32((60,))

    def bytes_only(self):
        finite = bytes(byte & 0xBF for byte in self.random.bytes(48))  # no step makes a NaN of them
        self.state["model.quantized.f8"] = Tensor("F8_E4M3", (8, 6), finite)

    def add_nans(self):
        pass

    def step(self, number: int) -> State:
        for name, tensor in self.state.items():
            if name == "model.still.weight" or (name == "model.long.bias" and number % 3 == 0):
                continue
            count = tensor.elements // 10 + 3
            self.edit(name, self.random.choice(tensor.elements, count, replace=False))
        return dict(self.state)


def is_nan(tensor: Tensor) -> numpy.ndarray:
    bits = words(tensor)
    if tensor.dtype == "BF16":
        return (bits & 0x7FFF) > 0x7F80
    if tensor.dtype == "F16":
        return (bits & 0x7FFF) > 0x7C00
    if tensor.dtype == "F32":
        return (bits & 0x7FFFFFFF) > 0x7F800000
    return numpy.zeros(len(bits), bool)


def changed_positions(before: Tensor, after: Tensor, floats=False) -> list[int]:
    """Positions whose bits differ; with floats also every NaN, as writers publish them that compare numbers."""
    out = words(before) != words(after)
    if floats:
        out |= is_nan(after)
    return [int(position) for position in numpy.flatnonzero(out)]


def take(tensor: Tensor, positions: list[int]) -> bytes:
    return b"".join(tensor.data[at * tensor.item : (at + 1) * tensor.item] for at in positions)


def widen(data: bytes) -> bytes:
    """BF16 as F32: the upper half of it."""
    return b"".join(b"\0\0" + data[at : at + 2] for at in range(0, len(data), 2))


def pattern(tensor: Tensor) -> int:
    """Exclusive or of all elements as 64 bits: numbers as bits of a double, integers as they are."""
    data = widen(tensor.data) if tensor.dtype == "BF16" else tensor.data
    code = {"U8": "B", "I32": "i", "I64": "q", "F16": "e", "BF16": "f", "F32": "f"}[tensor.dtype]
    out = 0
    for (value,) in struct.iter_unpack("<" + code, data):
        out ^= struct.unpack("<Q", struct.pack("<d", value))[0] if isinstance(value, float) else value
    return out


def dump(value, **options) -> bytes:
    return json.dumps(value, **options).encode()


class Case:
    """CASE/bucket, perhaps CASE/base, and CASE/expected.json."""

    def __init__(self, folder: pathlib.Path, layout: str, made_with: str, small=False, anchor_every: int | None = None):
        self.folder = folder
        self.small = small
        self.anchor_every = anchor_every
        self.expected = {"layout": layout, "source": "bucket", "base": None, "made_with": made_with, "steps": []}
        (folder / "bucket").mkdir(parents=True)

    def model(self, seed: int, **options) -> Model:
        return (SmallModel if self.small else Model)(seed, **options)

    def is_anchor(self, number: int, usual: int) -> bool:
        """Of a layout that has full versions now and then: usually every so many."""
        return number % (self.anchor_every or usual) == 0

    def put(self, key: str, data: bytes) -> str:
        path = self.folder / "bucket" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return key

    def base(self, state: State) -> None:
        """The checkpoint that the chain starts from, in two shards."""
        folder = self.folder / "base"
        folder.mkdir()
        for key, data in checkpoint(state, 2, pt=True).items():
            (folder / key).write_bytes(data)
        (folder / "config.json").write_bytes(b'{"model_type": "made"}\n')
        self.expected["base"] = "base"
        self.expected["base_tensors"] = {name: digests(tensor) for name, tensor in sorted(state.items())}

    def step(self, number, kind, base_step, before: State | None, after: State, objects: list[str], **more) -> None:
        total = sum(tensor.elements for tensor in after.values())
        self.expected["steps"].append(
            {
                "epoch": 0,
                "step": number,
                "kind": kind,
                "base_step": base_step,
                "changed_elems": total if before is None else changed_elements(before, after),
                "total_elems": total,
                "wire_bytes": sum((self.folder / "bucket" / key).stat().st_size for key in objects),
                "restorable": True,
                "objects": sorted(objects),
                **more,
                "tensors": {name: digests(tensor) for name, tensor in sorted(after.items())},
            }
        )

    def finish(self, **more) -> None:
        self.expected |= more
        self.expected["problems"] = []
        text = json.dumps(self.expected, indent=1, ensure_ascii=False) + "\n"
        (self.folder / "expected.json").write_text(text, encoding="utf-8")


def checkpoint(state: State, shards: int, pt: bool, metadata=None) -> dict[str, bytes]:
    """{file name: bytes} of a checkpoint in the manner of Hugging Face; metadata(tensors of a shard) may add keys."""
    names = sorted(state)
    out = {}
    weight_map = {}
    for shard in range(shards):
        part = {name: state[name] for name in names[shard::shards]}
        extra = {"format": "pt"} if pt else {}
        if metadata is not None:
            extra |= metadata(part)
        file = "model.safetensors" if shards == 1 else f"model-{shard + 1:05d}-of-{shards:05d}.safetensors"
        out[file] = format_safetensors(part, extra or None)
        weight_map |= dict.fromkeys(part, file)
    if shards > 1:
        size = sum(len(tensor.data) for tensor in state.values())
        index = {"metadata": {"total_size": size}, "weight_map": dict(sorted(weight_map.items()))}
        out["model.safetensors.index.json"] = dump(index, indent=2) + b"\n"
    return out
