"""PyTorch's distributed checkpoints: the .distcp form of dcp (docs/formats/dcp.md). Three ranks; matrices are cut into
rows, all else lies with one rank.

Pickles are written by hand, opcode by opcode, since nothing here may need torch.
"""

import io
import struct
import zipfile
from typing import NamedTuple

from case_model import Case
from tensors import State, Tensor

CHECKPOINT = "torch.distributed.checkpoint.metadata"
FILES = "torch.distributed.checkpoint.filesystem"
DTYPES = {
    "BF16": ("bfloat16", "BFloat16Storage"),
    "F16": ("float16", "HalfStorage"),
    "F32": ("float32", "FloatStorage"),
}
RANKS = 3


# --- pickles ----------------------------------------------------------------------------------------------------------


class Pairs:
    """A dict whose keys need no hash."""

    def __init__(self, *pairs):
        self.pairs = pairs


class Global(NamedTuple):
    module: str
    name: str


class Call(NamedTuple):
    function: Global
    arguments: tuple


class Record(NamedTuple):
    """An object of a class, made without arguments."""

    type: Global
    state: object


class Persistent(NamedTuple):
    """What torch.save puts in place of a storage."""

    reference: tuple


def opcodes(value) -> bytes:
    if isinstance(value, Global):
        return b"c" + f"{value.module}\n{value.name}\n".encode()
    if isinstance(value, Call):
        return opcodes(value.function) + opcodes(value.arguments) + b"R"
    if isinstance(value, Record):
        return opcodes(value.type) + b")\x81" + opcodes(value.state) + b"b"
    if isinstance(value, Persistent):
        return opcodes(value.reference) + b"Q"
    if isinstance(value, bool):
        return b"\x88" if value else b"\x89"
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    if isinstance(value, str):
        return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
    if isinstance(value, tuple):
        return b"(" + b"".join(map(opcodes, value)) + b"t"
    if isinstance(value, list):
        return b"](" + b"".join(map(opcodes, value)) + b"e"
    if isinstance(value, dict):
        return opcodes(Pairs(*value.items()))
    if isinstance(value, Pairs):
        return b"}(" + b"".join(opcodes(key) + opcodes(item) for key, item in value.pairs) + b"u"
    raise TypeError(value)


def pickled(value) -> bytes:
    return b"\x80\x02" + opcodes(value) + b"."


# --- a save -----------------------------------------------------------------------------------------------------------


class Chunk(NamedTuple):
    """Rows of a tensor, or all of it, and where its item lies."""

    name: str
    row: int | None  # None: a tensor without rows of its own
    tensor: Tensor
    file: str
    offset: int
    bytes: int

    @property
    def offsets(self) -> tuple[int, ...]:
        return (self.row or 0,) + (0,) * (len(self.tensor.shape) - 1) if self.tensor.shape else ()


class Save(NamedTuple):
    """What .metadata says, in the words of Python: what a lie changes before it is written again."""

    tensors: dict[str, Tensor]
    chunks: list[Chunk]


def item(tensor: Tensor) -> bytes:
    """What torch.save writes of a tensor: records stored plainly."""
    strides = []
    step = 1
    for size in reversed(tensor.shape):
        strides.insert(0, step)
        step *= max(size, 1)
    storage = ("storage", Global("torch", DTYPES[tensor.dtype][1]), "0", "cpu", tensor.elements)
    hooks = Call(Global("collections", "OrderedDict"), ())
    arguments = (Persistent(storage), 0, tensor.shape, tuple(strides), False, hooks)
    records = {
        "data.pkl": pickled(Call(Global("torch._utils", "_rebuild_tensor_v2"), arguments)),
        "byteorder": b"little",
        "data/0": tensor.data,
        "version": b"3\n",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in records.items():
            archive.writestr(zipfile.ZipInfo(f"archive/{name}"), content)
    return out.getvalue()


def parts_of(tensor: Tensor) -> list[tuple[int | None, Tensor]]:
    """What the ranks save of it."""
    if len(tensor.shape) < 2 or tensor.shape[0] < RANKS or not tensor.data:
        return [(None, tensor)]
    rows = tensor.shape[0]
    row_bytes = len(tensor.data) // rows
    cuts = [rows * rank // RANKS for rank in range(RANKS + 1)]
    out = []
    for begin, end in zip(cuts, cuts[1:], strict=False):
        data = tensor.data[begin * row_bytes : end * row_bytes]
        out.append((begin, Tensor(tensor.dtype, (end - begin, *tensor.shape[1:]), data)))
    return out


def save(state: State) -> tuple[Save, dict[str, bytes]]:
    """What is saved, and the data files by name."""
    files = {f"__{rank}_0.distcp": b"" for rank in range(RANKS)}
    out = Save(dict(state), [])
    for number, (name, tensor) in enumerate(state.items()):
        parts = parts_of(tensor)
        for rank, (row, part) in enumerate(parts):
            file = f"__{rank if len(parts) > 1 else number % RANKS}_0.distcp"
            data = item(part)
            out.chunks.append(Chunk(name, row, part, file, len(files[file]), len(data)))
            files[file] += data
    return out, files


def metadata(saved: Save) -> bytes:
    """.metadata"""

    def size(shape):
        return Call(Global("torch", "Size"), (shape,))

    layout = Call(Global("torch.serialization", "_get_layout"), ("torch.strided",))
    memory = Call(Global(CHECKPOINT, "_MEM_FORMAT_ENCODING"), (0,))
    tensors = {}
    for name, tensor in saved.tensors.items():
        kind_of_chunk = Global(CHECKPOINT, "ChunkStorageMetadata")
        chunks = [
            Record(kind_of_chunk, {"offsets": size(c.offsets), "sizes": size(c.tensor.shape)})
            for c in saved.chunks
            if c.name == name
        ]
        kind = (Global("torch", DTYPES[tensor.dtype][0]), layout, False, memory, False)
        tensors[name] = Record(
            Global(CHECKPOINT, "TensorStorageMetadata"),
            {
                "properties": Record(Global(CHECKPOINT, "TensorProperties"), kind),
                "size": size(tensor.shape),
                "chunks": chunks,
            },
        )
    storage = Pairs(
        *(
            (
                Record(Global(CHECKPOINT, "MetadataIndex"), {"fqn": c.name, "offset": size(c.offsets)}),
                Record(
                    Global(FILES, "_StorageInfo"), {"relative_path": c.file, "offset": c.offset, "length": c.bytes}
                ),
            )
            for c in saved.chunks
        )
    )
    return pickled(Record(Global(CHECKPOINT, "Metadata"), {"state_dict_metadata": tensors, "storage_data": storage}))


def files_of(state: State) -> dict[str, bytes]:
    saved, files = save(state)
    return files | {".metadata": metadata(saved)}


def distcp(case: Case, seed: int, steps: int) -> None:
    model = case.model(seed)
    for number in range(1, steps + 1):
        state = model.step(number)
        objects = [case.put(f"step-{number}/{file}", data) for file, data in files_of(state).items()]
        case.step(number, "anchor", None, None, state, objects)
    case.finish()
