# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
"""Mistakes of a call, on the compiler: each message has a way out in Python's spelling. And parameters and mask by name."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "runtime/python"))
import taylor_attention as ta
import torch


class Traced(unittest.TestCase):
    def test_what_is_of_torch(self):
        for words, function in (("unsupported torch.exp of an array or formula of a specification; write ta.exp(x)", lambda q: torch.exp(q)),
                                ("unsupported F.silu of an array or formula of a specification; write ta.silu(x)", lambda q: torch.nn.functional.silu(q)),
                                ("write n, z = ta.recurrences(q, k, v, sums=", lambda q: torch.softmax(q, -1)),
                                ("unsupported torch.einsum of an array or formula of a specification; write ta.recurrences", lambda q, k: torch.einsum("bhtd,bgud->bhtu", q, k)),
                                ("write ta.maximum(..)", lambda q: torch.maximum(q, q)),
                                ("unsupported torch.erfinv of an array or formula of a specification; functions of formulas and arrays are ta's", lambda q: torch.erfinv(q)),
                                ("but got torch.Tensor; what a call brings is an argument", lambda q: torch.ones(2) * q)):
            with self.assertRaises(TypeError) as caught:
                ta.spec(function)
            self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
