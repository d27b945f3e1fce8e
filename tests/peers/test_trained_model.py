#!/usr/bin/env python3
"""The whole way of a model: transformers makes it, torch trains it, `deltascope publish` sends each step, `deltascope
materialize` writes a checkpoint, and transformers loads that: with the bits that the trainer had, and with the logits of
what transformers itself had saved."""

import hashlib
import os
import pathlib
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import support
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

STEPS = 4
TOKENS = torch.arange(1, 33).reshape(4, 8)


def bits(parameter):
    return hashlib.sha256(parameter.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes()).hexdigest()


def parameters_of(model):
    return {name: (list(parameter.shape), bits(parameter)) for name, parameter in model.named_parameters()}


def load(folder):
    model, info = AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.bfloat16, output_loading_info=True)
    for what in ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs"):
        if info[what]:
            raise AssertionError(what, info[what])
    return model.eval()


def logits_of(model):
    with torch.no_grad():
        return model(TOKENS, use_cache=False).logits


class TrainedModel(support.E2ETest):
    def train(self, layout):
        """Publishes a run of STEPS steps. Returns what the trainer had at each: (folder, parameters)."""
        torch.manual_seed(7)
        model = LlamaForCausalLM(LlamaConfig(
            vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=64, tie_word_embeddings=False)).to(torch.bfloat16)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        states = []
        for step in range(STEPS + 1):
            folder = self.path(layout, f"trained-{step}")
            model.save_pretrained(folder)
            states.append((folder, parameters_of(model)))
            if step > 0:
                base = ["--base", states[0][0]] if layout == "slime-v2" else []
                outcome = self.run_ds("publish", "--into", self.path(layout, "bucket"), "--layout", layout, "--from",
                                      states[step - 1][0], "--to", folder, *base)
                self.assertEqual(outcome.code, support.OK, outcome.err)
            optimizer.zero_grad()
            model.train()(TOKENS, labels=TOKENS, use_cache=False).loss.backward()
            optimizer.step()
        return states

    def check_layout(self, layout):
        os.mkdir(self.path(layout))
        states = self.train(layout)
        self.assertNotEqual(states[0][1], states[-1][1], "it learns something")
        held = states if layout == "trl-v2" else states[1:]
        for step, (saved, parameters) in enumerate(held, 1):
            out = self.path(layout, f"out-{step}")
            outcome = self.run_ds("materialize", f"{self.path(layout, 'bucket')}@{step}", "--base", states[0][0], "-o", out)
            self.assertEqual(outcome.code, support.OK, outcome.err)
            model = load(out)
            self.assertEqual(parameters_of(model), parameters, step)
            self.assertTrue(torch.equal(logits_of(model), logits_of(load(saved))), step)

    def test_a_trl_run_becomes_the_model_of_each_step(self):
        self.check_layout("trl-v2")

    def test_a_slime_run_becomes_the_model_of_each_step(self):
        self.check_layout("slime-v2")

    def test_one_other_bit_is_seen(self):
        folder, parameters = self.prepared()
        file = pathlib.Path(folder, "model.safetensors")
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(content)
        self.assertNotEqual(parameters_of(load(folder)), parameters)

    def prepared(self):
        os.mkdir(self.path("trl-v2"))
        return self.train("trl-v2")[-1]


if __name__ == "__main__":
    support.main()
