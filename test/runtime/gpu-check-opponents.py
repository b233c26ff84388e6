# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: compiler, torch
# UNSUPPORTED: sanitizer
# RUN: env TRITON_INTERPRET=1 %python %s %source_dir %bin_dir
"""Opponents of runtime/lab/gpu-check compute what our specifications say: outputs and gradients of the code that `taylorc --emit=torch` prints."""
import importlib.util
import pathlib
import subprocess
import sys
import types
import warnings

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import flex_attention

source, binaries = map(pathlib.Path, sys.argv[1:3])
sys.dont_write_bytecode = True
sys.path.insert(0, str(source / "runtime" / "lab" / "gpu-check"))
import opponents
from contenders import Problem
from device import Host
from errors import Unavailable

warnings.filterwarnings("ignore", "flex_attention called without torch.compile")
SIZES = {"b": 2, "h": 2, "g": 2, "t": 192, "u": 192, "d": 64, "e": 64}


def problem_of(dtype=torch.float32, **sizes):
    return Problem({**SIZES, **sizes}, dtype, Host("cpu"))


def eager(name):
    text = subprocess.run([binaries / "taylorc", source / "examples" / "specs" / f"{name}.mlir", "--emit=torch"], capture_output=True, text=True, check=True).stdout
    scope = {"torch": torch, "Tensor": Tensor}
    exec(compile(text, name, "exec"), scope)
    return [value for value in scope.values() if isinstance(value, types.FunctionType)][-1]


def of_eager(name, problem, dtype=torch.float64):
    inputs = [x.detach().to(dtype).requires_grad_() for x in (problem.q, problem.k, problem.v)]
    output = eager(name)(*inputs)
    return [output.detach(), *torch.autograd.grad(output, inputs, problem.cotangent.to(dtype))]


def of(contender):
    return [contender.output.detach(), *torch.autograd.grad(contender.output, contender.wanted, contender.cotangent, retain_graph=True)]


def errors(results, exact):
    return [((x.double() - y.double()).norm() / y.double().norm()).item() for x, y in zip(results, exact)]


def agree(title, contender, exact, allowed=1e-6):
    """`allowed` for all four, or for each."""
    found = errors(of(contender), exact)
    bounds = allowed if isinstance(allowed, list) else [allowed] * 4
    assert all(error <= bound for error, bound in zip(found, bounds)), (title, found, bounds)


def unavailable(maker, message):
    try:
        maker()
    except Unavailable as error:
        assert str(error) == message, str(error)
        return
    raise AssertionError(f"expected '{message}'")


def plain(q, k, v, block_mask, score_mod, scale, enable_gqa, kernel_options):
    """FlexAttention in plain code, since it has no backward on a processor; its forward is held against it."""
    tokens = torch.arange(q.shape[2])
    hidden = tokens[:, None] < tokens
    score = q @ k.transpose(-2, -1) * (q.shape[-1] ** -0.5 if scale is None else scale)
    score = score if score_mod is None else score_mod(score, 0, 0, tokens[:, None], tokens)
    output = score.masked_fill(hidden, float("-inf")).softmax(-1) @ v
    with torch.no_grad():
        theirs = flex_attention(q.detach(), k.detach(), v.detach(), block_mask=block_mask, score_mod=score_mod, scale=scale, enable_gqa=enable_gqa, kernel_options=kernel_options)
    assert errors([theirs], [output.detach()])[0] <= 1e-6
    return output


# ---- SDPA after the rotation: channels i and i + D/2 are a pair.
for sizes in ({}, {"d": 32, "e": 32, "t": 65, "u": 65}):
    problem = problem_of(**sizes)
    agree(f"rotation {sizes}", opponents.rotated_sdpa(problem, "SDPA flash"), of_eager("softmax", problem))

# ---- FlexAttention after the rotation, and with the weights of other specifications.
problem = problem_of()
softmax, series, product = (of_eager(name, problem) for name in ("softmax", "softmax-taylor", "linear-relu"))
agree("FlexAttention", opponents.flex(problem, "Triton", rotated=True, attention=plain), softmax)
agree("series", opponents.flex_series(problem, "Triton", attention=plain), series)
agree("relu", opponents.flex_relu(problem, "Triton", attention=plain), product)
assert errors(series, softmax)[0] > 1e-4, "the series of order 10 is another function than the exponential"
unavailable(lambda: opponents.flex(problem, "FLASH"), "flash_attn.cute is not installed")

def take_numbers_as_numpy_does():
    """Triton 3.6's interpreter makes a number of an array of one element by int(), which numpy 2.4 refuses."""
    import triton.runtime.interpreter as interpreter

    original = interpreter._patch_lang_tensor

    def patch(tensor, scope):
        original(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())

    interpreter._patch_lang_tensor = patch


# ---- Chunks in Triton, in its interpreter: in f32; in f16 at most twice eager code's error. (The interpreter multiplies no bf16.)
if importlib.util.find_spec("triton") is None:
    unavailable(lambda: opponents.chunked_relu(problem), "ModuleNotFoundError: No module named 'triton'")
else:
    take_numbers_as_numpy_does()
    agree("Triton", opponents.chunked_relu(problem), product)
    rounded = problem_of(torch.float16, d=128, e=64)
    exact = of_eager("linear-relu", rounded)
    agree("Triton in f16", opponents.chunked_relu(rounded), exact, [2 * error for error in errors(of_eager("linear-relu", rounded, torch.float16), exact)])
    unavailable(lambda: opponents.chunked_relu(problem_of(t=65, u=65)),
                "requires whole chunks of 64 tokens, and as many keys and heads of keys as there are of queries")
    unavailable(lambda: opponents.chunked_relu(problem_of(d=32)), "requires head sizes of 64 or 128")
