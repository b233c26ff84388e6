# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checkpoints in Hugging Face's transformers: softmax attention as a plain Llama, all others by the files that lie beside them, with the logits that
# taylor-generate has; also for padded batches, in bf16, with gates, learned weights, convolutions and series, and after save_pretrained.
# WARM: taylor-train taylor-generate
# REQUIRES: taylorc, transformers
# RUN: env HF_HUB_OFFLINE=1 HF_HOME=%t.cache TAYLOR_LIB=%lib_dir %python %s %tiny %spec_dir %fixture/gated.mlir %t %python %full
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

config, specifications, gated, out, python, full = sys.argv[1:]
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
    if full == "0" and name not in ("gated", "conv"):
        continue  # what is more than the computation is the same code for all
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
    made = model.generate(tokens[:2], attention_mask=mask[:2], max_new_tokens=5, do_sample=False, return_dict_in_generate=True)
    assert first.tolist() == made.sequences[1, 21:].tolist(), name
    assert type(made.past_key_values).__name__ == "TaylorCache"
    with torch.no_grad():
        # With a cache too, of a batch in which texts are padded on either side and in the pieces that come: what a text's tokens left is seen, and
        # no padding.
        pieces = ((tokens, mask), (torch.randint(3, 384, (3, 1)), torch.tensor([[1], [1], [1]])), (torch.randint(3, 384, (3, 4)), torch.tensor([[1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]])))
        cache, seen_tokens, seen_mask = None, torch.empty(3, 0, dtype=torch.long), torch.empty(3, 0, dtype=torch.long)
        for piece, visible in pieces:
            seen_tokens, seen_mask = torch.cat([seen_tokens, piece], 1), torch.cat([seen_mask, visible], 1)
            given = model(piece, attention_mask=seen_mask, past_key_values=cache, use_cache=True)
            cache = given.past_key_values
            for row in range(3):
                new = int(visible[row].sum())
                if new:
                    alone = model(seen_tokens[row:row + 1, seen_mask[row].bool()]).logits[0, -new:]
                    assert (given.logits[row, visible[row].bool()] - alone).abs().max() < 1e-5 * alone.abs().max(), (name, row, new)
        try:
            model(piece, attention_mask=torch.ones(3, 30), past_key_values=cache, use_cache=True)
            raise AssertionError("another mask")
        except ValueError as error:
            assert str(error) == "expected attention_mask to be that of past_key_values for the tokens that these have seen, but it is another", error
        # Packed: position_ids that begin again begin another text, also behind padding.
        positions = torch.cat([torch.arange(8), torch.arange(13)])[None].expand(3, -1).clone()
        apart = torch.cat([model(tokens[:, :8]).logits, model(tokens[:, 8:]).logits], 1)
        packed = model(tokens, position_ids=positions).logits
        assert (packed - apart).abs().max() < 1e-5 * apart.abs().max(), name
        positions[1, :3] = 1  # as collators number padding
        positions[1, 3:8] = torch.arange(5)
        padded = torch.ones(3, 21, dtype=torch.long)
        padded[1, :3] = 0
        packed = model(tokens, position_ids=positions, attention_mask=padded).logits[1]
        apart = torch.cat([model(tokens[1:2, 3:8]).logits[0], model(tokens[1:2, 8:]).logits[0]])
        assert (packed[3:] - apart).abs().max() < 1e-5 * apart.abs().max(), name
        # What one text's positions are by itself changes nothing.
        assert model(tokens, position_ids=torch.arange(21)[None]).logits.equal(model(tokens).logits)
    # Beams, which reorder what is kept between tokens; several texts.
    beams = [model.generate(tokens, num_beams=3, max_new_tokens=5, do_sample=False, eos_token_id=None, use_cache=use_cache) for use_cache in (True, False)]
    assert beams[0].shape == (3, 26) and beams[0].equal(beams[1]), (name, beams)

copied = copy.deepcopy(model)
assert copied.generate(tokens, max_new_tokens=2, do_sample=False).equal(model.generate(tokens, max_new_tokens=2, do_sample=False))

