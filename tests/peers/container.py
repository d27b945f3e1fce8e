"""safetensors files and Hugging Face checkpoints, through the safetensors package.

numpy has no BF16, so tensors are bytes here. A state is {name: Tensor}; a Tensor has the
dtype word of the file, the shape, and the bytes.
"""

import json
import pathlib
from typing import NamedTuple

import numpy
import safetensors

# word in the file -> word that the package wants when it writes
DTYPES = {
    "BF16": "bfloat16",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "I32": "int32",
    "I64": "int64",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "BOOL": "bool",
}


class Tensor(NamedTuple):
    dtype: str
    shape: tuple
    data: bytes

    @property
    def elements(self):
        product = 1
        for size in self.shape:
            product *= size
        return product


def read_file(path):
    """(metadata, {name: Tensor}) of one file. The package refuses what breaks the format, also a file cut short."""
    with safetensors.safe_open(path, framework="np") as file:
        metadata = file.metadata() or {}
    return metadata, {
        name: Tensor(info["dtype"], tuple(info["shape"]), bytes(info["data"]))
        for name, info in safetensors.deserialize(pathlib.Path(path).read_bytes())
    }


def read_checkpoint(folder):
    """The files that the index names, or model.safetensors."""
    folder = pathlib.Path(folder)
    index = folder / "model.safetensors.index.json"
    names = {"model.safetensors"}
    if index.exists():
        names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    state = {}
    for name in sorted(names):
        tensors = read_file(folder / name)[1]
        twice = state.keys() & tensors.keys()
        if twice:
            raise ValueError(f"{folder}: {sorted(twice)} in two files")
        state.update(tensors)
    return state


def write_file(path, state, metadata=None):
    kept = {name: numpy.frombuffer(tensor.data, numpy.uint8) for name, tensor in state.items()}
    tensors = {
        name: safetensors.TensorSpec(
            dtype=DTYPES[tensor.dtype], shape=tensor.shape, data_ptr=kept[name].ctypes.data, data_len=len(tensor.data)
        )
        for name, tensor in state.items()
    }
    safetensors.serialize_file(tensors, str(path), metadata)


def write_checkpoint(folder, state):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    write_file(folder / "model.safetensors", state, {"format": "pt"})
    return str(folder)
