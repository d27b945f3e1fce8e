"""TRL: trl-v1.0, trl-v1.1, trl-v1.2 and trl-v2. One safetensors file per step."""

import hashlib
import pathlib

import numpy

from replay import Version, broken
from tensors import Broken, State, Tensor, assign, matches, numbers, read_header, read_safetensors

STREAMS = {
    "trl-v1.0": (".indices", ".values"),
    "trl-v1.1": (".indices", ".values"),
    "trl-v1.2": (".indices", ".values"),
    "trl-v2": (".idx", ".val"),
}


def files(source: pathlib.Path, layout: str) -> dict[int, pathlib.Path]:
    """Of two files with one number the one that was published later; at equal times the anchor."""
    folders = "steps" if layout == "trl-v1.1" else "anchors|deltas"
    found: dict[int, pathlib.Path] = {}
    for match in matches(source, rf"(?P<folder>{folders})/step_(?P<number>\d{{6,}})\.safetensors"):
        number, path = int(match["number"]), source / match[0]
        if match["number"] != f"{number:06d}":
            continue
        other = found.get(number)
        if other is None or (path.stat().st_mtime_ns, match["folder"] == "anchors") > (
            other.stat().st_mtime_ns,
            other.parent.name == "anchors",
        ):
            found[number] = path
    return found


def is_full(layout: str, metadata: dict[str, str]) -> bool:
    """The metadata say it, not the folder."""
    if layout == "trl-v1.0":
        return metadata.get("format") == "anchor_checkpoint"
    if metadata.get("sparse") not in ("True", "False"):
        raise Broken(f"sparse is {metadata.get('sparse')!r}")
    return metadata["sparse"] == "False"


def positions(encoding: str, index: Tensor) -> numpy.ndarray:
    if encoding == "raw":
        return numbers(index, ("I32",))
    if encoding == "gap_delta":
        return numpy.cumsum(numbers(index, ("U16", "U32")) + 1) - 1
    raise Broken(f"unsupported encoding {encoding}")


def check_sum(layout: str, metadata: dict[str, str], state: State) -> State:
    """trl-v1.0: SHA-256 of the bytes of all tensors in the order of their names."""
    if layout == "trl-v1.0":
        total = hashlib.sha256()
        for name in sorted(state):
            total.update(state[name].data)
        if total.hexdigest() != metadata.get("checksum_sha256"):
            raise Broken(f"checksum_sha256 is {metadata.get('checksum_sha256')}, the weights have {total.hexdigest()}")
    return state


def full(layout: str, path: pathlib.Path):
    def build(before: State | None) -> State:
        metadata, tensors = read_safetensors(path)
        return check_sum(layout, metadata, (before or {}) | tensors)

    return build


def delta(layout: str, path: pathlib.Path):
    index_end, value_end = STREAMS[layout]

    def build(before: State | None) -> State:
        metadata, tensors = read_safetensors(path)
        tensors.pop("__empty_delta__", None)
        # flat indices are the raw encoding
        encoding = metadata.get("encoding", "gap_delta") if layout == "trl-v2" else "raw"
        state = dict(before)
        names = sorted(key.removesuffix(value_end) for key in tensors if key.endswith(value_end))
        if 2 * len(names) != len(tensors):
            raise Broken(f"{path.name}: positions and values do not come in pairs")
        for name in names:
            if name + index_end not in tensors:
                raise Broken(f"{path.name}: {name!r} has values and no positions")
            if name not in state:
                raise Broken(f"{path.name}: {name!r} is not in the state before")
            index = tensors[name + index_end]
            state[name] = assign(state[name], positions(encoding, index), tensors[name + value_end])
        return check_sum(layout, metadata, state)

    return build


def versions(source: pathlib.Path, layout: str) -> list[Version]:
    headers = {}
    unreadable = {}
    found = files(source, layout)
    for number, path in sorted(found.items()):
        try:
            metadata, entries = read_header(path)
            headers[number] = (path, is_full(layout, metadata), metadata, set(entries))
        except Broken as error:
            unreadable[number] = Version(number, "delta", number - 1, broken(f"{path.name}: {error}"), alone=True)
    # what a complete full file holds: the first one's tensors, else the most that any has
    full_names = [names for _, whole, _, names in headers.values() if whole]
    complete = max(full_names, key=len, default=set())
    if 1 in headers and headers[1][1]:
        complete = headers[1][3]
    out = list(unreadable.values())
    for number, (path, whole, metadata, names) in headers.items():
        lower = max((other for other in found if other < number), default=number - 1)
        if whole and complete <= names:
            out.append(Version(number, "anchor", None, full(layout, path)))
        elif whole:  # replaces what it holds; the rest carries over
            out.append(Version(number, "partial_anchor", lower, full(layout, path)))
        elif layout == "trl-v1.0":
            previous = metadata.get("prev_model_version", "")
            if not previous.isdigit():
                out.append(Version(number, "delta", lower, broken(f"prev_model_version is {previous!r}"), alone=True))
            else:
                out.append(Version(number, "delta", int(previous), delta(layout, path)))
        elif layout == "trl-v1.2":  # the number only advances with a file, so a hole is a loss
            out.append(Version(number, "delta", number - 1, delta(layout, path)))
        else:  # a hole may be a step without a change; TRL chains across it
            out.append(Version(number, "delta", lower, delta(layout, path)))
    return out
