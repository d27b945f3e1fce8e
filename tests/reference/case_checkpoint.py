"""Layouts in which every version stands alone: hf and trl-adapter (docs/formats)."""

from case_model import Case, checkpoint, dump

ADAPTER = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj"]}


def hf(case: Case, seed: int, steps: int) -> None:
    """checkpoint-N in three shards."""
    model = case.model(seed)
    model.bytes_only()
    for number in range(1, steps + 1):
        state = model.step(number)
        files = checkpoint(state, 3, pt=True) | {"config.json": b'{"model_type": "made"}\n'}
        objects = [case.put(f"checkpoint-{number}/{file}", data) for file, data in files.items()]
        case.step(number, "anchor", None, None, state, objects)
    case.finish()


def trl_adapter(case: Case, seed: int, steps: int) -> None:
    """A LoRA of two modules in each of two layers."""
    model = case.model(seed)
    model.state = {}
    for layer in range(2):
        for module in ADAPTER["target_modules"]:
            stem = f"base_model.model.model.layers.{layer}.self_attn.{module}"
            model.state[f"{stem}.lora_A.weight"] = model.float32((ADAPTER["r"], 12))
            model.state[f"{stem}.lora_B.weight"] = model.float32((10, ADAPTER["r"]))
    for number in range(1, steps + 1):
        for name in model.state:
            model.edit(name, slice(number % 3, None, 3), 0x0001_0001)
        state = dict(model.state)
        files = {
            "adapter_model.safetensors": checkpoint(state, 1, pt=True)["model.safetensors"],
            "adapter_config.json": dump(ADAPTER),
            "README.md": b"made\n",
        }
        folder = f".vllm_lora/trl-policy-v{number}"
        objects = [case.put(f"{folder}/{file}", data) for file, data in files.items()]
        case.step(number, "anchor", None, None, state, objects)
    case.finish()
