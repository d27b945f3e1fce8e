"""A run whose values move as those of a model in training: FP32 weights that AdamW would move by about the learning
rate, published as BF16. Deltas hold a few percent of the elements, most of them moved to the next number.
"""

import pathlib
from collections.abc import Callable

import case_trl
import case_xor
import numpy

from case_model import Case, bf16
from tensors import State, words

ENCODERS = {"trl-v2": ("trl-v2", case_trl.v2), "slime-v2-xor": ("slime-v2", case_xor.slime_v2_xor)}
case_trl.HOLE = -1  # no number is missing here


def to_bf16(values: numpy.ndarray) -> numpy.ndarray:
    """Rounds to nearest, ties to even."""
    bits = values.astype("<f4").view("<u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def from_bf16(bits: numpy.ndarray) -> numpy.ndarray:
    return (bits.astype("<u4") << 16).view("<f4")


class Training:
    """What the encoders take for a model."""

    SHAPES = {
        "model.embed.weight": (256, 32),
        "model.layers.0.mlp.weight": (128, 64),
        "model.layers.1.mlp.weight": (128, 64),
        "model.experts.0.weight": (64, 64),
        "model.experts.1.weight": (64, 64),
        "model.layers.0.norm.weight": (64,),
        "model.layers.1.norm.weight": (64,),
        "model.lora_b.weight": (64, 8),
        "model.frozen.weight": (32, 16),
    }

    def __init__(self, seed: int, rate: Callable[[int], float], changes: Callable | None = None):
        """rate(step): the learning rate. changes(step, before, after): the state that is published instead of `after`."""
        self.random = numpy.random.default_rng(seed)
        self.rate = rate
        self.changes = changes
        self.masters = {}
        for name, shape in self.SHAPES.items():
            if "norm" in name:
                self.masters[name] = numpy.ones(shape, "f4")
            elif "lora_b" in name:
                self.masters[name] = numpy.zeros(shape, "f4")
            else:
                self.masters[name] = self.random.normal(0, 0.02, shape).astype("f4")
        self.state = self.published()

    def bytes_only(self):
        """No types that only byte patches carry."""

    def published(self) -> State:
        return {name: bf16(master.shape, to_bf16(master).ravel()) for name, master in self.masters.items()}

    def is_trained(self, name: str) -> bool:
        if name == "model.experts.1.weight":  # rarely chosen
            return self.random.random() < 0.15
        return name != "model.frozen.weight"

    def step(self, number: int) -> State:
        rate = self.rate(number)
        for name, master in self.masters.items():
            if self.is_trained(name):
                master -= rate * self.random.normal(0.1, 1, master.shape).astype("f4")
        before, self.state = self.state, self.published()
        after = self.changes(number, before, self.state) if self.changes else self.state
        return dict(after)


class TrainedCase(Case):
    def __init__(self, folder: pathlib.Path, layout: str, training: Training, anchor_every: int):
        super().__init__(folder, layout, "tests/damage/training.py", anchor_every=anchor_every)
        self.training = training

    def model(self, seed, **options):
        return self.training


def make_run(word: str, folder: pathlib.Path, training: Training, steps: int, anchor_every: int) -> None:
    layout, encode = ENCODERS[word]
    encode(TrainedCase(folder, layout, training, anchor_every), 0, steps)


# --- what goes wrong with values: each takes the states around a step and gives the one that is published ----------------


def at(step: int, corrupt: Callable) -> Callable:
    return lambda number, before, after: corrupt(before, after) if number == step else after


def with_bits(state: State, name: str, bits: numpy.ndarray) -> State:
    return state | {name: state[name]._replace(data=bits.astype("<u2").tobytes())}


LAYER = "model.layers.0.mlp.weight"
NORM = "model.layers.1.norm.weight"


def turns_signs_over(before: State, after: State) -> State:
    """Of every element that changes."""
    old, new = words(before[LAYER]), words(after[LAYER])
    return with_bits(after, LAYER, numpy.where(old != new, new ^ 0x8000, new))


def turns_all_signs_over(before: State, after: State) -> State:
    return with_bits(after, LAYER, words(after[LAYER]) ^ 0x8000)


def gives_random_bits(before: State, after: State) -> State:
    """To a fifth of a tensor."""
    random = numpy.random.default_rng(1)
    bits = words(after[LAYER]).copy()
    chosen = random.random(len(bits)) < 0.2
    bits[chosen] = random.integers(0, 0x7F80, chosen.sum(), "<u2")  # finite
    return with_bits(after, LAYER, bits)


def has_a_nan(before: State, after: State) -> State:
    bits = words(after[LAYER]).copy()
    bits[77] = 0x7FC0
    return with_bits(after, LAYER, bits)


def has_infinities(before: State, after: State) -> State:
    bits = words(after[LAYER]).copy()
    bits[100:140] = 0xFF80
    return with_bits(after, LAYER, bits)


def makes_a_norm_zero(before: State, after: State) -> State:
    return with_bits(after, NORM, words(after[NORM]) * 0)


def makes_a_layer_constant(before: State, after: State) -> State:
    return with_bits(after, LAYER, words(after[LAYER]) * 0 + 0x3C00)


def scales_a_layer(before: State, after: State) -> State:
    return with_bits(after, LAYER, to_bf16(from_bf16(words(after[LAYER])) * 1.5))


def leaves_a_tensor_out(before: State, after: State) -> State:
    return after | {LAYER: before[LAYER]}
