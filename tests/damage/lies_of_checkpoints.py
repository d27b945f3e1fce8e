"""Lies (lies.py) of layouts whose versions all stand alone: hf, trl-adapter, dcp.

They record no digest that covers a state, so such a version is never more than `first_sight`; what must be seen is that
it contradicts itself, or that it holds something else than the version before it.
"""

import case_dcp
from case_model import SmallModel
from lies import INDEX, data_keys, edit_file, edit_json, flipped, key_of, lie, remove
from tensors import Tensor

SHARDED = "hf"
ADAPTER = "trl-adapter"
DCP = "dcp"


def first_name(tensors):
    return sorted(tensors)[0]


def transposed(tensor: Tensor) -> Tensor:
    return tensor._replace(shape=tensor.shape[::-1])


# --- hf ---------------------------------------------------------------------------------------------------------------


def without(files):
    """Takes what is in these files out of an index."""

    def change(index):
        index["weight_map"] = {name: file for name, file in index["weight_map"].items() if file not in files}

    return change


def file_of(key):
    return key.rsplit("/", 1)[1]


@lie(SHARDED, "DS-MISSING-TENSOR")
def loses_a_shard_and_its_entries(bucket, step):
    key = data_keys(bucket, step)[1]
    edit_json(bucket, key_of(bucket, step, INDEX), without([file_of(key)]))
    remove(bucket, key)


@lie(SHARDED, "DS-UNFINISHED")
def loses_a_shard(bucket, step):
    remove(bucket, data_keys(bucket, step)[1])


@lie(SHARDED, "DS-MISSING-TENSOR")
def leaves_a_shard_out_of_the_index(bucket, step):
    edit_json(bucket, key_of(bucket, step, INDEX), without([file_of(data_keys(bucket, step)[2])]))


@lie(SHARDED, "DS-MALFORMED")
def names_a_tensor_that_no_file_has(bucket, step):
    file = file_of(data_keys(bucket, step)[0])
    more = {"model.more.weight": file}
    edit_json(bucket, key_of(bucket, step, INDEX), lambda index: index["weight_map"].update(more))


@lie(SHARDED, "DS-PARTIAL-ANCHOR")
def loses_a_tensor_in_index_and_file(bucket, step):
    lost = []

    def change(_, tensors):
        lost.append(first_name(tensors))
        del tensors[lost[0]]

    edit_file(bucket, data_keys(bucket, step)[0], change)
    edit_json(bucket, key_of(bucket, step, INDEX), lambda index: index["weight_map"].pop(lost[0]))


@lie(SHARDED, "DS-DUPLICATE-NAME")
def holds_two_values_of_a_tensor(bucket, step):
    taken = {}
    first, second = data_keys(bucket, step)[:2]
    edit_file(bucket, first, lambda _, tensors: taken.update({first_name(tensors): tensors[first_name(tensors)]}))

    def change(_, tensors):
        tensors.update({name: tensor._replace(data=flipped(tensor.data)) for name, tensor in taken.items()})

    edit_file(bucket, second, change)


@lie(SHARDED, "DS-PARTIAL-ANCHOR")
@lie(ADAPTER, "DS-PARTIAL-ANCHOR")
def turns_a_matrix_over(bucket, step):
    def change(_, tensors):
        name = next(name for name in sorted(tensors) if len(set(tensors[name].shape)) > 1)
        tensors[name] = transposed(tensors[name])

    edit_file(bucket, data_keys(bucket, step)[0], change)


# --- trl-adapter ------------------------------------------------------------------------------------------------------


@lie(ADAPTER, "DS-PARTIAL-ANCHOR")
def loses_one_half_of_a_pair(bucket, step):
    edit_file(bucket, data_keys(bucket, step)[0], lambda _, tensors: tensors.pop(first_name(tensors)))


@lie(ADAPTER, "DS-PARTIAL-ANCHOR")
def gives_a_tensor_another_name(bucket, step):
    def change(_, tensors):
        name = first_name(tensors)
        tensors[name.replace("q_proj", "k_proj")] = tensors.pop(name)

    edit_file(bucket, data_keys(bucket, step)[0], change)


@lie(ADAPTER, "DS-PARTIAL-ANCHOR")
def gives_a_tensor_another_type(bucket, step):
    def change(_, tensors):
        name = first_name(tensors)
        tensors[name] = tensors[name]._replace(dtype="I32")

    edit_file(bucket, data_keys(bucket, step)[0], change)


