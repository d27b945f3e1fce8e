#!/usr/bin/env python3
"""Files that went wrong without an attacker: no command calls them hostile, each names the file and what it is. A file that
no writer makes is still called so."""

import json
import os
import struct

import support

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d7a2146" * 8 + b"\nsize 988097824\n"
ALARMS = ("hostile", "Do not load this object")


def weights(tensors, header_changes=(), tail=b""):
    """A safetensors file of F32 tensors; `header_changes`: {name: {key: value}} that then stand in the header."""
    header, data = {}, b""
    for name, values in tensors.items():
        more = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [len(data), len(data) + len(more)]}
        data += more
    for name, change in dict(header_changes).items():
        header.setdefault(name, {}).update(change)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data + tail


def index(names):
    return json.dumps({"metadata": {"total_size": 64}, "weight_map": names}).encode()


SOUND = {f"layer.{i}.weight": [i + 1.0, 2.0, 3.0, 4.0] for i in range(4)}
TWO = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
HALVES = [dict(list(SOUND.items())[:2]), dict(list(SOUND.items())[2:])]
SHARDED = {TWO[0]: weights(HALVES[0]), TWO[1]: weights(HALVES[1])}
PLACES = {name: TWO[i] for i in (0, 1) for name in HALVES[i]}

# name: (files, words that the answer has)
CASES = {
    "a Git LFS pointer": ({WEIGHTS: POINTER}, ["Git LFS", "988097824"]),
    "one shard a pointer": ({TWO[0]: weights(HALVES[0]), TWO[1]: POINTER, INDEX: index(PLACES)}, [TWO[1], "Git LFS"]),
    "an index that is a page": (SHARDED | {INDEX: b"<!DOCTYPE html><html><body>Sign in</body></html>"}, [INDEX, "HTML"]),
    "an error of a store": ({WEIGHTS: b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'}, ["XML"]),
    "a pickle": ({WEIGHTS: b"PK\x03\x04" + b"\0" * 26 + b"archive/data.pkl" + b"\0" * 64}, ["torch.save"]),
    "gzip": ({WEIGHTS: b"\x1f\x8b\x08\0" + b"\0" * 60}, ["gzip"]),
    "a file of zeros": ({WEIGHTS: b"\0" * 4096}, [WEIGHTS]),
    "an empty file": ({WEIGHTS: b""}, [WEIGHTS]),
    "a tensor without a dtype": (
        {WEIGHTS: weights(SOUND, {"lm_head.weight": {"dtype": "", "shape": [0], "data_offsets": [64, 64]}})},
        ["lm_head.weight", "dtype"],
    ),
    "a tensor that was never written": ({WEIGHTS: weights(SOUND)[:-16]}, [WEIGHTS]),
    "bytes behind the end": ({WEIGHTS: weights(SOUND, tail=b"twelve bytes")}, [WEIGHTS, "12"]),
    "an index that names more": (SHARDED | {INDEX: index(PLACES | {"layer.9.weight": TWO[1]})}, ["layer.9.weight", TWO[1]]),
}
# a tensor over the bytes of another one, and a header that would take all memory: no writer makes these
ATTACKS = {
    "overlap": {WEIGHTS: weights(SOUND, {"layer.1.weight": {"data_offsets": [0, 16]}})},
    "bomb": {WEIGHTS: struct.pack("<Q", 1 << 60) + b'{"a' + b"\xff" * 64},
}


class PlainWords(support.E2ETest):
    def write(self, name, files):
        folder = self.path(name.replace(" ", "-"))
        os.makedirs(folder)
        for key, data in files.items():
            with open(os.path.join(folder, key), "wb") as file:
                file.write(data)
        return folder

    def answers(self, folder):
        """What each command says of a checkpoint; none may crash."""
        sound = self.path("sound")
        commands = [
            ("log", folder), ("verify", folder, "--level", "3"), ("digest", folder), ("show", f"{folder}@latest"),
            ("diff", sound, folder), ("materialize", folder, "-o", self.path("out")),
            ("publish", "--into", self.path("run"), "--layout", "slime-v2", "--from", folder, "--to", sound),
            ("digest", os.path.join(folder, sorted(os.listdir(folder))[0])),
        ]
        for command in commands:
            outcome = self.run_ds(*command)
            self.assertLess(outcome.code, 124, str(outcome))
            yield command[0], outcome

    def setUp(self):
        super().setUp()
        self.write("sound", {WEIGHTS: weights(SOUND)})

    def test_what_went_wrong_is_not_called_hostile(self):
        for name, (files, words) in CASES.items():
            with self.subTest(name):
                folder = self.write(name, files)
                said = list(self.answers(folder))
                for command, outcome in said:
                    for alarm in ALARMS:
                        self.assertNotIn(alarm.lower(), (outcome.out + outcome.err).lower(), f"{command}: {outcome}")
                verify = said[1][1]
                self.assertIn(verify.code, (6, 7), str(verify))
                for word in words:
                    self.assertIn(word, verify.out + verify.err)

    def test_an_attack_is(self):
        for name, files in ATTACKS.items():
            with self.subTest(name):
                verify = self.run_ds("verify", self.write(name, files))
                self.assertEqual(verify.code, 6, str(verify))
                self.assertIn("DS-HOSTILE", verify.out + verify.err)

    def test_a_sound_one_raises_no_alarm(self):
        self.write("sharded", SHARDED | {INDEX: index(PLACES)})
        for folder in ("sound", "sharded"):
            self.assertNotIn("DS-", self.ok("verify", self.path(folder), "--level", "3", "--strict").out)


if __name__ == "__main__":
    support.main()
