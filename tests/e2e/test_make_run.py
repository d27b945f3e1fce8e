#!/usr/bin/env python3
"""The generator of synthetic runs, read back by slow and obvious code that shares nothing with it."""

import ctypes
import json
import os
import struct
import subprocess

from support import MAKE_RUN, E2ETest, Xxh3, main, read_header, tree_state


def read_tensors(path):
    """({name: (dtype, shape, bytes)}, metadata)"""
    header, data = read_header(path)
    with open(path, "rb") as f:
        content = f.read()
    metadata = json.loads(content[8:data]).get("__metadata__", {})
    return {
        n: (i["dtype"], i["shape"], bytearray(content[data + i["data_offsets"][0] : data + i["data_offsets"][1]]))
        for n, i in header.items()
    }, metadata


def decompress(frame):
    lib = ctypes.CDLL("libzstd.so.1")
    lib.ZSTD_getFrameContentSize.restype = ctypes.c_uint64
    lib.ZSTD_decompress.restype = ctypes.c_size_t
    lib.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
    frame = bytes(frame)
    size = lib.ZSTD_getFrameContentSize(frame, ctypes.c_size_t(len(frame)))
    assert size < 1 << 30, "the content size must stand in the frame"
    assert lib.ZSTD_findFrameCompressedSize(frame, ctypes.c_size_t(len(frame))) == len(frame), "more than one frame"
    out = ctypes.create_string_buffer(max(size, 1))
    got = lib.ZSTD_decompress(out, ctypes.c_size_t(size), frame, ctypes.c_size_t(len(frame)))
    assert got == size
    return out.raw[:size]


def apply_trl(state, path, step):
    stored, meta = read_tensors(path)
    assert meta["format"] == "sparse_weight_patch" and meta["model_version"] == str(step)
    if meta["sparse"] == "False":
        return stored
    changed = 0
    for key, (dtype, shape, values) in stored.items():
        if not key.endswith(".val"):
            continue
        name = key[:-4]
        index_type, index_shape, raw = stored[name + ".idx"]
        assert dtype == "BF16" and shape == index_shape
        numbers = struct.unpack("<" + {"U16": "H", "U32": "I", "I32": "i"}[index_type] * shape[0], raw)
        if meta["encoding"] == "gap_delta":
            assert index_type == ("U16" if max(numbers) < 65536 else "U32")
            positions, at = [], -1
            for gap in numbers:
                at += gap + 1
                positions.append(at)
        else:
            assert index_type == "I32"
            positions = list(numbers)
        assert positions == sorted(set(positions))
        target = state[name][2]
        for k, position in enumerate(positions):
            assert target[2 * position : 2 * position + 2] != values[2 * k : 2 * k + 2], "a no-op"
            target[2 * position : 2 * position + 2] = values[2 * k : 2 * k + 2]
        changed += len(positions)
    assert meta["total_changed_elements"] == str(changed)
    return state


def apply_slime(state, folder, step):
    with open(os.path.join(folder, "model.safetensors.index.json"), encoding="utf-8") as f:
        index = json.load(f)
    meta = index["metadata"]
    if "delta_encoding" not in meta:
        return {
            n: t
            for file in set(index["weight_map"].values())
            for n, t in read_tensors(os.path.join(folder, file))[0].items()
        }
    assert meta["version"] == f"{step:06}" and meta["base_version"] == f"{step - 1:06}"
    for file in set(index["weight_map"].values()):
        stored, digests = read_tensors(os.path.join(folder, file))
        for name, (dtype, _, frame) in stored.items():
            assert dtype == "U8"
            payload, target = decompress(frame), state[name][2]
            if meta["delta_encoding"] == "xor":
                assert len(payload) == len(target)
                target[:] = bytes(a ^ b for a, b in zip(target, payload))
            else:
                n = struct.unpack_from("<I", payload)[0]
                assert len(payload) == 4 + 5 * n
                positions = struct.unpack_from(f"<{n}I", payload, 4)
                assert list(positions) == sorted(set(positions))
                for k, position in enumerate(positions):
                    target[position] = payload[4 + 4 * n + k]
            assert Xxh3(target).hexdigest() == digests[name]
    return state


def state_path(run, layout, step):
    anchor = run.steps[step]["kind"] == "anchor"
    return {
        "trl-v2": os.path.join(run.source, "anchors" if anchor else "deltas", f"step_{step:06}.safetensors"),
        "slime-v2": os.path.join(run.source, f"weight_v{step:06}"),
        "hf": os.path.join(run.source, f"checkpoint-{step}", "model.safetensors"),
    }[layout]


