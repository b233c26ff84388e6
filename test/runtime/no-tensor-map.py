# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A compiled artifact of sm_90a+roles and sm_80: tensors that a tensor map describes run the first code, and others the second one, which taylor_form tells.
# Keys whose tokens overlap, half a row apart, have no map (codegen/Targets/NVPTX/HOPPER.md, "Calls without tensor maps").
# REQUIRES: taylorc, torch
# UNSUPPORTED: sanitizer
# RUN: env TAYLOR_PTXAS= taylorc %S/artifact-fixture/plain.mlir --quiet --dtype=bf16 --head-dim=64 --forward-only --form=parallel --target=sm_90a+roles,sm_80 -o %t.so
# RUN: env TAYLOR_PTXAS= taylorc %S/artifact-fixture/plain.mlir --quiet --dtype=bf16 --head-dim=64 --forward-only --form=parallel --target=sm_90a+roles -o %t.alone.so
# RUN: %python %s %lib_dir %t.so %t.alone.so
import ctypes
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "Inputs"))
from c_structures import Options, Tensor

BF16, CPU, PTX = 1, 0, 2  # runtime/taylor.h
B, H, T, D = 1, 2, 70, 64


runtime = ctypes.CDLL(str(pathlib.Path(sys.argv[1]) / "libtaylor.so"))
runtime.taylor_last_error.restype = runtime.taylor_tensor_name.restype = ctypes.c_char_p
runtime.taylor_tensor_count.restype = ctypes.c_int64
options = Options(struct_size=ctypes.sizeof(Options), threads=1, device=PTX)


def load(path):
    kernel = ctypes.c_void_p()
    assert runtime.taylor_load(path.encode(), ctypes.byref(kernel)) == 0, runtime.taylor_last_error()
    return kernel


def view(tensor):
    numbers = lambda values: (ctypes.c_int64 * len(values))(*values)
    assert tensor.data_ptr() % 16 == 0
    return Tensor(tensor.data_ptr(), BF16, CPU, tensor.dim(), numbers(tensor.shape), numbers(tensor.stride()))


def call(kernel, q, k, v):
    """The form, and the output; or the error."""
    o = torch.zeros_like(q)
    names = [runtime.taylor_tensor_name(kernel, b"forward", ctypes.c_int64(i)).decode() for i in range(runtime.taylor_tensor_count(kernel, b"forward"))]
    given = {"input:q": q, "input:k": k, "input:v": v, "output:o": o}
    tensors = (Tensor * len(names))(*(view(given[name]) if name in given else Tensor() for name in names))
    form = ctypes.c_char_p()
    if runtime.taylor_form(kernel, b"forward", tensors, ctypes.c_int64(len(names)), ctypes.byref(options), ctypes.byref(form)):
        return runtime.taylor_last_error().decode(), None
    assert runtime.taylor_run(kernel, b"forward", tensors, ctypes.c_int64(len(names)), ctypes.byref(options)) == 0, runtime.taylor_last_error()
    return form.value.decode(), o


torch.manual_seed(1)
q, v, line = (torch.randn(B, H, T, D).bfloat16(), torch.randn(B, H, T, D).bfloat16(), torch.randn(B, H, (T + 1) * D // 2).bfloat16())
overlapping = line.as_strided((B, H, T, D), (line.stride(0), line.stride(1), D // 2, 1))
dense = overlapping.contiguous()
scores = (q.double() @ dense.double().transpose(2, 3) * D**-0.5).masked_fill(torch.ones(T, T).tril() == 0, -torch.inf)
expected = torch.softmax(scores, 3) @ v.double()

both, alone = map(load, sys.argv[2:4])
for kernel, k, said in ((both, dense, "parallel"), (alone, dense, "parallel"), (both, overlapping, "parallel on sm_80")):
    form, o = call(kernel, q, k, v)
    assert form == said, form
    error = (o.double() - expected).abs().max().item()
    assert error < 0.03 * expected.abs().max().item(), (said, error)
message, _ = call(alone, q, overlapping, v)
assert message.startswith("requires tensors that a tensor map describes, for code of sm_90a+roles in ") and "'input:k'" in message, message
assert message.endswith("compile with --target=sm_90a+roles,sm_80, whose second code needs no tensor maps"), message
