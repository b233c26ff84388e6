# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A step of a finite series reads and writes as many bytes behind twelve tokens as behind one, counted by the interpreter; one over all keys reads them all.
# RUN: %python %s %spec_dir %S/../passes/Inputs %full
# REQUIRES: taylorc
# UNSUPPORTED: sanitizer
import pathlib
import re
import subprocess
import sys
import unittest

SPECS, INPUTS = map(pathlib.Path, sys.argv[1:3])
FULL = sys.argv[3] == "1"


def count(path, calls, *options):
    """Bytes of global memory that each of so many calls of `step` reads and writes."""
    command = ["taylor-run", str(path), "--device=ptx", "--forward-only", "--check", "--ptx-profile", *options]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kernels = [tuple(map(int, bytes)) for bytes in re.findall(r"^step\..*bytes global (\d+) read, (\d+) written", text, re.MULTILINE)]
    each, rest = divmod(len(kernels), calls)
    assert each and not rest, text
    return [tuple(map(sum, zip(*kernels[i * each:(i + 1) * each]))) for i in range(calls)]


class DecodeMemory(unittest.TestCase):
    def test_states(self):
        for path, options in ((SPECS / "softmax-taylor.mlir", ["--set", "order=2"]), *([(INPUTS / "decayed-series.mlir", [])] if FULL else [])):
            with self.subTest(path.name):
                # Calls of one token but the fourth, of nine; the last leaves no states.
                calls = count(path, 6, "--decode=state", "--states=1,2,3,12,13", "--shape=b=1,h=2,g=1,t=14,d=16,e=16", *options)
                self.assertGreater(calls[1][0], 153 * 16 * 4)
                self.assertEqual(calls[1], calls[2])
                self.assertEqual(calls[1], calls[4])
                self.assertGreater(calls[3][1], 2 * calls[1][1])

    def test_all_keys(self):
        few, many = (count(SPECS / "softmax.mlir", 1, "--decode=cache", f"--shape=b=1,h=2,g=1,t=1,u={u},d=16")[0][0] for u in (12, 120))
        self.assertGreater(many - few, 100 * 2 * 16 * 4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
