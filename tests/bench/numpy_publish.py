#!/usr/bin/env python3
"""The numpy way to publish a step, as the frameworks' writers do it; the peer of `deltascope publish` in W6.

  numpy_publish.py --layout L --encoding E --from FILE --to FILE --into DIR --step N [--workers 1]

FILE is one safetensors file of BF16 tensors. Both are mapped, not copied. One thread, or a pool of processes over
tensors. trl-v2: 16-bit words compared, flatnonzero, gaps, one safetensors file. slime-v2: xor or overwrite of bytes,
zstd level 1, XXH3-128 of each new tensor, one file and the index. Files are synced and renamed, their folder is synced.
Prints {"seconds": S}, from opening the inputs to the last sync; starting Python and importing numpy is not counted.
"""

import argparse
import json
import mmap
import multiprocessing
import os
import pathlib
import time

import numpy as np
import safetensors
import safetensors.numpy
import xxhash
import zstandard

STATES = {}  # "from", "to": {name: words}; workers inherit it


def mapped(path):
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    words = {}
    for name, info in header.items():
        first, end = info["data_offsets"]
        words[name] = np.frombuffer(data, "<u2", (end - first) // 2, begin + first)
    return words


# --- one tensor: (name, what is stored), or None ---------------------------------------------------------------------


def trl(name, encoding):
    old, new = STATES["from"][name], STATES["to"][name]
    index = np.flatnonzero(new != old)
    if not index.size:
        return None
    values = np.take(new, index)
    if encoding == "raw":
        return name, index.astype("<i4"), values
    gaps = np.diff(index, prepend=-1) - 1
    return name, gaps.astype("<u2" if gaps.max() <= 0xFFFF else "<u4"), values


def slime(name, encoding):
    old, new = (STATES[side][name].view(np.uint8) for side in ("from", "to"))
    if encoding == "xor":
        diff = new ^ old
        changed = np.count_nonzero(diff)
    else:
        mask = new != old
        positions = np.flatnonzero(mask).astype("<u4")
        changed = positions.size
        count = np.array([changed], "<u4")
        diff = np.concatenate([count.view(np.uint8), positions.view(np.uint8), new[mask]])
    if not changed:
        return None
    return name, zstandard.ZstdCompressor(level=1).compress(diff), xxhash.xxh3_128_hexdigest(new)


# --- a version -------------------------------------------------------------------------------------------------------


def sync(path):
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def put(path, data):
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def put_trl(into, step, encoding, parts):
    elements = sum(STATES["to"][name].size for name, _, _ in parts)
    written = sum(values.size for _, _, values in parts)
    metadata = {
        "format": "sparse_weight_patch",
        "version": "1",
        "sparse": "True",
        "model_version": str(step),
        "num_changed_params": str(len(parts)),
        "total_changed_elements": str(written),
        "total_elements": str(elements),
        "sparsity": str(1.0 - written / elements),
        "encoding": encoding,
    }
    tensors = {}
    for name, index, values in parts:
        for end, array, dtype in (("idx", index, index.dtype.name), ("val", values, "bfloat16")):
            tensors[f"{name}.{end}"] = safetensors.TensorSpec(
                dtype=dtype, shape=array.shape, data_ptr=array.ctypes.data, data_len=array.nbytes
            )
    folder = into / "deltas"
    folder.mkdir(exist_ok=True)
    path = folder / f"step_{step:06d}.safetensors"
    temporary = folder / (path.name + ".tmp")
    safetensors.serialize_file(tensors, str(temporary), metadata)
    sync(temporary)
    os.replace(temporary, path)
    sync(folder)


def put_slime(into, step, encoding, parts):
    folder = into / f"weight_v{step:06d}"
    folder.mkdir()
    file = "model-00000-of-00001.safetensors"
    delta = {name: np.frombuffer(frame, np.uint8) for name, frame, _ in parts}
    put(folder / file, safetensors.numpy.save(delta, {name: digest for name, _, digest in parts}))
    index = {
        "metadata": {
            "version": f"{step:06d}",
            "base_version": f"{step - 1:06d}",
            "delta_encoding": encoding,
            "compression_format": "zstd",
            "checksum_format": "xxh3-128",
        },
        "weight_map": dict.fromkeys(delta, file),
    }
    put(folder / "model.safetensors.index.json", json.dumps(index).encode())
    sync(folder)
    sync(into)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layout", choices=("trl-v2", "slime-v2"), required=True)
    parser.add_argument("--encoding", required=True)
    parser.add_argument("--from", dest="before", required=True)
    parser.add_argument("--to", required=True)
    parser.add_argument("--into", type=pathlib.Path, required=True)
    parser.add_argument("--step", type=int, required=True)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    encode, write = (trl, put_trl) if options.layout == "trl-v2" else (slime, put_slime)
    began = time.perf_counter()
    STATES["from"], STATES["to"] = mapped(options.before), mapped(options.to)
    work = [(name, options.encoding) for name in STATES["to"]]
    if options.workers == 1:
        parts = [encode(*item) for item in work]
    else:
        with multiprocessing.get_context("fork").Pool(options.workers) as pool:
            parts = pool.starmap(encode, work, chunksize=1)
    write(options.into, options.step, options.encoding, [part for part in parts if part])
    print(json.dumps({"seconds": time.perf_counter() - began}))


if __name__ == "__main__":
    main()
