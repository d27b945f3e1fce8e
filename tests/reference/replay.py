"""Replay of a run, step after step."""

import dataclasses
import struct
from collections.abc import Callable
from typing import NamedTuple

from tensors import Broken, State, changed_elements, digests


class Version(NamedTuple):
    step: int
    kind: str  # anchor, partial_anchor or delta
    base_step: int | None  # whose state build() wants; None for an anchor
    build: Callable[[State | None], State]  # raises Broken
    alone: bool = False  # build() needs no state before it, although the version counts as a delta


@dataclasses.dataclass
class Step:
    version: Version
    state: State | None = None
    changed: int | None = None
    error: str = ""

    def row(self) -> dict:
        out = {
            "step": self.version.step,
            "kind": self.version.kind,
            "base_step": self.version.base_step,
            "changed_elems": self.changed,
        }
        if self.state is None:
            return out | {"error": self.error}
        return out | {"tensors": {name: digests(self.state[name]) for name in sorted(self.state)}}


def replay(versions: list[Version], base: State | None = None, base_step: int = 0) -> list[Step]:
    """All steps in ascending order. A step that cannot be rebuilt says why, and is the end of what builds on it."""
    states: dict[int, State] = {}
    if base is not None:
        states[base_step] = base
    out = []
    for version in sorted(versions, key=lambda version: version.step):
        step = Step(version)
        before = None if version.base_step is None else states.get(version.base_step)
        try:
            if before is None and version.base_step is not None and not version.alone:
                raise Broken(f"step {version.base_step}, on which it builds, is not there or cannot be rebuilt")
            step.state = version.build(before)
        except Broken as error:
            step.error = str(error)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error) as error:
            step.error = f"a file is not sound: {error!r}"
        else:
            states[version.step] = step.state
            if version.base_step is None:
                step.changed = sum(tensor.elements for tensor in step.state.values())
            elif before is not None:
                step.changed = changed_elements(before, step.state)
        out.append(step)
    return out


def broken(text: str) -> Callable[[State | None], State]:
    """For a version of which only this much is known."""

    def build(_before):
        raise Broken(text)

    return build