class MakeRun(E2ETest):
    def read_back(self, layout, **options):
        run = self.make_run(layout=layout, **options)
        state = {}
        if layout == "slime-v2":
            state = read_tensors(os.path.join(run.base, "model.safetensors"))[0]
        before = {n: bytes(t[2]) for n, t in state.items()}
        for step in sorted(run.steps):
            path = state_path(run, layout, step)
            if layout == "trl-v2":
                state = apply_trl(state, path, step)
            elif layout == "slime-v2":
                state = apply_slime(state, path, step)
            else:
                state = read_tensors(path)[0]
            truth = run.truth(step)
            self.assertEqual(set(state), set(truth))
            for name, (dtype, shape, content) in state.items():
                self.assertEqual(
                    (dtype, shape, Xxh3(content).hexdigest()),
                    (truth[name]["dtype"], truth[name]["shape"], truth[name]["xxh3_128"]),
                    f"{name} at {step}",
                )
            size = 2 if options.get("dtype", "BF16") == "BF16" else 4
            if before:
                different = sum(
                    before[n][i : i + size] != bytes(state[n][2][i : i + size])
                    for n in state
                    for i in range(0, len(before[n]), size)
                )
                record = run.steps[step]
                claimed = record.get("differs_from_previous_state", record["changed_elems"])
                if layout != "hf" or "differs_from_previous_state" in record:
                    self.assertEqual(different, claimed, f"changed elements at {step}")
            before = {n: bytes(t[2]) for n, t in state.items()}
        return run

    def test_trl_gap_delta(self):
        self.read_back("trl-v2", encoding="gap_delta", tensors=5, elements=3000, steps=12, anchor_every=5)

    def test_trl_gap_delta_with_wide_gaps(self):
        run = self.read_back("trl-v2", encoding="gap_delta", tensors=2, elements=300000, steps=3, density=0.00001)
        header, _ = read_header(state_path(run, "trl-v2", 2))
        self.assertIn("U32", {t["dtype"] for t in header.values()})

    def test_trl_raw(self):
        self.read_back("trl-v2", encoding="raw", tensors=5, elements=3000, steps=7, anchor_every=5)

    def test_slime_xor(self):
        self.read_back("slime-v2", encoding="xor", tensors=5, elements=3000, steps=7, anchor_every=4)

    def test_slime_overwrite_float32(self):
        self.read_back("slime-v2", encoding="overwrite", tensors=5, elements=3000, steps=5, dtype="F32")

    def test_plain_checkpoints(self):
        self.read_back("hf", tensors=5, elements=3000, steps=4)

    def test_every_element_changes(self):
        run = self.read_back("trl-v2", tensors=1, elements=2000, steps=2, density=1)
        self.assertEqual(run.steps[2]["changed_elems"], 2000)

    def test_density_is_met(self):
        run = self.make_run(tensors=2, elements=1 << 20, steps=2, density=0.01)
        self.assertAlmostEqual(run.steps[2]["changed_elems"] / (2 << 20), 0.01, delta=0.0004)

    def test_windows_do_not_show(self):
        run = self.read_back("trl-v2", tensors=1, elements=(1 << 21) + 12345, steps=3, density=0.0005)
        self.assertGreater(run.steps[3]["changed_elems"], 500)

    def test_equal_options_give_equal_bytes(self):
        for layout in ("trl-v2", "slime-v2", "hf"):
            a = self.make_run(f"a-{layout}", layout=layout)
            b = self.make_run(f"b-{layout}", layout=layout)
            other = self.make_run(f"c-{layout}", layout=layout, seed=2)
            self.assertEqual(tree_state(a.source, False), tree_state(b.source, False))
            self.assertNotEqual(tree_state(a.source, False), tree_state(other.source, False))

    def test_wrong_options_are_refused(self):
        for wrong in (
            ["--layout", "trl-v2", "--encoding", "xor"],
            ["--layout", "slime-v2"],
            ["--layout", "other"],
            ["--layout", "trl-v2", "--dtype", "F32"],
            ["--layout"],
        ):
            p = subprocess.run(
                [MAKE_RUN, "--out", self.path("x"), "--tensors", "1", "--elements", "8", "--steps", "1", *wrong],
                capture_output=True,
                check=False,
            )
            self.assertEqual(p.returncode, 2, wrong)


if __name__ == "__main__":
    main()
