# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checkpoints in Hugging Face's transformers: softmax attention as a plain Llama, all others by the files that lie beside them, with the logits that
# taylor-generate has; also for padded batches, in bf16, with gates, learned weights, convolutions and series, and after save_pretrained.
# REQUIRES: taylorc, transformers
# RUN: env HF_HUB_OFFLINE=1 HF_HOME=%t.cache TAYLOR_LIB=%lib_dir %python %s %tiny %spec_dir %fixture/gated.mlir %t
import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys

import sentencepiece
import torch
import transformers
from safetensors.torch import load_file

config, specifications, gated, out = sys.argv[1:]
out = pathlib.Path(out)
shutil.rmtree(out, ignore_errors=True)
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def train(name, spec, *more):
    run("taylor-train", "--config", config, "--attention", spec, "--out", out / name, "--set", "train.steps=2", *more)
    return out / name / "checkpoints/step-000002"


def load(folder, **options):
    model, report = transformers.AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True, output_loading_info=True, **options)
    assert not any(report[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys")), report
    return model.eval()


def ours(folder, prompt="You may"):
    """Tokens of taylor-generate, prompt and continuation, and the logits of the latter. Few enough for the context of softmax."""
    result = json.loads(run("taylor-generate", "--checkpoint", folder, "--prompt", prompt, "--tokens", "16", "--temperature", "0", "--json",
                            "--logits", out / "logits.safetensors"))
    return result["prompt_tokens"], result["tokens"], load_file(out / "logits.safetensors")["logits"]


@torch.no_grad()
def compare(folder, model, tolerance, prompt="You may"):
    prompt, tokens, want = ours(folder, prompt)
    assert 4 < len(tokens) and want.shape == (len(tokens), 384), (folder, tokens, want.shape)
    got = model(torch.tensor([prompt + tokens[:-1]])).logits[0, len(prompt) - 1:]
    error = (got - want).abs().max().item() / want.abs().max().item()
    assert got.dtype == torch.float32 and error <= tolerance, (folder, error)
    # One token after the other by transformers' own loop, from what earlier ones left and from the whole text.
    for use_cache in (True, False):
        made = model.generate(torch.tensor([prompt]), max_new_tokens=16, do_sample=False, output_logits=True, return_dict_in_generate=True, use_cache=use_cache)
        assert made.sequences[0].tolist() == prompt + tokens, (folder, made.sequences, tokens)
        error = (torch.cat(made.logits) - want).abs().max().item() / want.abs().max().item()
        assert error <= tolerance, (folder, use_cache, error)
        assert type(made.past_key_values).__name__ == ("NoneType" if not use_cache else "DynamicCache" if "softmax" in str(folder) else "TaylorCache")


faster = ("--set", "optimizer.learning_rate=0.01", "--set", "schedule.warmup=0")  # logits far from 0
softmax = train("softmax", f"{specifications}/softmax.mlir", *faster)
model = load(softmax)
assert type(model).__module__.startswith("transformers.models.llama"), type(model)
compare(softmax, model, 1e-5)
tokenizer = transformers.AutoTokenizer.from_pretrained(softmax)
assert tokenizer("You may reproduce").input_ids == ours(softmax, "You may reproduce")[0]

# A user's own tokenizer: with a blank in front of every text, as Llama-2's, and other names of the pieces that mean something.
text = pathlib.Path(specifications, "../../LICENSE").read_text()
for name, options in (("prefix", dict(add_dummy_prefix=True)), ("names", dict(add_dummy_prefix=False, bos_piece="[begin]", eos_piece="[end]", unk_piece="[?]"))):
    with open(out / f"{name}.model", "wb") as file:
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(text.splitlines()), model_writer=file, model_type="bpe", vocab_size=384, byte_fallback=True,
                                                 normalization_rule_name="identity", remove_extra_whitespaces=False, allow_whitespace_only_pieces=True,
                                                 minloglevel=2, **options)
    folder = train(name, f"{specifications}/softmax.mlir", "--set", f"data.tokenizer={out}/{name}.model")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    special = sentencepiece.SentencePieceProcessor(str(out / f"{name}.model"))
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id) == (special.bos_id(), special.eos_id(), special.unk_id()), name
    for prompt in ("You may reproduce", "a", "x  é\n\ty = 1", "café 😀"):
        want = ours(folder, prompt)[0]
        assert want == [special.bos_id()] + special.encode(prompt) and tokenizer(prompt).input_ids == want, (name, prompt, tokenizer(prompt).input_ids, want)
        assert tokenizer.decode(want[1:]) == prompt, (name, prompt, tokenizer.decode(want[1:]))