@lie(ADAPTER, "DS-UNFINISHED")
def loses_its_config(bucket, step):
    remove(bucket, key_of(bucket, step, "adapter_config.json"))


@lie(ADAPTER, "DS-TRUNCATED", "DS-MALFORMED")
def ends_early(bucket, step):
    key = data_keys(bucket, step)[0]
    bucket.write(key, bucket.read(key)[:-4])


# --- dcp --------------------------------------------------------------------------------------------------------------


def saved(bucket, step):
    """What case_dcp saved of a step, and the data files."""
    model = SmallModel(bucket.seed)
    for number in range(1, step + 1):
        state = model.step(number)
    return case_dcp.save(state)


def edit_metadata(bucket, step, change):
    """change(tensors, chunks) of .metadata."""
    save, _ = saved(bucket, step)
    change(save.tensors, save.chunks)
    bucket.write(key_of(bucket, step, ".metadata"), case_dcp.metadata(save))


def cut_matrix(tensors):
    """The name of a tensor whose rows lie with several ranks."""
    return next(name for name in sorted(tensors) if len(tensors[name].shape) > 1)


def chunks_of(chunks, name):
    return [at for at, chunk in enumerate(chunks) if chunk.name == name]


@lie(DCP, "DS-DIGEST")
def corrupts_bytes_under_a_checksum(bucket, step):
    chunk = saved(bucket, step)[0].chunks[1]
    key = key_of(bucket, step, chunk.file)
    at = chunk.offset + case_dcp.item(chunk.tensor).index(chunk.tensor.data)
    bucket.write(key, flipped(bucket.read(key), at))


@lie(DCP, "DS-DIGEST")
def corrupts_what_describes_a_tensor(bucket, step):
    """The strides of a matrix of two columns or more: another one of the same size."""
    chunk = next(c for c in saved(bucket, step)[0].chunks if c.row is not None)
    key = key_of(bucket, step, chunk.file)
    strides = case_dcp.opcodes((chunk.tensor.shape[1], 1))
    at = chunk.offset + case_dcp.item(chunk.tensor).index(strides)
    other = case_dcp.opcodes((chunk.tensor.shape[1] - 1, 1))
    data = bucket.read(key)
    bucket.write(key, data[:at] + other + data[at + len(other) :])


@lie(DCP, "DS-PARTIAL-ANCHOR")
def forgets_a_tensor(bucket, step):
    def change(tensors, chunks):
        name = cut_matrix(tensors)
        del tensors[name]
        chunks[:] = [chunk for chunk in chunks if chunk.name != name]

    edit_metadata(bucket, step, change)


@lie(DCP, "DS-PARTIAL-ANCHOR")
def forgets_the_rows_of_the_last_rank(bucket, step):
    """The tensor looks smaller and complete."""

    def change(tensors, chunks):
        name = cut_matrix(tensors)
        last = chunks.pop(chunks_of(chunks, name)[-1])
        rows = tensors[name].shape[0] - last.tensor.shape[0]
        tensors[name] = tensors[name]._replace(shape=(rows, *tensors[name].shape[1:]))

    edit_metadata(bucket, step, change)


@lie(DCP, "DS-MALFORMED")
def leaves_a_hole(bucket, step):
    edit_metadata(bucket, step, lambda tensors, chunks: chunks.pop(chunks_of(chunks, cut_matrix(tensors))[1]))


@lie(DCP, "DS-MALFORMED")
def places_a_chunk_twice(bucket, step):
    def change(tensors, chunks):
        first, second = (chunks[at] for at in chunks_of(chunks, cut_matrix(tensors))[:2])
        chunks.append(first._replace(file=second.file, offset=second.offset, bytes=second.bytes))

    edit_metadata(bucket, step, change)


@lie(DCP, "DS-MALFORMED")
def gives_a_tensor_the_item_of_another_shape(bucket, step):
    def change(tensors, chunks):
        one, other = (chunks_of(chunks, name)[0] for name in sorted(tensors)[:2])
        place = chunks[other]
        chunks[one] = chunks[one]._replace(file=place.file, offset=place.offset, bytes=place.bytes)

    edit_metadata(bucket, step, change)


@lie(DCP, "DS-UNFINISHED")
def loses_the_file_of_a_rank(bucket, step):
    remove(bucket, key_of(bucket, step, "__2_0.distcp"))
