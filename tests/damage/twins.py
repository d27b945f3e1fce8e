"""Sound twins: made buckets of odd but legal shapes, as some writers, copies and people leave them."""

from typing import Callable, NamedTuple

from lies import INDEX, SLIME, data_keys, edit_file, edit_json, key_of


class Twin(NamedTuple):
    word: str
    name: str
    of_anchors: bool
    make: Callable  # (bucket, step): changes the bucket; returns keys of objects that it added


TWINS: list[Twin] = []


def twin(words: str, of_anchors=False):
    def register(make):
        TWINS.extend(Twin(word, make.__name__, of_anchors, make) for word in words.split())
        return make

    return register


TRL = "trl-v1.0 trl-v1.2 trl-v2"


@twin(f"{SLIME} modelexpress")
def states_a_wrong_total_size(bucket, step):
    edit_json(bucket, key_of(bucket, step, INDEX), lambda index: index["metadata"].update(total_size=1))


@twin(f"{SLIME} modelexpress")
def orders_the_index_otherwise(bucket, step):
    def change(index):
        index["weight_map"] = dict(reversed(index["weight_map"].items()))

    edit_json(bucket, key_of(bucket, step, INDEX), change)


@twin(f"{SLIME} modelexpress")
def says_more_in_the_index_than_we_know(bucket, step):
    edit_json(bucket, key_of(bucket, step, INDEX), lambda index: index.update(generator={"name": "x", "version": 3}))


@twin(f"{SLIME} modelexpress")
def counts_its_files_from_one(bucket, step):
    """model-00000-of-00002 becomes 00001, model-00001 becomes 00002."""
    files = sorted(data_keys(bucket, step))
    renamed = {}
    for key in reversed(files):
        folder, name = key.rsplit("/", 1)
        number = int(name.split("-")[1])
        new = f"{folder}/{name.replace(f'-{number:05d}-', f'-{number + 1:05d}-', 1)}"
        bucket.time[new] = bucket.time[key]
        bucket.write(new, bucket.read(key))
        bucket.path(key).unlink()
        renamed[name] = new.rsplit("/", 1)[1]

    def change(index):
        index["weight_map"] = {tensor: renamed[file] for tensor, file in index["weight_map"].items()}

    edit_json(bucket, key_of(bucket, step, INDEX), change)
    return [key for key in (f"{files[0].rsplit('/', 1)[0]}/{name}" for name in renamed.values()) if key not in files]


@twin(f"{SLIME} modelexpress skyrl grail-v3.1 slime-v1-deltas prime-rl-update")
def has_a_note_in_its_folder(bucket, step):
    key = f"{bucket.objects[step][0].rsplit('/', 1)[0]}/NOTES.txt"
    bucket.time[key] = bucket.time[bucket.objects[step][0]]
    bucket.write(key, b"checked by hand\n")
    return [key]


@twin(TRL)
def says_more_in_its_header_than_we_know(bucket, step):
    edit_file(bucket, data_keys(bucket, step)[0], lambda metadata, _: metadata.update(note="größe", trainer="x"))


@twin(TRL)
def states_a_wrong_total_of_elements(bucket, step):
    """Sound writers count other things there."""
    edit_file(bucket, data_keys(bucket, step)[0], lambda metadata, _: metadata.update(total_elements="1"))


@twin(TRL, of_anchors=True)
def says_more_in_the_header_of_an_anchor(bucket, step):
    edit_file(bucket, data_keys(bucket, step)[0], lambda metadata, _: metadata.update(note="x"))


@twin("trl-v1.0 trl-v2", of_anchors=True)
def pads_its_header(bucket, step):
    """Blanks behind the header, as writers that align their data leave them."""
    key = data_keys(bucket, step)[0]
    data = bucket.read(key)
    size = int.from_bytes(data[:8], "little")
    bucket.write(key, (size + 4096).to_bytes(8, "little") + data[8 : 8 + size] + b" " * 4096 + data[8 + size :])


@twin("skyrl skyrl-sha256")
def says_more_in_the_manifest_than_we_know(bucket, step):
    edit_json(bucket, key_of(bucket, step, "manifest.json"), lambda manifest: manifest.update(writer="x"))


@twin("skyrl skyrl-sha256")
def states_wrong_totals(bucket, step):
    edit_json(bucket, key_of(bucket, step, "manifest.json"), lambda manifest: manifest.update(total_compressed_num_bytes=1))


@twin("grail-v2 grail-v3.1")
def says_more_in_its_metadata_than_we_know(bucket, step):
    key = key_of(bucket, step, "DELTA/metadata.json") if any(
        k.endswith("DELTA/metadata.json") for k in bucket.objects[step]
    ) else key_of(bucket, step, "DELTA/delta_metadata.json")
    edit_json(bucket, key, lambda metadata: metadata.update(note="x"))


@twin("prime-rl-update prime-rl-update-i64")
def lists_its_tensors_in_another_order(bucket, step):
    key = next(k for k in bucket.objects[step] if k.endswith("manifest.json"))
    edit_json(bucket, key, lambda manifest: manifest.update(tensors=manifest["tensors"][::-1]))
