#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times FlexAttention's forward and ours on a processor.

    python runtime/lab/bench/flex.py --dtype=bf16 --shape=1,16,1024,64 --shape=1,4,4096,64 --threads=2

Both run in this process, one after the other in each round. A ratio is the median over rounds of Flex's time over ours.
Rows: causal, ALiBi, a window of 256 keys, a soft cap of 20. Our side rotates queries and keys (RoPE), except for ALiBi;
Flex does not. torch.compile needs a C++ compiler, and 20 to 70 s for the first mask. Each number of threads has its own
compile cache: with the cache of another number Flex corrupts the heap (torch 2.11)."""
import argparse
import functools
import os
import statistics
import sys
import tempfile
import time


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shape", action="append", metavar="B,H,T,D", help="sizes, repeatable (default: 1,16,1024,64)")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="bf16", help="storage type (default: bf16)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(),
                        help="threads of torch's pool (default: all processors)")
    parser.add_argument("--rounds", type=int, default=9, help="rounds (default: 9)")
    parser.add_argument("--mask", action="append", choices=["causal", "alibi", "window", "soft-cap"],
                        help="mask to time, repeatable (default: all)")
    options = parser.parse_args()
    for text in options.shape or []:
        if len(text.split(",")) != 4 or not all(part.isdigit() and int(part) > 0 for part in text.split(",")):
            parser.error(f"expected --shape=B,H,T,D of four positive numbers, but got '{text}'")
    if not 1 <= options.threads <= 1024 or not 1 <= options.rounds <= 10000:
        parser.error(f"expected --threads in 1..1024 and --rounds in 1..10000, but got {options.threads} and {options.rounds}")
    return options


options = parse()
# Before torch starts: its pool takes the number from here, and so does Inductor's cache.
os.environ["OMP_NUM_THREADS"] = str(options.threads)
# One contender's threads would spin into the other's time, and make both 2 to 4 times as slow (runtime/torch/README.md).
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
cache = os.path.join(tempfile.gettempdir(), f"taylor-flex-{os.getuid()}-{options.threads}")
os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache

import torch  # noqa: E402
from torch.nn.attention.flex_attention import create_block_mask, flex_attention  # noqa: E402

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(root, "runtime", "python"))
from taylor_attention import attention  # noqa: E402

WINDOW, CAP = 256, 20.0


def causal(b, h, q, k):
    return q >= k


def windowed(b, h, q, k):
    return (q >= k) & (q - k < WINDOW)


def alibi(heads):
    slopes = torch.exp2(-8.0 * torch.arange(1, heads + 1) / heads)
    return lambda score, b, h, q, k: score + slopes[h] * (k - q)


def soft_cap(score, b, h, q, k):
    return CAP * torch.tanh(score / CAP)


def contenders(mask, heads, tokens):
    """The specification's file and options, and Flex's block mask and map of scores."""
    visible = windowed if mask == "window" else causal
    blocks = create_block_mask(visible, None, None, tokens, tokens, device="cpu")
    maps = {"alibi": alibi(heads), "soft-cap": soft_cap}
    files = {"causal": "softmax", "alibi": "beyond/alibi", "window": "beyond/sliding-window", "soft-cap": "beyond/softmax-soft-cap"}
    settings = f"--set window={WINDOW}" if mask == "window" else ""
    return os.path.join(root, "examples", "specs", files[mask] + ".mlir"), settings, blocks, maps.get(mask)


def clock(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


@torch.no_grad()
def measure(shape, mask):
    batch, heads, tokens, channels = shape
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[options.dtype]
    q, k, v = (torch.randn(batch, heads, tokens, channels, dtype=dtype) for _ in range(3))
    spec, settings, blocks, score = contenders(mask, heads, tokens)
    compiled = torch.compile(functools.partial(flex_attention, block_mask=blocks, score_mod=score))
    ours, theirs = lambda: attention(q, k, v, spec=spec, options=settings), lambda: compiled(q, k, v)
    for run in (ours, theirs):
        run()
        run()
    times = [(clock(ours), clock(theirs)) for _ in range(options.rounds)]
    own = statistics.median(own for own, _ in times)
    flex = statistics.median(flex for _, flex in times)
    ratios = sorted(flex / own for own, flex in times)
    size = ",".join(map(str, shape))
    quarter = len(ratios) // 4
    print(f"{mask:9s} {size:16s} {options.dtype:5s} ours {own * 1e3:9.2f} ms   flex {flex * 1e3:9.2f} ms   "
          f"ratio {statistics.median(ratios):5.2f} ({ratios[quarter]:.2f} to {ratios[-1 - quarter]:.2f})", flush=True)


def main():
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    print(f"forward, {options.threads} threads, torch {torch.__version__}; compile cache {cache}", flush=True)
    for text in options.shape or ["1,16,1024,64"]:
        for mask in options.mask or ["causal", "alibi", "window", "soft-cap"]:
            torch.compiler.reset()
            measure(tuple(map(int, text.split(","))), mask)


main()