# What a model does nothing about is refused; so is a mask that no padding gives.
for options, message in (
        (dict(attention_mask=torch.tensor([[1, 0, 1]])), "unsupported attention_mask: padding between tokens of a text; pad in front of it or behind it"),
        (dict(attention_mask=torch.tensor([[1, 0, 1]]), use_cache=True), "unsupported attention_mask: padding between tokens of a text; pad in front of it or behind it"),
        (dict(attention_mask=torch.ones(1, 2)), "expected attention_mask of shape [1, 3], but got [1, 2]"),
        (dict(position_ids=torch.tensor([[1, 2, 3]])), "unsupported position_ids: those of a text count from 0, one by one, and begin again from 0 where the next text does"),
        (dict(position_ids=torch.tensor([[0, 2, 3]])), "unsupported position_ids: those of a text count from 0, one by one, and begin again from 0 where the next text does"),
        (dict(position_ids=torch.tensor([[0, 1]])), "expected position_ids of shape [1, 3], but got [1, 2]"),
        (dict(position_ids=torch.tensor([[0, 0, 1]]), use_cache=True), "unsupported position_ids with use_cache: a row is one text there, whose tokens are numbered from 0; "
         "pass use_cache=False for packed texts, or leave position_ids out"),
        (dict(cache_position=torch.tensor([1, 2, 3]), use_cache=True), "expected cache_position to be the columns from 0 on, which are next, but got [1, 2, 3]"),
        (dict(past_key_values=transformers.DynamicCache(), use_cache=True), "expected past_key_values that this model has given, a TaylorCache, but got DynamicCache"),
        (dict(output_attentions=True), "unsupported output_attentions: a kernel gives no weights of pairs; pass output_attentions=False"),
        (dict(token_type_ids=tokens[:1, :3]), "unsupported argument token_type_ids: TaylorForCausalLM does not know it; leave it out"),
        (dict(cu_seq_lens_q=torch.tensor([0, 3])), "unsupported argument cu_seq_lens_q: TaylorForCausalLM does not know it; leave it out and pass position_ids that begin again with each text")):
    try:
        model(tokens[:1, :3], **options)
        raise AssertionError(message)
    except ValueError as error:
        assert message == str(error), error

# Hidden states, as Llama counts them: the embeddings, what each layer gives, the last after the norm.
with torch.no_grad():
    states = model(tokens, output_hidden_states=True).hidden_states
    assert len(states) == 3 and states[0].equal(model.model.embed_tokens(tokens))
    assert states[1].equal(model.model.layers[0](states[0])) and states[2].equal(model.model(tokens).last_hidden_state)
    assert model(tokens).hidden_states is None

# Less memory for more work: the same gradients.
def gradients():
    model.zero_grad()
    model(tokens, labels=tokens).loss.backward()
    return [parameter.grad.clone() for parameter in model.parameters()]


model.train()
whole = gradients()
model.gradient_checkpointing_enable()
assert all(layer.gradient_checkpointing for layer in model.model.layers)
calls = []
hook = model.model.layers[0].mlp.register_forward_pre_hook(lambda *ignored: calls.append(None))
assert all(a.equal(b) for a, b in zip(whole, gradients())) and len(calls) == 2  # a second time in the backward
hook.remove()
model.gradient_checkpointing_disable()
model.eval()

# Trained on: every tensor gets a gradient; a model of that kind begins anew from its configuration.
loss = model(tokens, labels=tokens).loss
loss.backward()
assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in model.parameters())
fresh = transformers.AutoModelForCausalLM.from_config(model.config, trust_remote_code=True)
for (name, was), now in zip(model.named_parameters(), fresh.parameters(), strict=True):
    assert was.shape == now.shape and now.isfinite().all()
    assert not name.endswith("q_proj.weight") or abs(now.std() - 0.02) < 0.002, (name, now.std())
assert abs(fresh(tokens, labels=tokens).loss.item() - 5.95) < 0.1  # log(384)

