#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times calls from Python by the wheel's operators (_taylor.so) and by those of libtaylor_torch.so: both in one
process, one after the other in short turns, so that the machine's other work meets both alike. Times are processor time
of the calling thread: with --threads=1 all of a call.

    runtime/lab/bench/call_cost.py [--spec=FILE] [--shape=1,1,16,16] [--rounds=60] [--calls=50]

Prints a row for forward, and one for forward and backward: the median time of a call of both, and the median ratio of
neighbouring turns.
"""
import argparse
import importlib.util
import pathlib
import statistics
import sys
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parents[3]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("--spec", default=str(ROOT / "examples/specs/softmax.mlir"),
                        help="specification (default: examples/specs/softmax.mlir)")
    parser.add_argument("--shape", default="1,1,16,16", help="sizes B,H,T,d of q, k and v (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=60, help="turns of each (default: %(default)s)")
    parser.add_argument("--calls", type=int, default=50, help="calls in a turn (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="threads of a call (default: %(default)s)")
    given = parser.parse_args()
    try:
        given.shape = [int(size) for size in given.shape.split(",")]
    except ValueError:
        given.shape = []
    if len(given.shape) != 4:
        parser.error("expected four sizes B,H,T,d as --shape, such as 1,1,16,16")
    return given


def load():
    """The attention of libtaylor_torch.so and that of _taylor.so."""
    sys.path.insert(0, str(ROOT / "runtime/python"))
    location = importlib.util.spec_from_file_location("taylor_operator", ROOT / "test/Inputs/taylor_operator.py")
    operator = importlib.util.module_from_spec(location)
    location.loader.exec_module(operator)
    import taylor_attention
    return operator.attention, taylor_attention.attention


def turn(call, calls):
    begin = time.thread_time()
    for _ in range(calls):
        call()
    return (time.thread_time() - begin) / calls * 1e6


def measure(trainer, wheel, rounds, calls):
    for call in (trainer, wheel):
        turn(call, calls)
    times = []
    for number in range(rounds):
        pair = {}
        for name, call in (("trainer", trainer), ("wheel", wheel))[::1 if number % 2 else -1]:
            pair[name] = turn(call, calls)
        times.append((pair["trainer"], pair["wheel"]))
    return [statistics.median(x) for x in zip(*times)], statistics.median(b / a for a, b in times)


def main():
    given = arguments()
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    q, k, v = (torch.randn(given.shape) for _ in range(3))
    learned = [x.clone().requires_grad_() for x in (q, k, v)]
    cotangent = torch.randn(given.shape)

    def forward(attention):
        return lambda: attention(q, k, v, spec=given.spec)

    def both(attention):
        return lambda: torch.autograd.grad(attention(*learned, spec=given.spec), learned, cotangent)

    trainer, wheel = load()
    for name, make in (("forward", forward), ("forward and backward", both)):
        (before, after), ratio = measure(make(trainer), make(wheel), given.rounds, given.calls)
        print(f"{name:<22}{before:8.2f} us trainer{after:8.2f} us wheel   {ratio:.2f}")


if __name__ == "__main__":
    main()
