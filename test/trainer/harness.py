# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checkpoints in EleutherAI's lm-evaluation-harness: the log-likelihoods that it computes, by its own model class and without a network, are those of
# taylor-generate's logits, for softmax and for an attention that transformers does not have.
# WARM: taylor-train taylor-generate
# REQUIRES: taylorc, harness
# RUN: env HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 HF_HOME=%t.cache %python %s %tiny %spec_dir %t
import json
import pathlib
import shutil
import subprocess
import sys

import transformers
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from safetensors.torch import load_file

config, specifications, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
shutil.rmtree(out, ignore_errors=True)
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


class Ours:
    """Log-likelihoods from the program: one run a position, for the logits of the first token that it would generate."""

    def __init__(self, checkpoint):
        self.checkpoint, self.known = checkpoint, {}

    def _after(self, text):
        """The tokens of the text, and the logarithms of the next token's probabilities."""
        if text not in self.known:
            logits = out / "logits.safetensors"
            result = json.loads(run("taylor-generate", "--checkpoint", self.checkpoint, "--prompt", text, "--tokens", "1", "--temperature", "0", "--json", "--logits", logits))
            self.known[text] = result["prompt_tokens"], load_file(logits)["logits"][0].double().log_softmax(-1)
        return self.known[text]

    def loglikelihood(self, context, continuation, tokenizer):
        """(log-likelihood, whether greedy decoding would give it) of the continuation."""
        whole, total, greedy = self._after(context + continuation)[0], 0.0, True
        before = self._after(context)[0]
        first = len(before)
        assert before == whole[:first], (context, continuation)  # else the harness scores tokens that the text does not have
        for place in range(first, len(whole)):
            before, logarithms = self._after(tokenizer.decode(whole[1:place]))
            assert before == whole[:place], (before, whole)
            total += logarithms[whole[place]].item()
            greedy = greedy and logarithms.argmax().item() == whole[place]
        assert first < len(whole)
        return total, greedy


PAIRS = (("You may", " copy"), ("You may reproduce", " and"), ("the", " Work"))
for name, *options in (("softmax",), ("softmax-norm-l2",), ("softmax-taylor", "--set", "order=2")):
    run("taylor-train", "--config", config, "--attention", specifications / f"{name}.mlir", "--out", out / name, "--set", "train.steps=2",
        "--set", "optimizer.learning_rate=0.01", "--set", "schedule.warmup=0", *options)  # logits far from 0
    checkpoint = out / name / "checkpoints/step-000002"
    model = HFLM(pretrained=str(checkpoint), trust_remote_code=name != "softmax", device="cpu", dtype="float32", batch_size=2, max_length=64)
    ours = Ours(checkpoint)
    # Pairs of different lengths share a batch: padding changes nothing.
    given = model.loglikelihood([Instance("loglikelihood", {}, pair, number) for number, pair in enumerate(PAIRS)], disable_tqdm=True)
    for pair, (value, greedy) in zip(PAIRS, given):
        wanted, wanted_greedy = ours.loglikelihood(*pair, model.tokenizer)
        assert abs(value - wanted) <= 1e-5 * abs(wanted) and greedy == wanted_greedy, (name, pair, value, wanted, greedy)
    # A whole text, from the beginning: what perplexities are made of. The harness puts <s> before it, so the tokenizer should not.
    model.add_bos_token = False
    value, = model.loglikelihood_rolling([Instance("loglikelihood_rolling", {}, ("You may copy",), 0)], disable_tqdm=True)
    wanted, _ = ours.loglikelihood("", "You may copy", model.tokenizer)
    assert abs(value - wanted) <= 1e-5 * abs(wanted), (name, value, wanted)
