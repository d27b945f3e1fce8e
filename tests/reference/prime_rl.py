"""prime-rl: dense steps, and the two sparse branches. STABLE is the marker of all of them."""

import pathlib

from fold import fold
from replay import Version, broken
from tensors import (
    TORCH,
    Broken,
    State,
    Tensor,
    assign,
    is_zstd,
    matches,
    numbers,
    parse_safetensors,
    read_bytes,
    read_checkpoint,
    read_json,
    read_safetensors,
    safe_name,
    unzstd,
)


def patch_tensor(state: State, entry: dict, indices: Tensor, values: Tensor) -> None:
    name, shape = entry["name"], tuple(entry["shape"])
    dtype = TORCH.get(entry["dtype"].removeprefix("torch."))
    if values.dtype != dtype:
        raise Broken(f"{name!r}: values of {values.dtype}, the manifest says {entry['dtype']}")
    count = entry.get("changed_numel", entry.get("num_changed"))
    if values.elements != count:
        raise Broken(f"{name!r}: {values.elements} values, the manifest says {count}")
    if name not in state:  # new: written with every position
        blank = Tensor(dtype, shape, b"")
        if count != blank.elements:
            raise Broken(f"{name!r} is not in the state before and not whole here")
        state[name] = blank._replace(data=bytes(blank.elements * blank.item))
    if state[name].shape != shape:
        raise Broken(f"{name!r} has the shape {list(state[name].shape)}, not {list(shape)}")
    state[name] = assign(state[name], numbers(indices, ("I32", "I64")), values)


def update(folder: pathlib.Path, manifest: dict):
    """sparse_update_manifest.json, PR #2823"""

    def build(before: State | None) -> State:
        if manifest.get("version") != 1:
            raise Broken(f"version {manifest.get('version')!r}")
        state = dict(before)
        tensors: State = {}
        if manifest["patch_file"] is not None:
            data = read_bytes(folder / safe_name(manifest["patch_file"]))
            if is_zstd(data) != bool(manifest["compressed"]):
                raise Broken(f"compressed is {manifest['compressed']}, the file says otherwise")
            tensors = parse_safetensors(unzstd(data) if is_zstd(data) else data)[1]
        for entry in manifest["tensors"]:
            indices, values = tensors[entry["indices"]], tensors[entry["values"]]
            if fold(indices) ^ fold(values) != entry["checksum"]:
                raise Broken(f"{entry['name']!r} has the checksum {fold(indices) ^ fold(values)}")
            patch_tensor(state, entry, indices, values)
        return state

    return build


def patches(folder: pathlib.Path, manifest: dict):
    """sparse_manifest.json, PR #2607"""

    def build(before: State | None) -> State:
        state = dict(before)
        for file in manifest["patch_files"]:
            tensors = read_safetensors(folder / safe_name(file["file"]))[1]
            for entry in file["tensors"]:
                patch_tensor(state, entry, tensors[entry["indices_key"]], tensors[entry["values_key"]])
        return state

    return build


def version(step: int, folder: pathlib.Path) -> Version:
    if not (folder / "STABLE").exists():
        return Version(step, "anchor", None, broken("no STABLE: abandoned, or not yet published"))
    if (folder / "sparse_update_manifest.json").exists():
        manifest = read_json(folder / "sparse_update_manifest.json")
        wanted, build = "prime-rl-sparse-update", update(folder, manifest)
    elif (folder / "sparse_manifest.json").exists():
        manifest = read_json(folder / "sparse_manifest.json")
        wanted, build = "prime_rl_sparse_filesystem_v1", patches(folder, manifest)
    else:
        return Version(step, "anchor", None, lambda _before: read_checkpoint(folder))
    if manifest["format"] != wanted or manifest["step"] != step:
        raise Broken(f"format {manifest['format']!r}, step {manifest['step']}")
    if manifest.get("type") == "full":
        return Version(step, "anchor", None, lambda _before: read_checkpoint(folder))
    return Version(step, "delta", manifest["base_step"], build)


def versions(source: pathlib.Path, _layout: str) -> list[Version]:
    folders = {}
    for match in matches(source, r"step_(?P<step>\d+)/[^/]+"):
        folders[int(match["step"])] = (source / match[0]).parent
    out = []
    for step, folder in sorted(folders.items()):
        try:
            out.append(version(step, folder))
        except (Broken, KeyError) as error:
            out.append(Version(step, "delta", None, broken(str(error))))
    return out
