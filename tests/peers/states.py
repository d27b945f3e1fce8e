"""Made states with what real models hold rarely: empty tensors, scalars, FP32 beside BF16, NaN payloads, both zeros."""

import numpy

from container import Tensor

# quiet and signaling NaNs of both signs and several payloads, infinities, both zeros, the smallest subnormal numbers
RARE_WORDS = [0x7FC0, 0x7FC1, 0x7F81, 0xFFC0, 0xFFFF, 0x7FFF, 0x7F80, 0xFF80, 0x0000, 0x8000, 0x0001, 0x8001]


def bf16(shape, words):
    return Tensor("BF16", shape, numpy.ascontiguousarray(words, "<u2").tobytes())


def edit(tensor, positions, flips=1):
    """The tensor with the words at the positions xored."""
    words = numpy.frombuffer(tensor.data, "<u2").copy()
    words[positions] ^= numpy.uint16(flips)
    return tensor._replace(data=words.tobytes())


def model(seed=1):
    random = numpy.random.default_rng(seed)

    def words(count):
        return random.integers(0, 1 << 16, count, dtype=numpy.uint16)

    def other(dtype, shape, count):
        return Tensor(dtype, shape, random.bytes(count))

    return {
        "embed.weight": bf16((701, 300), words(701 * 300)),
        "sparse.weight": bf16((3, 100_000), words(300_000)),
        "whole.weight": bf16((64, 48), words(64 * 48)),
        "still.weight": bf16((50, 3), words(150)),
        "rare": bf16((12, 12), numpy.repeat(RARE_WORDS, 12)),
        "one": bf16((1,), words(1)),
        "one.one": bf16((1, 1, 1), words(1)),
        "scalar": bf16((), words(1)),
        "empty": bf16((0,), words(0)),
        "empty.rows": bf16((0, 7), words(0)),
        "name.val": bf16((9,), words(9)),
        "name.idx": bf16((9,), words(9)),
        "name": bf16((9,), words(9)),
        "größe.weight": bf16((11,), words(11)),
        "norm.fp32": other("F32", (33,), 132),
        "scale.f16": other("F16", (5,), 10),
        "steps.i64": other("I64", (2, 2), 32),
        "mask.bool": Tensor("BOOL", (4,), bytes([0, 1, 1, 0])),
        "scalar.fp32": other("F32", (), 4),
    }


def next_bf16(state, seed):
    """A step that every layout carries: BF16 tensors with a dimension change, 1 % of them or all, or rarely."""
    random = numpy.random.default_rng(seed)
    out = dict(state)
    embed = state["embed.weight"].elements
    out["embed.weight"] = edit(state["embed.weight"], random.choice(embed, embed // 100, replace=False))
    out["sparse.weight"] = edit(state["sparse.weight"], [0, 65_536, 65_537, 131_074 + seed, 299_999], 0x8000)
    out["whole.weight"] = edit(state["whole.weight"], slice(None), 0x0101)
    # every rare word becomes every other one: 0 to -0, number to NaN, one payload to another
    words = numpy.frombuffer(state["rare"].data, "<u2")
    out["rare"] = bf16((12, 12), numpy.tile(RARE_WORDS, 12) if seed % 2 else words[::-1].copy())
    for name in ("one", "one.one", "name.val", "name.idx", "name", "größe.weight"):
        out[name] = edit(state[name], [0, -1][: min(2, state[name].elements)], 0x0101 if seed % 2 else 0x0100)
    return out


def with_scalar(state):
    return state | {"scalar": edit(state["scalar"], [0])}


def with_other_dtypes(state):
    """Every tensor that is neither BF16 nor a scalar."""
    out = dict(state)
    for name in ("norm.fp32", "scale.f16", "steps.i64", "mask.bool"):
        data = bytearray(state[name].data)
        data[0] ^= 1
        data[-1] ^= 1
        out[name] = state[name]._replace(data=bytes(data))
    return out