parameters = pathlib.Path(specifications, "softmax-taylor.mlir"), "--set", "order=2"
cases = {"norm": (f"{specifications}/softmax-norm-l2.mlir",), "taylor": parameters, "gated": (gated,), "conv": (f"{specifications}/conv-gates.mlir",)}
for name, (spec, *more) in cases.items():
    folder = train(name, spec, *more, *faster)
    model = load(folder)
    assert type(model).__name__ == "TaylorForCausalLM"
    compare(folder, model, 1e-5)
    # The text in config.json is the file.
    assert model.config.taylor["text"] == (folder / "attention.mlir").read_text() == pathlib.Path(spec).read_text()
    # Padded in front, behind, or not at all: the tokens of each text have the logits they have alone.
    torch.manual_seed(1)
    tokens, mask = torch.randint(3, 384, (3, 21)), torch.ones(3, 21, dtype=torch.long)
    mask[1, :6], mask[2, 15:] = 0, 0
    with torch.no_grad():
        together = model(tokens, attention_mask=mask).logits
        for row in range(3):
            real = mask[row].bool()
            alone = model(tokens[row:row + 1, real]).logits[0]
            assert (together[row, real] - alone).abs().max() < 1e-5 * alone.abs().max(), (name, row)
    first = model.generate(tokens[1:2, 6:], max_new_tokens=5, do_sample=False)[0, 15:]
    padded = model.generate(tokens[:2], attention_mask=mask[:2], max_new_tokens=5, do_sample=False)[1, 21:]
    assert first.tolist() == padded.tolist(), name
    # Beams, which reorder what is kept between tokens; several texts.
    beams = [model.generate(tokens, num_beams=3, max_new_tokens=5, do_sample=False, eos_token_id=None, use_cache=use_cache) for use_cache in (True, False)]
    assert beams[0].shape == (3, 26) and beams[0].equal(beams[1]), (name, beams)

copied = copy.deepcopy(model)
assert copied.generate(tokens, max_new_tokens=2, do_sample=False).equal(model.generate(tokens, max_new_tokens=2, do_sample=False))

# A mask that no padding gives, and inputs that are none.
for options, message in ((dict(attention_mask=torch.tensor([[1, 0, 1]])), "unsupported attention_mask: padding between tokens of a text"),
                         (dict(attention_mask=torch.tensor([[0, 1, 1]]), use_cache=True), "unsupported use_cache for a batch that is padded in front of its texts"),
                         (dict(attention_mask=torch.ones(1, 2)), "expected attention_mask of shape [1, 3], but got [1, 2]")):
    try:
        model(tokens[:1, :3], **options)
        raise AssertionError(message)
    except ValueError as error:
        assert message in str(error), error

# Trained on: every tensor gets a gradient; a model of that kind begins anew from its configuration.
loss = model(tokens, labels=tokens).loss
loss.backward()
assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in model.parameters())
fresh = transformers.AutoModelForCausalLM.from_config(model.config, trust_remote_code=True)
for (name, was), now in zip(model.named_parameters(), fresh.parameters(), strict=True):
    assert was.shape == now.shape and now.isfinite().all()
    assert not name.endswith("q_proj.weight") or abs(now.std() - 0.02) < 0.002, (name, now.std())
assert abs(fresh(tokens, labels=tokens).loss.item() - 5.95) < 0.1  # log(384)

# Saved by transformers and read by us: the same tokens and logits.
folder = out / "norm/checkpoints/step-000002"
model = load(folder)
model.save_pretrained(out / "saved")
for name in ("attention.mlir", "tokenizer.model"):
    shutil.copy(folder / name, out / "saved")
assert ours(folder)[:2] == ours(out / "saved")[:2]
compare(out / "saved", load(out / "saved"), 1e-5)

# bf16: as trained, with products in bf16; and with weights in bf16.
for name, spec in (("norm16", f"{specifications}/softmax-norm-l2.mlir"), ("gated16", gated)):
    folder = train(name, spec, "--set", "train.precision=bf16", *faster)
    model = load(folder)
    assert model.dtype == torch.float32
    compare(folder, model, 1e-2)
    half = load(folder, dtype=torch.bfloat16)
    with torch.no_grad():
        error = (half(tokens).logits - model(tokens).logits).abs().max() / model(tokens).logits.abs().max()
    assert half.dtype == torch.bfloat16 and error < 0.05, error

# Where the operator is not found.
for library, message in ({"TAYLOR_LIB": ""}, "requires Taylor's torch operator: set TAYLOR_LIB"), ({"TAYLOR_LIB": str(out)}, f"expected libtaylor_torch.so in '{out}'"):
    code = f"import transformers; transformers.AutoModelForCausalLM.from_pretrained('{folder}', trust_remote_code=True)"
    result = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, PATH="/usr/bin:/bin", TAYLORC="") | library, stderr=subprocess.PIPE, text=True)
    assert result.returncode and message in result.stderr, result.stderr