# Saved by transformers, whole or in shards, and read by us: the same tokens and logits. A model's tokenizer is another object's business there.
for name in ("norm", "softmax"):
    folder = out / name / "checkpoints/step-000002"
    model = load(folder)
    for shards in ({}, {"max_shard_size": "50KB"}):
        saved = out / f"saved-{name}"
        shutil.rmtree(saved, ignore_errors=True)
        model.save_pretrained(saved, **shards)
        assert (saved / "model.safetensors.index.json").exists() == bool(shards) and not (saved / "attention.mlir").exists(), list(saved.iterdir())
        failed = subprocess.run(["taylor-generate", "--checkpoint", saved], stderr=subprocess.PIPE, text=True)
        assert failed.returncode == 1 and failed.stderr == (
            f"error: requires a tokenizer, but '{saved}/tokenizer.model' is not there; copy it from the checkpoint that this one was made of, "
            "or pass it with --tokenizer FILE\n"), failed
        named = json.loads(run("taylor-generate", "--checkpoint", saved, "--tokenizer", folder / "tokenizer.model", "--prompt", "You may", "--tokens", "16",
                               "--temperature", "0", "--json"))
        shutil.copy(folder / "tokenizer.model", saved)
        want, got = ours(folder), ours(saved)
        assert want[:2] == got[:2] == (named["prompt_tokens"], named["tokens"]) and want[2].equal(got[2]), (name, shards)
        compare(saved, load(saved), 1e-5)
    # A shard that is missing; a checkpoint of before config.json had the text of a specification that is Llama's.
    gone = sorted(saved.glob("model-*.safetensors"))[-1]
    gone.rename(out / "shard")
    failed = subprocess.run(["taylor-generate", "--checkpoint", saved], stderr=subprocess.PIPE, text=True)
    assert failed.stderr == (f"error: requires '{gone.name}', which '{saved}/model.safetensors.index.json' names, but '{saved}' has none; copy it too\n"), failed
    (out / "shard").rename(gone)
    config_json = json.loads((saved / "config.json").read_text())
    del config_json["taylor"]["text"]
    (saved / "config.json").write_text(json.dumps(config_json))
    failed = subprocess.run(["taylor-generate", "--checkpoint", saved], stderr=subprocess.PIPE, text=True)
    assert failed.stderr == (f"error: requires the specification of the checkpoint, but '{saved}/attention.mlir' is not there and config.json has no text of it; "
                             "copy 'attention.mlir' from the checkpoint that this one was made of, or pass it with --attention SPEC.mlir\n"), failed
    run("taylor-generate", "--checkpoint", saved, "--attention", folder / "attention.mlir", "--tokens", "2")

# bf16: as trained, with products in bf16; and with weights in bf16.
for name, spec in (("norm16", f"{specifications}/softmax-norm-l2.mlir"), ("gated16", gated))[full == "0":]:
    folder = train(name, spec, "--set", "train.precision=bf16", *faster)
    model = load(folder)
    assert model.dtype == torch.float32
    compare(folder, model, 1e-2)
    half = load(folder, dtype=torch.bfloat16)
    with torch.no_grad():
        error = (half(tokens).logits - model(tokens).logits).abs().max() / model(tokens).logits.abs().max()
    assert half.dtype == torch.bfloat16 and error < 0.05, error

# Where the package is: installed, in the source tree of a build folder, or nowhere; and where its library is not.
code = f"""
import transformers
try:
    transformers.AutoModelForCausalLM.from_pretrained({str(folder)!r}, trust_remote_code=True)
    print("found")
except Exception as error:
    print(str(error).replace(chr(10), " "))
"""
package, library = str(pathlib.Path(specifications, "../../runtime/python").resolve()), os.environ["TAYLOR_LIB"]
cases = [("", "", "requires the package taylor_attention: install its wheel, or put the folder runtime/python of Taylor's source into PYTHONPATH"),
         (package, str(out), f"expected _taylor.so in {out}, but it is not there"), (package, library, "found")]
if pathlib.Path(package).parents[1] in pathlib.Path(library).resolve().parents:
    cases.append(("", library, "found"))
for path, folder_of_library, message in cases:
    line = subprocess.run([python, "-c", code], env=dict(os.environ, PATH="/usr/bin:/bin", PYTHONPATH=path, TAYLORC="", TAYLOR_LIB=folder_of_library),
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    assert message in line, (path, folder_of_library, line)
