# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tiles of pairs that a mask hides wholly are not computed: products that the interpreter counts in the kernels with loops over pairs, forward and
# backward.
# REQUIRES: taylorc
# UNSUPPORTED: sanitizer
# RUN: %python %s %spec_dir %S/Inputs/ranges.mlir
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

SPECS, RANGES = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def products(spec, tokens, *options):
    """mma instructions by kernel."""
    run = subprocess.run(["taylor-run", str(spec) if isinstance(spec, pathlib.Path) else f"{SPECS}/{spec}.mlir", f"--shape=1,1,{tokens},16", "--device=ptx", "--ptx-profile", "--grad", "--dtype=bf16", *options],
                         capture_output=True, text=True, check=True)
    counts = {name: int(count) for name, count in re.findall(r"^([a-z.]+)(?:_\d+)?: .* mma (\d+)", run.stdout, flags=re.M)}
    assert counts.keys() == {"forward.attend", "backward.attend", "backward.pairs"}, run.stdout
    return counts


# Behind a window each block of queries, or keys, has as many tiles as the one before: products grow with the tokens and not with their square.
short, middle, long = (products("beyond/sliding-window", tokens, "--set=window=40") for tokens in (256, 512, 768))
causal = [products("softmax", tokens) for tokens in (256, 512, 768)]
for kernel in short:
    assert 0 < middle[kernel] - short[kernel] == long[kernel] - middle[kernel], (kernel, short, middle, long)
    assert causal[1][kernel] - causal[0][kernel] < causal[2][kernel] - causal[1][kernel], (kernel, causal)

# So it is where a window is written as a distance, of earlier and later keys, and with the first keys besides it (attention sinks): of these a block of keys
# has all queries or none, so that the first one alone has more tiles than another. What lies between two ranges is no tile of either.
for mask in ("bidirectional visible(abs(t - u) < window)", "causal visible(or(t - u < window, u < 4.0))",
             "bidirectional visible(or(and(t - u < 40.0, u - t < 40.0), u < 4.0))", "causal visible(or(t - u < 40.0, and(200.0 <= t - u, t - u < 240.0)))"):
    with tempfile.NamedTemporaryFile(mode="w", suffix=".mlir") as file:
        file.write(RANGES.read_text().replace("MASK", mask))
        file.flush()
        short, middle, long = (products(pathlib.Path(file.name), tokens) for tokens in (512, 768, 1024))
    for kernel in short:
        assert 0 < middle[kernel] - short[kernel] == long[kernel] - middle[kernel], (mask, kernel, short, middle, long)

# A prefix within the first tile costs nothing beyond a causal mask; one of all tokens is a bidirectional one; one between costs what it makes visible:
# with tiles of 64 or 128 tokens, the pairs of the first 256 tokens that a causal mask leaves out of 512.
full = products("softmax", 512, "--mask=bidirectional")
first, half, all_tokens = (products("beyond/prefix", 512, f"--set=prefix={prefix}") for prefix in (8, 256, 512))
for kernel, count in causal[1].items():
    assert first[kernel] == count, (kernel, first, causal)
    assert all_tokens[kernel] == full[kernel], (kernel, all_tokens, full)
    assert 0 < half[kernel] - count < (full[kernel] - count) / 2, (kernel, count, half, full)

# Of a packed sequence each block walks through the tiles of its own documents: with documents of an eighth of the tokens, at most a quarter of the products of
# one causal sequence, wherever their boundaries lie in the tiles.
TOKENS = 4096
alone = products("softmax", TOKENS)
for shift in (0, 37):
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        numpy.save(file.name, ((numpy.arange(TOKENS) + shift) // (TOKENS // 8)).astype(numpy.int32)[None])
        packed = products("softmax", TOKENS, "--documents", "--input", f"documents={file.name}")
    for kernel, count in alone.items():
        assert 0 < 4 * packed[kernel] <= count, (kernel, shift, packed, alone)
