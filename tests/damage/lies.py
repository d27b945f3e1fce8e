"""Lies: each takes a sound made bucket, changes what one version says or holds, and keeps everything else as it is.

They are plain about what must see them: `codes` are the words of which verify has to name at least one. Those of
layouts without deltas are in lies_of_checkpoints.py.
"""

import json
from typing import Callable, NamedTuple

import zstandard

from tensors import Tensor, format_safetensors, is_zstd, parse_safetensors, unzstd

INDEX = "model.safetensors.index.json"


class Lie(NamedTuple):
    word: str  # of the made bucket
    name: str
    codes: set[str]
    tell: Callable  # (bucket, step): changes the bucket; returns keys of objects that it added


LIES: list[Lie] = []


def lie(words: str, *codes: str):
    """Registers what follows for each of the layouts."""

    def register(tell):
        LIES.extend(Lie(word, tell.__name__, set(codes), tell) for word in words.split())
        return tell

    return register


# --- tools -----------------------------------------------------------------------------------------------------------


def key_of(bucket, step, end):
    return next(key for key in bucket.objects[step] if key.endswith(end))


def data_keys(bucket, step):
    return [key for key in bucket.objects[step] if key.endswith(".safetensors")]


def edit_json(bucket, key, change):
    document = json.loads(bucket.read(key))
    change(document)
    bucket.write(key, json.dumps(document).encode())


def edit_file(bucket, key, change):
    """change(metadata, tensors) of a safetensors file."""
    metadata, tensors = parse_safetensors(bucket.read(key))
    change(metadata, tensors)
    bucket.write(key, format_safetensors(tensors, metadata or None))


def flipped(data: bytes, at: int = 0) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def other_patch(tensor: Tensor) -> Tensor:
    """A patch that unpacks just as well and gives other bytes."""
    raw = zstandard.ZstdDecompressor().decompress(tensor.data, max_output_size=1 << 24)
    frame = zstandard.ZstdCompressor(level=1).compress(flipped(raw, len(raw) - 1))
    return Tensor("U8", (len(frame),), frame)


def remove(bucket, key):
    bucket.path(key).unlink()


def streams_of(tensors, ends):
    """Names of the tensors that a sparse file changes."""
    return sorted(name.removesuffix(ends[1]) for name in tensors if name.endswith(ends[1]))


TRL_ENDS = {
    "trl-v1.0": (".indices", ".values"),
    "trl-v1.1": (".indices", ".values"),
    "trl-v1.2": (".indices", ".values"),
    "trl-v2": (".idx", ".val"),
}

# --- one index for several files: slime-v2, modelexpress --------------------------------------------------------------

SLIME = "slime-v2-xor slime-v2-overwrite slime-v2-adler32"


@lie(f"{SLIME} modelexpress", "DS-CLAIM")
def takes_a_digest_away_and_corrupts_its_tensor(bucket, step):
    def change(metadata, tensors):
        name = sorted(tensors)[0]
        del metadata[name]
        tensors[name] = other_patch(tensors[name])

    edit_file(bucket, data_keys(bucket, step)[0], change)


@lie(f"{SLIME} modelexpress", "DS-CLAIM")
def leaves_one_digest_and_corrupts_all_other_tensors(bucket, step):
    left = []

    def change(metadata, tensors):
        for name in sorted(tensors):
            if left:
                del metadata[name]
                tensors[name] = other_patch(tensors[name])
            else:
                left.append(name)

    for key in data_keys(bucket, step):
        edit_file(bucket, key, change)


@lie(f"{SLIME} modelexpress", "DS-MISSING-TENSOR")
def empties_the_index(bucket, step):
    edit_json(bucket, key_of(bucket, step, INDEX), lambda index: index["weight_map"].clear())


@lie(f"{SLIME} modelexpress", "DS-MISSING-TENSOR")
def leaves_a_rank_out_of_the_index(bucket, step):
    file = data_keys(bucket, step)[0].rsplit("/", 1)[1]

    def change(index):
        index["weight_map"] = {name: where for name, where in index["weight_map"].items() if where != file}

    edit_json(bucket, key_of(bucket, step, INDEX), change)


@lie(f"{SLIME} modelexpress", "DS-MISSING-TENSOR")
def removes_a_rank_from_index_and_folder(bucket, step):
    leaves_a_rank_out_of_the_index(bucket, step)
    remove(bucket, data_keys(bucket, step)[0])


@lie(SLIME, "DS-MALFORMED")
def makes_a_full_version_of_a_delta(bucket, step):
    def change(index):
        index["metadata"] = {"version": index["metadata"]["version"]}

    edit_json(bucket, key_of(bucket, step, INDEX), change)


@lie(f"{SLIME} modelexpress", "DS-DUPLICATE-NAME")
def puts_a_tensor_into_two_files(bucket, step):
    first, second = data_keys(bucket, step)[:2]
    metadata, tensors = parse_safetensors(bucket.read(first))
    name = sorted(tensors)[0]

    def change(other_metadata, other_tensors):
        other_tensors[name] = other_patch(tensors[name])
        other_metadata[name] = metadata[name]

    edit_file(bucket, second, change)


