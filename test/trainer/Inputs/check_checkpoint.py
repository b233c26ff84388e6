"""check_checkpoint.py FOLDER ARCHITECTURE: a checkpoint as others read it: safetensors, config.json, the tokenizer's files."""
import json
import os
import sys

import torch
from safetensors.torch import load_file

folder, architecture = sys.argv[1:]
with open(os.path.join(folder, "config.json")) as f:
    config = json.load(f)
tensors = load_file(os.path.join(folder, "model.safetensors"))
hidden, heads, groups, d = (config[name] for name in ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim"))
vocabulary, inner = config["vocab_size"], config["intermediate_size"]
expected = {"model.embed_tokens.weight": (vocabulary, hidden), "lm_head.weight": (vocabulary, hidden), "model.norm.weight": (hidden,)}
for layer in range(config["num_hidden_layers"]):
    prefix = f"model.layers.{layer}."
    expected |= {prefix + "input_layernorm.weight": (hidden,), prefix + "post_attention_layernorm.weight": (hidden,),
                 prefix + "self_attn.q_proj.weight": (heads * d, hidden), prefix + "self_attn.k_proj.weight": (groups * d, hidden),
                 prefix + "self_attn.v_proj.weight": (groups * d, hidden), prefix + "self_attn.o_proj.weight": (hidden, heads * d),
                 prefix + "mlp.gate_proj.weight": (inner, hidden), prefix + "mlp.up_proj.weight": (inner, hidden),
                 prefix + "mlp.down_proj.weight": (hidden, inner)}
    if architecture == "TaylorForCausalLM":  # the fixture's gate and learned weight
        expected |= {prefix + "self_attn.out_gate_proj.weight": (heads, hidden), prefix + "self_attn.out_gate_proj.bias": (heads,),
                     prefix + "self_attn.norm_weight": (d,)}
assert {name: tuple(tensor.shape) for name, tensor in tensors.items()} == expected, sorted(set(expected) ^ set(tensors))
assert all(tensor.dtype == torch.float32 and tensor.isfinite().all() for tensor in tensors.values())
assert config["architectures"] == [architecture], config["architectures"]
assert config["model_type"] == ("llama" if architecture == "LlamaForCausalLM" else "taylor")
assert config["tie_word_embeddings"] is False and config["rope_theta"] == 10000 and config["hidden_act"] == "silu"
assert os.path.exists(os.path.join(folder, config["taylor"]["specification"]))
state = load_file(os.path.join(folder, "optimizer.safetensors"))
assert set(state) == {f"{part}.{name}" for part in ("exp_avg", "exp_avg_sq", "step") for name in expected} | {"random.cpu"}
for name in ("generation_config.json", "tokenizer_config.json", "special_tokens_map.json", "state.json"):
    with open(os.path.join(folder, name)) as f:
        json.load(f)
