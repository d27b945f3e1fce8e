#!/usr/bin/env python3
"""A Trainer of transformers resumes from what `deltascope materialize --for-training` writes out of a folder of its
checkpoints as it does from the checkpoint itself: with the same losses, to the same weights and the same moments."""

import os
import pathlib
import shutil
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import support
import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

STEPS = 8
SAVED = 4


class Tokens(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, number):
        tokens = torch.randint(1, 64, (8,), generator=torch.Generator().manual_seed(number))
        return {"input_ids": tokens, "labels": tokens}


def bits(tensor):
    return tensor.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes()


def flat(state):
    """The values of nested dictionaries and lists, tensors as their bits."""
    if torch.is_tensor(state):
        return (str(state.dtype), tuple(state.shape), bits(state) if state.numel() else b"")
    if isinstance(state, dict):
        return {key: flat(value) for key, value in state.items()}
    return [flat(value) for value in state] if isinstance(state, (list, tuple)) else state


class Resumed(support.E2ETest):
    def setUp(self):
        super().setUp()
        self.checkpoints = self.path("checkpoints")
        self.whole = self.train(self.checkpoints)
        self.saved = os.path.join(self.checkpoints, f"checkpoint-{SAVED}")

    def train(self, out, resume=None):
        """(losses and norms by step, weights, optimizer) at the end."""
        transformers.set_seed(7)
        model = LlamaForCausalLM(LlamaConfig(
            vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=64, tie_word_embeddings=False, attention_dropout=0.1))
        options = TrainingArguments(
            output_dir=out, max_steps=STEPS, per_device_train_batch_size=4, learning_rate=0.01, save_steps=2, logging_steps=1,
            report_to=[], seed=7, disable_tqdm=True, use_cpu=True)
        trainer = Trainer(model=model, args=options, train_dataset=Tokens())
        trainer.train(resume_from_checkpoint=resume)
        curve = [(row["step"], row["loss"], row["grad_norm"]) for row in trainer.state.log_history if "loss" in row]
        return curve, flat(model.state_dict()), flat(trainer.optimizer.state_dict())

    def materialize(self, name, *options):
        out = self.path(name)
        made = self.ok_json("materialize", f"{self.checkpoints}@{SAVED}", "-o", out, *options)
        return out, made

    def test_it_goes_on_as_from_the_checkpoint_itself(self):
        out, made = self.materialize("out", "--for-training")
        self.assertEqual(made["missing"], [])
        for name in made["trainer_files"]:
            files = [pathlib.Path(folder, name).read_bytes() for folder in (self.saved, out)]
            self.assertEqual(files[0], files[1], name)
        self.assertIn("optimizer.pt", made["trainer_files"])
        self.assertEqual(self.train(self.path("original"), self.saved), self.whole)
        self.assertEqual(self.train(self.path("resumed"), out), self.whole)

    def test_without_its_optimizer_it_goes_elsewhere(self):
        out, made = self.materialize("out")
        self.assertNotIn("optimizer.pt", os.listdir(out))
        shutil.copy(os.path.join(self.saved, "trainer_state.json"), out)
        curve, weights, _ = self.train(self.path("resumed"), out)
        self.assertEqual(len(curve), len(self.whole[0]))
        self.assertNotEqual(weights, self.whole[1])


if __name__ == "__main__":
    support.main()
