"""change_config.py CHECKPOINT FOLDER TAYLORC CC: taylor-generate refuses the checkpoint, copied into FOLDER, for each field of config.json that says another
computation or a size that it has not, with this message, and before it takes memory for it."""
import copy
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

source, folder = map(pathlib.Path, sys.argv[1:3])
environment = dict(os.environ, TAYLORC=sys.argv[3], CC=sys.argv[4])
shutil.rmtree(folder, ignore_errors=True)
shutil.copytree(source, folder)
path = folder / "config.json"
sound = json.loads(path.read_text())


def generate(config):
    path.write_text(json.dumps(config))
    result = subprocess.run(["taylor-generate", "--checkpoint", folder, "--tokens", "1", "--threads", "1"], env=environment, capture_output=True, text=True, timeout=60,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30)))
    return result.returncode, result.stderr


def whole(name, least, most, value):
    return name, value, f"expected a whole number from {least} to {most} as '{name}' in '{path}', but got {json.dumps(value)}"


def only(name, value, expected, reason):
    return name, value, f"unsupported {name} = {json.dumps(value)} in '{path}'; expected {expected}: {reason}"


rotary = "the specification has its rotary positions itself"
cases = [
    only("rope_theta", 500000.0, "10000.0", rotary),
    only("rope_scaling", {"type": "linear", "factor": 8.0}, "none", rotary),
    only("tie_word_embeddings", True, "false", "embeddings and lm_head are two tensors here"),
    only("attention_bias", True, "false", "the specification says which projections have a bias"),
    only("mlp_bias", True, "false", "the linear maps of the MLP have none"),
    only("hidden_act", "gelu", '"silu"', "the MLP is SwiGLU"),
    only("pretraining_tp", 2, "1", "products are not cut in slices"),
    only("sliding_window", 4096, "none", "the specification says what a token sees"),
    only("quantization_config", {"bits": 4}, "none", "weights are F32, BF16 or F16"),
    ("rope_parameters", {"rope_type": "default", "rope_theta": 500000.0}, f"unsupported rope_parameters.rope_theta = 500000.0 in '{path}'; expected 10000.0: {rotary}"),
    ("rope_parameters", {"rope_type": "yarn"}, f"unsupported rope_parameters.rope_type = \"yarn\" in '{path}'; expected \"default\": {rotary}"),
    ("rope_parameters", {"factor": 2.0}, f"unsupported rope_parameters.factor = 2.0 in '{path}'; expected none: {rotary}"),
    ("layer_types", ["full_attention", "sliding_attention"],
     f"unsupported layer_types = \"sliding_attention\" in '{path}'; expected \"full_attention\": all layers have the same attention"),
    ("model_type", "gpt2", f"unsupported model_type \"gpt2\" in '{path}'; expected \"llama\" or \"taylor\", as taylor-train writes it"),
    ("architectures", ["GPT2LMHeadModel"],
     f"unsupported architecture \"GPT2LMHeadModel\" in '{path}'; expected \"LlamaForCausalLM\" or \"TaylorForCausalLM\", as taylor-train writes it"),
    whole("num_hidden_layers", 1, 10000, 2.7), whole("num_hidden_layers", 1, 10000, 1000000000), whole("num_hidden_layers", 1, 10000, 0),
    whole("max_position_embeddings", 1, 134217728, -5), whole("max_position_embeddings", 1, 134217728, 1e308), whole("head_dim", 1, 65536, 0.5),
    whole("hidden_size", 1, 1048576, 18446744073709551615), whole("vocab_size", 1, 65536, "384"), whole("num_attention_heads", 1, 65536, None),
    ("rms_norm_eps", "small", f"expected a number as 'rms_norm_eps' in '{path}', but got \"small\""),
    ("rms_norm_eps", 1e308, f"in '{path}': expected model.norm_epsilon to be positive and at most 1, but got 1e+308"),
    ("num_key_value_heads", 3, f"in '{path}': expected model.kv_heads to be a divisor of model.heads = 2, but got 3"),
    ("num_hidden_layers", 9999, f"requires tensor 'model.layers.10.input_layernorm.weight', but '{folder}/model.safetensors' has none of that name"),
    ("num_hidden_layers", 1, f"unsupported tensor 'model.layers.1.input_layernorm.weight' in '{folder}/model.safetensors': this model has none of that name"),
    ("intermediate_size", 4194304,
     f"expected tensor 'model.layers.0.mlp.down_proj.weight' of shape [32, 4194304], but in '{folder}/model.safetensors' it has shape [32, 64]"),
    ("taylor.precision", "fp16", f"in '{path}': expected taylor.precision to be 'fp32' or 'bf16', but got 'fp16'"),
    ("taylor.mask", "none", f"in '{path}': expected taylor.mask to be '' or 'causal', but got 'none'"),
    ("taylor.value_dim", 2.5, f"expected a whole number from 1 to 65536 as 'taylor.value_dim' in '{path}', but got 2.5"),
    ("taylor.parameters", {"order": "2"}, f"expected a table of numbers as 'taylor.parameters' in '{path}', but got {{\"order\":\"2\"}}"),
    ("taylor.specification", 3, f"expected a string as 'taylor.specification' in '{path}', but got 3")]
for name, value, message in cases:
    config = copy.deepcopy(sound)
    *within, last = name.split(".")
    (config[within[0]] if within else config)[last] = value
    status, said = generate(config)
    shown = message.replace(json.dumps(value), json.dumps(value, separators=(",", ":"), sort_keys=True)) if isinstance(value, (dict, list)) else message
    assert status == 1 and said == f"error: {shown}\n", (name, value, said, shown)
# What means the same, as others write it.
for name, value in (("rope_parameters", {"rope_type": "default", "rope_theta": 10000}), ("rope_scaling", {"rope_type": "default"}), ("rope_theta", None),
                    ("layer_types", ["full_attention"] * 2), ("is_decoder", True), ("tie_word_embeddings", None)):
    status, said = generate(sound | {name: value})
    assert status == 0 and "warning" not in said, (name, said)
status, said = generate({name: value for name, value in sound.items() if name not in ("hidden_act", "rope_theta", "attention_bias", "mlp_bias", "tie_word_embeddings")})
assert status == 0, said
