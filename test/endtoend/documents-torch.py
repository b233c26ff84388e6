# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A packed sequence through the torch operator is each of its documents by itself: outputs and the gradients of every input, in both forms, on the processor
# and in the interpreter of PTX. Each document by itself is compiled without --documents.
# RUN: env TAYLOR_FULL=%full TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s %spec_dir
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
import json
import os
import pathlib
import subprocess
import sys
import unittest

import torch

from taylor_attention import attention

SPECS = pathlib.Path(sys.argv.pop(1))
FULL = os.environ["TAYLOR_FULL"] == "1"
# Documents of one token and of more than a tile; boundaries on and off the edges of tiles; two sequences with documents of their own.
LENGTHS = [[1, 64, 3, 80, 52], [128, 72]]
PTX = "--device=ptx --target=sm_80"


def describe(path, *options):
    text = subprocess.run([os.environ["TAYLORC"], path, "--emit=manifest", *options], capture_output=True, text=True, check=True).stdout
    return json.loads(text)


class Documents(unittest.TestCase):
    def check(self, name, options="", dtype=torch.float32, tolerance=1e-5, lengths=LENGTHS, heads=4):
        path = str(SPECS / f"{name}.mlir")
        settings = [word for word in options.split() if not word.startswith(("--device", "--target"))]
        manifest = describe(path, "--documents", "--head-dim=16", "--value-dim=24", *settings)
        tensors = manifest["tensors"]["inputs"]
        self.assertEqual((tensors[-1]["name"], tensors[-1]["dtype"], tensors[-1]["axes"]), ("documents", "i32", ["b", "u"]))
        batch, size = len(lengths), sum(lengths[0])
        sizes = {"b": batch, "h": heads, "g": heads // 2, "t": size, "u": size, **manifest["sizes"]}
        generator = torch.Generator().manual_seed(5)
        inputs, axes = [], [array["axes"] for array in tensors[:-1]]
        for array in tensors[:-1]:
            real = torch.float32 if array["source"]["kind"] == "parameter" and dtype != torch.float64 else dtype
            inputs.append(torch.randn([sizes[axis] for axis in array["axes"]], generator=generator, dtype=torch.float64).to(real).requires_grad_())
        # Any numbers do, as long as they ascend: 3 per document, in 64 bits.
        documents = torch.stack([torch.repeat_interleave(3 * torch.arange(len(row)), torch.tensor(row)) for row in lengths])

        packed = attention(*inputs, spec=path, options=options, documents=documents)
        cotangent = torch.randn(packed.shape, generator=generator, dtype=torch.float64).to(dtype)
        gradients = torch.autograd.grad(packed, inputs, cotangent)

        rows = []
        for b, row in enumerate(lengths):
            ends = torch.tensor(row).cumsum(0).tolist()
            alone = []
            for begin, end in zip([0, *ends], ends):
                def cut(x, names):
                    for axis, first, past in (("b", b, b + 1), ("t", begin, end), ("u", begin, end)):
                        if axis in names:
                            x = x.narrow(names.index(axis), first, past - first)
                    return x
                alone.append(attention(*(cut(x, names) for x, names in zip(inputs, axes)), spec=path, options=options))
            rows.append(torch.cat(alone, dim=2))
        expected = torch.cat(rows)
        self.assertLess(((packed - expected).norm() / expected.norm()).item(), tolerance)
        for array, got, want in zip(tensors, gradients, torch.autograd.grad(expected, inputs, cotangent)):
            self.assertLess(((got - want).norm() / want.norm()).item(), 4 * tolerance, array["name"])

    def test_parallel(self):
        # Rope and a mass; running sums; convolutions.
        for name in ("softmax", "decay-gates", "conv-gates") if FULL else ("softmax", "conv-gates"):
            with self.subTest(name):
                self.check(name)

    def test_double(self):
        self.check("decay-gates", dtype=torch.float64, tolerance=1e-13)

    def test_chunked(self):
        self.check("softmax-taylor", "--set order=2 --form=chunked --chunk=64")
        if FULL:
            self.check("linear-relu", "--form=chunked --chunk=64")
        self.check("softmax-taylor", "--mask=bidirectional --set order=2 --form=chunked --chunk=64")

    def test_gpu(self):
        lengths = [[1, 64, 3, 20], [70, 18]]
        if FULL:
            self.check("softmax", PTX, lengths=lengths, heads=2)
        self.check("softmax-taylor", f"{PTX} --set order=2 --form=chunked --chunk=64", lengths=lengths, heads=2)

    def test_errors(self):
        q = torch.randn(1, 2, 5, 16)
        for wrong, message in (([0] * 5, "expected a tensor of int32 or int64 for documents, but got list"),
                               (torch.zeros(1, 5), "expected a tensor of int32 or int64 for documents, but got torch.float32")):
            with self.assertRaisesRegex(TypeError, message):
                attention(q, q, q, spec=str(SPECS / "softmax.mlir"), documents=wrong)
        with self.assertRaisesRegex(ValueError, "expected numbers of documents in the range of int32"):
            attention(q, q, q, spec=str(SPECS / "softmax.mlir"), documents=torch.tensor([[0, 0, 0, 2**32, 2**32]]))
        for numbers, message in (([0] * 6, "expected size 5 of axis u of 'documents' as of 'k', but got 6"),
                                 ([0, 3, 1, 3, 3], "expected ascending numbers in 'input:documents', but got 1 after 3 at place 2 of axis u; number them"),
                                 ([0, 0, 0, 0, 2**24 + 1], "expected numbers from -16777216 to 16777216 in 'input:documents', but got 16777217 at place 4")):
            for options in ("", PTX):
                with self.assertRaisesRegex(RuntimeError, message):
                    attention(q, q, q, spec=str(SPECS / "softmax.mlir"), options=options, documents=torch.tensor([numbers]))


if __name__ == "__main__":
    unittest.main()