# --- skyrl ------------------------------------------------------------------------------------------------------------


@lie("skyrl skyrl-sha256", "DS-MISSING-TENSOR")
def cuts_the_manifest(bucket, step):
    edit_json(bucket, key_of(bucket, step, "manifest.json"), lambda manifest: manifest["tensors"].pop())


@lie("skyrl skyrl-sha256", "DS-MISSING-TENSOR")
def forgets_a_payload_file(bucket, step):
    def change(manifest):
        file = manifest["payload_files"].pop()
        manifest["tensors"] = [tensor for tensor in manifest["tensors"] if tensor["payload_file"] != file]

    edit_json(bucket, key_of(bucket, step, "manifest.json"), change)


@lie("skyrl skyrl-sha256", "DS-DIGEST")
def gives_a_tensor_the_digest_of_another(bucket, step):
    def change(manifest):
        a, b = manifest["tensors"][:2]
        for key in ("checksum", "sha256"):
            if key in a:
                a[key], b[key] = b[key], a[key]

    edit_json(bucket, key_of(bucket, step, "manifest.json"), change)


# --- trl --------------------------------------------------------------------------------------------------------------


@lie("trl-v1.0 trl-v1.2 trl-v2", "DS-CLAIM")
def counts_other_elements_than_it_holds(bucket, step):
    def change(metadata, _):
        metadata["total_changed_elements"] = str(int(metadata["total_changed_elements"]) + 1)

    edit_file(bucket, data_keys(bucket, step)[0], change)


@lie("trl-v1.0 trl-v1.2 trl-v2", "DS-CLAIM")
def counts_other_tensors_than_it_holds(bucket, step):
    def change(metadata, _):
        metadata["num_changed_params"] = str(int(metadata["num_changed_params"]) + 1)

    edit_file(bucket, data_keys(bucket, step)[0], change)


@lie("trl-v1.1", "DS-CLAIM")
def counts_other_params_than_it_holds(bucket, step):
    def change(metadata, _):
        metadata["num_params"] = str(int(metadata["num_params"]) + 1)

    edit_file(bucket, data_keys(bucket, step)[0], change)


@lie("trl-v1.1 trl-v1.2 trl-v2", "DS-CLAIM")
def loses_a_tensor_of_a_delta(bucket, step):
    ends = TRL_ENDS[bucket.word]

    def change(_, tensors):
        name = streams_of(tensors, ends)[0]
        for end in ends:
            del tensors[name + end]

    edit_file(bucket, data_keys(bucket, step)[0], change)


@lie("trl-v1.0 trl-v1.1 trl-v1.2 trl-v2", "DS-MALFORMED")
def holds_more_positions_than_values(bucket, step):
    ends = TRL_ENDS[bucket.word]

    def change(_, tensors):
        name = streams_of(tensors, ends)[0] + ends[1]
        values = tensors[name]
        tensors[name] = values._replace(shape=(values.elements - 1,), data=values.data[: -values.item])

    edit_file(bucket, data_keys(bucket, step)[0], change)


@lie("trl-v1.0", "DS-CLAIM", "DS-UNSUPPORTED")
def takes_the_digest_of_the_state_away_and_corrupts_a_value(bucket, step):
    def change(metadata, tensors):
        del metadata["checksum_sha256"]
        name = streams_of(tensors, TRL_ENDS[bucket.word])[0] + ".values"
        tensors[name] = tensors[name]._replace(data=flipped(tensors[name].data))

    edit_file(bucket, data_keys(bucket, step)[0], change)


@lie("trl-v1.0", "DS-DIGEST")
def corrupts_a_value(bucket, step):
    def change(_, tensors):
        name = streams_of(tensors, TRL_ENDS[bucket.word])[0] + ".values"
        tensors[name] = tensors[name]._replace(data=flipped(tensors[name].data))

    edit_file(bucket, data_keys(bucket, step)[0], change)


# --- prime-rl, grail -----------------------------------------------------------------------------------------


@lie("prime-rl-update prime-rl-update-i64", "DS-CLAIM")
def counts_other_elements_of_a_tensor_than_it_holds(bucket, step):
    def change(manifest):
        manifest["tensors"][0]["changed_numel"] += 1

    edit_json(bucket, key_of(bucket, step, "sparse_update_manifest.json"), change)


@lie("prime-rl-update prime-rl-update-i64", "DS-MISSING-TENSOR")
def leaves_a_tensor_out_of_the_manifest(bucket, step):
    edit_json(bucket, key_of(bucket, step, "sparse_update_manifest.json"), lambda manifest: manifest["tensors"].pop())


