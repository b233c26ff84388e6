# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: block_order.py [--slots=N]: how much longer than their share of the work the blocks of a causal kernel take together, by the order in which they
start. A model, without a GPU: N blocks run at a time (264: two on each multiprocessor of an H100), the next one starts where one ends, and a block takes as
long as it has tiles of 64 keys. 16,384 tokens of 2048 channels, blocks of 128 queries, keys and values in bf16, a cache of 43 MiB; a section is
the heads of 512 blocks, or 16, and at most those that the cache holds.

Columns: `program` is the order of the grid, the last extent the fastest; `sections` is codegen/Targets/NVPTX/Thread/GridOrder.cpp; `all heads` would start the
longest first across all heads, whatever the cache holds. 1 is the least that a schedule can take."""
import heapq
import math
import re
import sys

QUERIES, KEYS, CACHE, BLOCKS, HEADS = 128, 64, 43 << 20, 512, 16


def together(blocks, slots):
    """The time in which all have run, over the average of the slots' work."""
    busy = [0] * slots
    for tiles in blocks:
        heapq.heappush(busy, heapq.heappop(busy) + tiles)
    return max(busy) / (sum(blocks) / slots)


def orders(tokens, heads, channels):
    tiles = [math.ceil(min(tokens, (i + 1) * QUERIES) / KEYS) for i in range(math.ceil(tokens / QUERIES))]

    def longest_first(width):
        return [work for first in range(0, heads, width) for work in reversed(tiles) for _ in range(min(width, heads - first))]

    held = max(1, min(heads, CACHE // (tokens * 2 * channels * 2), max(math.ceil(BLOCKS / len(tiles)), HEADS)))
    width = math.ceil(heads / math.ceil(heads / held))
    return {"program": tiles * heads, "sections": longest_first(width), "all heads": longest_first(heads)}, width


def main(arguments):
    slots = 264
    for argument in arguments:
        name, _, value = argument.partition("=")
        if name != "--slots" or not re.fullmatch("[0-9]{1,4}", value) or not 1 <= int(value) <= 4096:
            sys.exit(f"{__doc__}\n\nerror: expected --slots of 1 to 4096, but got '{argument}'")
        slots = int(value)
    print(f"{'tokens':>7} {'channels':>8} {'heads':>6} {'in a section':>13} {'program':>8} {'sections':>9} {'all heads':>10}")
    for tokens in (512, 1024, 2048, 4096, 8192, 16384):
        for channels in (64, 128):
            heads = 16384 // tokens * 2048 // channels
            found, width = orders(tokens, heads, channels)
            print(f"{tokens:7} {channels:8} {heads:6} {width:13}" + "".join(f" {together(blocks, slots):{size}.3f}" for blocks, size in zip(found.values(), (8, 9, 10))))


if __name__ == "__main__":
    main(sys.argv[1:])
