# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# taylorc --forward-only: no backward, and nothing that it would read; the same outputs; who asks for gradients is told.
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc SPEC_DIR=%spec_dir %python %s
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
import json
import os
import pathlib
import subprocess
import unittest

import torch

import taylor_operator  # loads the operator

SPEC = str(pathlib.Path(os.environ["SPEC_DIR"], "softmax.mlir"))


def describe(*options):
    done = subprocess.run([os.environ["TAYLORC"], SPEC, "--emit=manifest", *options], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class ForwardOnly(unittest.TestCase):
    def test_manifest(self):
        both, forward, steps = describe(), describe("--forward-only"), describe("--forward-only", "--decode=cache")
        self.assertEqual(list(both["functions"]), ["forward", "backward"])
        self.assertEqual(list(forward["functions"]), ["forward"])
        self.assertEqual(list(steps["functions"]), ["forward", "append", "step", "extend"])
        self.assertTrue(both["tensors"]["saved"])
        self.assertFalse(forward["tensors"]["saved"])
        self.assertNotEqual(both["hash"], forward["hash"])

    def test_outputs(self):
        for device in ("", " --device=ptx"):
            q, k, v = (torch.randn(1, heads, 40, 16) for heads in (4, 2, 2))
            (want,), (got,) = (torch.ops.taylor.attention([q, k, v], SPEC, options + device, None) for options in ("", "--forward-only"))
            self.assertTrue(torch.equal(got, want))

    def test_gradient(self):
        q, k, v = (torch.randn(1, 2, 40, 16, requires_grad=True) for _ in range(3))
        with self.assertRaisesRegex(RuntimeError, "taylor: unsupported gradient of a kernel without a backward, as --forward-only and --form=recurrent make it; "
                                                  r"call it under torch.no_grad\(\), or leave that option out"):
            torch.ops.taylor.attention([q, k, v], SPEC, "--forward-only", None)


if __name__ == "__main__":
    unittest.main()