@lie("prime-rl-update prime-rl-update-i64", "DS-DIGEST")
def corrupts_a_value_under_the_sum(bucket, step):
    def change(_, tensors):
        values = tensors["tensor_0.values"]
        tensors["tensor_0.values"] = values._replace(data=flipped(values.data))

    edit_file(bucket, data_keys(bucket, step)[0], change)


@lie("prime-rl-manifest", "DS-MISSING-TENSOR")
def leaves_a_tensor_out_of_a_patch_file(bucket, step):
    edit_json(
        bucket,
        key_of(bucket, step, "sparse_manifest.json"),
        lambda manifest: manifest["patch_files"][0]["tensors"].pop(),
    )


@lie("prime-rl-manifest", "DS-MISSING-TENSOR")
def leaves_a_patch_file_out_of_the_manifest(bucket, step):
    edit_json(bucket, key_of(bucket, step, "sparse_manifest.json"), lambda manifest: manifest["patch_files"].pop())


@lie("prime-rl-manifest", "DS-CLAIM")
def counts_other_changes_of_a_tensor_than_it_holds(bucket, step):
    def change(manifest):
        manifest["patch_files"][0]["tensors"][0]["num_changed"] += 1

    edit_json(bucket, key_of(bucket, step, "sparse_manifest.json"), change)


@lie("grail-v2 grail-v3 grail-v3.1", "DS-DIGEST")
def corrupts_the_payload(bucket, step):
    key = key_of(bucket, step, "DELTA/delta_sparse.bin.zst")
    raw = zstandard.ZstdDecompressor().decompress(bucket.read(key), max_output_size=1 << 24)
    bucket.write(key, zstandard.ZstdCompressor(level=1).compress(flipped(raw, len(raw) - 1)))


@lie("grail-v2 grail-v3 grail-v3.1", "DS-UNFINISHED")
def loses_its_payload(bucket, step):
    remove(bucket, key_of(bucket, step, "DELTA/delta_sparse.bin.zst"))


@lie("grail-v2 grail-v3 grail-v3.1", "DS-CLAIM")
def counts_other_elements_of_the_state_than_it_holds(bucket, step):
    def change(metadata):
        metadata["nonzero_params"] += 1

    edit_json(bucket, key_of(bucket, step, "DELTA/delta_metadata.json"), change)


# --- slime-v1 ---------------------------------------------------------------------------------------------------------

SLIME_V1 = "slime-v1-indices slime-v1-deltas slime-v1-deltas-zstd"


def edit_flush(bucket, step, rank, change):
    """change(metadata, params, tensors) of the flush file of a rank."""
    key = key_of(bucket, step, f"rank{rank:04d}_flush000000.safetensors")
    data = bucket.read(key)
    packed = is_zstd(data)
    metadata, tensors = parse_safetensors(unzstd(data) if packed else data)
    params = json.loads(metadata["params"])
    change(metadata, params, tensors)
    metadata["params"] = json.dumps(params)
    data = format_safetensors(tensors, metadata)
    bucket.write(key, zstandard.ZstdCompressor(level=1).compress(data) if packed else data)


@lie(SLIME_V1, "DS-DIGEST")
def corrupts_a_value_under_the_checksum(bucket, step):
    def change(_, __, tensors):
        values = tensors["__values__"]
        tensors["__values__"] = values._replace(data=flipped(values.data, len(values.data) - 1))

    edit_flush(bucket, step, 0, change)


@lie(SLIME_V1, "DS-MALFORMED")
def says_that_it_is_another_version(bucket, step):
    edit_flush(bucket, step, 1, lambda metadata, _, __: metadata.update(current_version=str(step + 1)))


@lie(SLIME_V1, "DS-CLAIM")
def leaves_a_tensor_out_of_its_list(bucket, step):
    """Its positions and values stay, and so does the checksum over them."""
    edit_flush(bucket, step, 0, lambda _, params, __: params.pop())


@lie(SLIME_V1, "DS-CLAIM")
def gives_a_tensor_the_changes_of_another(bucket, step):
    def change(_, params, __):
        smaller, larger = sorted(params, key=lambda param: param["val_end"] - param["val_start"])[:2]
        for field in ("pos_start", "pos_end", "pos_width", "val_start", "val_end"):
            larger[field] = smaller[field]

    edit_flush(bucket, step, 1, change)


@lie(SLIME_V1, "DS-DUPLICATE-NAME")
def changes_a_tensor_in_two_files(bucket, step):
    taken = {}
    edit_flush(bucket, step, 0, lambda _, params, __: taken.update(params[0]))

    def change(_, params, __):
        params[0].update({field: taken[field] for field in ("name", "dtype", "shape")})

    edit_flush(bucket, step, 1, change)


@lie(SLIME_V1, "DS-UNFINISHED")
def counts_its_files_from_another_number(bucket, step):
    key = key_of(bucket, step, "rank0000_flush000000.safetensors")
    other = key.replace("flush000000", "flush000001")
    bucket.time[other] = bucket.time[key]
    bucket.write(other, bucket.read(key))
    remove(bucket, key)
    return [other]
