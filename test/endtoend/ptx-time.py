# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# REQUIRES: taylorc
# UNSUPPORTED: sanitizer
# RUN: %python %s %bin_dir %spec_dir %t
"""Softmax attention of 2 heads, 256 tokens, 64 channels, forward and backward, in the interpreter of PTX: fast enough to be used in tests."""
import resource
import subprocess
import sys

LIMIT = 10  # seconds of one core, whatever else the machine does; it takes about 0.5

bin_dir, spec_dir, artifact = sys.argv[1:4]
spec = f"{spec_dir}/softmax.mlir"
subprocess.run([f"{bin_dir}/taylorc", spec, "--dtype=bf16", "--target=sm_80", "-o", f"{artifact}.so"], check=True)
before = resource.getrusage(resource.RUSAGE_CHILDREN)
subprocess.run([f"{bin_dir}/taylor-run", spec, f"--kernel={artifact}.so", "--device=ptx", "--grad", "--dtype=bf16", "--shape=1,2,256,64",
                "--threads=2"], check=True)
after = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(f"forward and backward took {seconds:.1f} s")
assert seconds <= LIMIT, f"expected forward and backward in at most {LIMIT} s, but they took {seconds:.1f} s"
