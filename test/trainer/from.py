# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A run that begins with the weights of another model (model.from): a checkpoint of ours with another attention, and a Llama that transformers saved, with tied
# embeddings and biases. Sizes and tokenizer are taken, what is new and what is left out is told, and a resumed run reads the folder no more.
# WARM: taylor-train
# REQUIRES: transformers
# RUN: env HF_HUB_OFFLINE=1 TAYLORC=%fixture/fixture.py CC=%cc %python %s %tiny %fixture/plain.mlir %fixture/gated.mlir %t
import json
import pathlib
import shutil
import subprocess
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file

config, plain, gated, out = sys.argv[1:]
out = pathlib.Path(out)
shutil.rmtree(out, ignore_errors=True)
transformers.logging.set_verbosity_error()


def train(name, spec, *more, fails=False):
    done = subprocess.run(["taylor-train", "--config", config, "--attention", spec, "--out", str(out / name), "--set", "train.steps=1", "--set", "run.threads=1",
                           "--set", "optimizer.learning_rate=1e-30", "--set", "checkpoint.every=1", *more], capture_output=True, text=True)
    assert (done.returncode != 0) == fails, done
    return done.stderr


def weights(name):
    return load_file(out / name / "checkpoints/step-000001/model.safetensors")


# A checkpoint with another attention. The learning rate is so small that the first weights are the last ones.
train("first", plain, "--set", "run.seed=7", "--set", "model.layers=3")
folder = out / "first/checkpoints/step-000001"
said = train("second", gated, "--set", f"model.from={folder}")
first, second = weights("first"), weights("second")
assert all(torch.equal(second[name], tensor) for name, tensor in first.items())
new = sorted(second.keys() - first.keys())
assert new and all(".self_attn." in name for name in new), new
assert f"from       {folder}: {len(first)} tensors\n" in said, said
kinds = sorted({name.replace("layers.0.", "layers.*.") for name in new if "layers.0." in name})
assert f"new        {len(new)} tensors that are not there: {', '.join(kinds)}\n" in said and "left out" not in said, said
assert " 3 layers, 32 wide" in said, said  # of the folder, not of the file of settings
assert json.loads((out / "second/checkpoints/step-000001/config.json").read_text())["num_hidden_layers"] == 3

# Back: the gate's tensors are left out.
said = train("third", plain, "--set", f"model.from={out / 'second/checkpoints/step-000001'}")
assert all(torch.equal(tensor, first[name]) for name, tensor in weights("third").items())
assert f"left out   {len(new)} tensors that this model has not: {', '.join(kinds)}\n" in said and "\nnew " not in said, said

# A resumed run has its own weights; the folder's config.json says its sizes still.
said = train("second", gated, "--set", f"model.from={folder}", "--set", "train.steps=2", "--set", "optimizer.learning_rate=0.1", "--resume")
assert "resuming" in said and "\nfrom " not in said, said

# Two processes have the same weights as one.
train("shared", gated, "--set", f"model.from={folder}", "--processes", "2")
shared = weights("shared")
assert all(torch.allclose(shared[name], tensor, rtol=0, atol=1e-20) for name, tensor in second.items())

# A Llama that transformers saved: bf16, tied embeddings, biases that the attention here does not have, another rope_theta.
llama = transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=384, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
                                                               num_key_value_heads=2, tie_word_embeddings=True, attention_bias=True, rope_theta=500000.0)).to(torch.bfloat16)
llama.save_pretrained(out / "llama")
said = train("tied", plain, "--set", f"model.from={out / 'llama'}", "--set", f"data.tokenizer={folder / 'tokenizer.model'}")
tied, state = weights("tied"), llama.state_dict()
for name, tensor in tied.items():
    assert torch.equal(tensor, state[name if name in state else "model.embed_tokens.weight"].float()), name
assert "left out   8 tensors that this model has not: model.layers.*.self_attn.k_proj.bias, " in said and "4 heads of 8" in said, said


def refused(message, *more, spec=gated):
    said = train("refused", spec, *more, fails=True)
    assert message in said and not (out / "refused").exists(), said


refused(f"requires the tokenizer that the weights of model.from were trained with, but '{out}/llama/tokenizer.model' is not there; pass --set data.tokenizer=FILE",
        "--set", f"model.from={out / 'llama'}")
refused(f"expected the folder of a model in model.from, but '{out}/none' has no config.json", "--set", f"model.from={out / 'none'}")
other = out / "other"
for change, message in (({"hidden_act": "gelu"}, 'unsupported hidden_act = "gelu"'), ({"model_type": "gpt2"}, 'unsupported model_type "gpt2"'),
                        ({"num_hidden_layers": 2.5}, "expected a whole number from 1 to 10000 as 'num_hidden_layers'"),
                        ({"num_key_value_heads": 4}, f"in '{other}/config.json': expected model.kv_heads to be a divisor of model.heads = 2")):
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(folder, other)
    written = json.loads((other / "config.json").read_text())
    written.update(change)
    (other / "config.json").write_text(json.dumps(written))
    said = train("refused", gated, "--set", f"model.from={other}", fails=True)
    assert message in said, (message, said)
# Weights that are not those of the sizes, none at all, and other names.
shutil.rmtree(other)
shutil.copytree(folder, other)
tensors = dict(first)
tensors["model.norm.weight"] = torch.ones(31)
save_file(tensors, other / "model.safetensors")
assert "model.norm.weight" in train("refused", gated, "--set", f"model.from={other}", fails=True)
save_file({"transformer.wte.weight": torch.ones(2)}, other / "model.safetensors")
said = train("refused", gated, "--set", f"model.from={other}", fails=True)
assert f"expected tensors of a Llama in '{other}/model.safetensors', such as model.embed_tokens.weight, but none has a name of this model's" in said, said
(other / "model.safetensors").unlink()
assert "requires model.safetensors" in train("refused", gated, "--set", f"model.from={other}", fails=True)
