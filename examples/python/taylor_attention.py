# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fused attention from a Taylor specification, differentiable, on torch tensors.

q is [B, H, T, d], k [B, G, U, d] and v [B, G, U, e], in any strides; further inputs of a specification (gates, learned
weights) follow v in its order. `spec` is the path of a .mlir file or its text, `options` are taylorc's: "--set order=6".
"""
import os
import pathlib

import torch

HERE = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = [os.environ.get("TAYLOR_LIB", ""), HERE / "build" / "lib", HERE.parent / "lib"]  # chosen, build tree, installed
torch.ops.load_library(next(p for f in FOLDERS if f and (p := pathlib.Path(f) / "libtaylor_torch.so").exists()))


def attention(q, k, v, *more, spec, options="", offset=None):
    return torch.ops.taylor.attention([q, k, v, *more], str(spec), options, offset)[0]
