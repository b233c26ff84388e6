# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of libtaylor_torch.so from Python: those that the trainer and checkpoints use. (The package taylor_attention has its own.)

q is [B, H, T, d], k [B, G, U, d] and v [B, G, U, e], in any strides; further inputs of a specification (gates, learned
weights) follow v in its order, and one of fewer inputs is given as many. `spec` is the path of a .mlir file or its text, `options` are taylorc's: "--set order=6".
`documents`, integers [B, U], numbers the document of each key of a packed sequence, from below: each is attended to by itself.
A specification with several outputs gives its first; with `all_outputs=True` the result is a list of them all.
"""
import os
import pathlib

import torch
from taylor_attention.inputs import document_numbers, tensors  # by PYTHONPATH, as lit sets it

LIBRARIES = os.environ.get("TAYLOR_LIB") or pathlib.Path(__file__).resolve().parents[2] / "build" / "lib"
torch.ops.load_library(pathlib.Path(LIBRARIES) / "libtaylor_torch.so")


def attention(q, k=None, v=None, *more, spec, options="", offset=None, documents=None, all_outputs=False):
    inputs = tensors([q, k, v, *more])
    if documents is not None:
        inputs.append(document_numbers(documents))
        options += " --documents"
    outputs = torch.ops.taylor.attention(inputs, str(spec), options, offset)
    return outputs if all_outputs else outputs[0]


class Decoder:
    """Attention over a sequence that grows: what earlier tokens left (states, or keys and values) is kept. No gradients. Can be copied and pickled.

    `head_dim` and `value_dim` are the channels d and e, `dtype` is the storage type, `parameters` are the specification's, by name.
    """

    def __init__(self, spec, *, head_dim, value_dim=None, dtype=torch.float32, parameters=None, mask=""):
        for name, size in (("head_dim", head_dim), ("value_dim", value_dim or head_dim)):
            if not isinstance(size, int):
                raise TypeError(f"expected a whole number for {name}, but got {size!r}")
        values = {name: str(value) for name, value in (parameters or {}).items()}
        if not isinstance(dtype, torch.dtype):
            raise TypeError(f"expected a dtype of torch, such as torch.bfloat16, but got {dtype!r}")
        self.decoder = torch.classes.taylor.Decoder(str(spec), values, mask, head_dim, value_dim or head_dim, dtype)
        self.memory = torch.classes.taylor.Memory()

    def extend(self, q, k=None, v=None, *more):
        """The first output of new tokens, queries and keys at once, behind those so far: q [B, H, T, d], k [B, G, T, d], v [B, G, T, e] to [B, H, T, e]."""
        with torch.no_grad():
            return self.decoder.extend(tensors([q, k, v, *more]), self.memory)

    def tokens(self):
        return self.memory.tokens()
