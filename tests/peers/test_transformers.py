#!/usr/bin/env python3
"""What `deltascope materialize` writes is a checkpoint that transformers loads: every parameter of the model has the bits
that the trainer's tensor had at that step, and nothing of the model is left over or made up."""

import json
import os
import pathlib
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import goldens
import support
import torch
from transformers import AutoModelForCausalLM

DTYPES = {"BF16": torch.bfloat16, "F32": torch.float32}
# Runs that have a config.json: in the base that they stand on, or in the bucket.
RUNS = ["slime-v2-xor", "slime-v2-overwrite", "skyrl", "grail", "hf-single", "hf-sharded"]
# Of the model that the trl-v2-* buckets were trained from; a bucket of TRL holds weights alone.
TRL_CONFIG = {
    "model_type": "qwen3",
    "architectures": ["Qwen3ForCausalLM"],
    "vocab_size": 2304,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "tie_word_embeddings": True,
}


def newest(expected):
    return max((s for s in expected["steps"] if s["restorable"]), key=lambda s: (s["epoch"], s["step"]))


def bits(parameter):
    return parameter.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes()


class Transformers(support.E2ETest):
    def materialize(self, source, step, base, name):
        out = self.path(name)
        options = ["--base", base] if base else []
        outcome = self.run_ds("materialize", f"{source}@{step}", *options, "-o", out)
        self.assertEqual(outcome.code, support.OK, outcome.err)
        return out, outcome

    def expect_loaded(self, folder, tensors):
        """`tensors`: rows of expected.json."""
        (dtype,) = {row["dtype"] for row in tensors.values()}
        model, info = AutoModelForCausalLM.from_pretrained(folder, dtype=DTYPES[dtype], output_loading_info=True)
        for what in ("missing_keys", "unexpected_keys", "mismatched_keys"):
            self.assertFalse(info[what], what)
        got = {n: (list(p.shape), support.Xxh3(bits(p)).hexdigest()) for n, p in model.named_parameters()}
        self.assertEqual(got, {n: (row["shape"], row["xxh3_128"]) for n, row in tensors.items()})

    def test_every_parameter_has_the_bits_of_the_trainer(self):
        for name in RUNS:
            with self.subTest(name):
                source, base, expected = goldens.case(name)
                step = newest(expected)
                folder, _ = self.materialize(source, step["step"], base, name)
                self.expect_loaded(folder, step["tensors"])

    def test_a_run_of_weights_alone_loads_with_the_config_of_its_base(self):
        source, _, expected = goldens.case("trl-v2-gap")
        step = newest(expected)
        bare, outcome = self.materialize(source, step["step"], None, "bare")
        self.assertIn("the source holds no config.json; --base DIR", outcome.out)
        with self.assertRaises((OSError, ValueError)):
            AutoModelForCausalLM.from_pretrained(bare)
        base, _ = self.materialize(source, 1, None, "base")
        pathlib.Path(base, "config.json").write_text(json.dumps(TRL_CONFIG), encoding="utf-8")
        folder, outcome = self.materialize(source, step["step"], base, "whole")
        self.assertNotIn("holds no config.json", outcome.out)
        self.expect_loaded(folder, step["tensors"])

    def test_one_other_bit_is_seen(self):
        source, base, expected = goldens.case("slime-v2-xor")
        step = newest(expected)
        folder, _ = self.materialize(source, step["step"], base, "flipped")
        file = sorted(pathlib.Path(folder).glob("*.safetensors"))[-1]
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(content)
        with self.assertRaises(AssertionError):
            self.expect_loaded(folder, step["tensors"])


if __name__ == "__main__":
    support.main()
