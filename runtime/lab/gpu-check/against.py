#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times kernels of this folder next to those of the same name in a folder that another commit made: in one process, in
turn, each with its own libtaylor.so. One line for each kernel, length and direction (forward, backward, or a step of
decoding with so many tokens before it): the median of the ratios, and the interval that half of them lie in.

Exit status: 0; 2 if nothing could be timed."""
import argparse
import json
import lzma
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from driver import require_gpu
from errors import Unavailable, Unusable, run
from progress import Progress

ROUNDS = (15, 41)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("other", type=pathlib.Path, help="folder to compare with: libtaylor.so and kernels/NAME.so.xz")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda",
                        help="device: a GPU (default), or the processor, which only shows that the program runs")
    parser.add_argument("--only", metavar="REGEX", default="", help="kernels to time, by name (default: all)")
    parser.add_argument("--lengths", metavar="T,..", default="1024,16384",
                        help="tokens of a sequence, by comma (default: %(default)s)")
    parser.add_argument("--seconds", type=float, metavar="N", default=1.0,
                        help="seconds for each kernel, length and direction (default: 1)")
    parser.add_argument("--minutes", type=float, metavar="N", default=5,
                        help="minutes after which the rest is not timed (default: 5)")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "against.json", metavar="FILE",
                        help="file for the results (default: against.json in this folder)")
    options = parser.parse_args()
    try:
        options.only = re.compile(options.only)
        options.lengths = [int(word) for word in options.lengths.split(",")]
    except (re.error, ValueError) as error:
        parser.error(f"expected a regular expression in --only and whole numbers in --lengths: {error}")
    if min(options.lengths) < 1:
        parser.error(f"expected lengths of at least 1, but got {min(options.lengths)}")
    return options


class Step:
    """One more token of a decoder: of random keys, values and states, for as many tokens before it as `problem` has keys."""

    def __init__(self, problem, kernel):
        functions = kernel.manifest["functions"]
        self.stream = problem.device.stream
        one = {"t": 1, "u": 1} if "carried" in functions["step"] else {"t": 1}
        tensors = {}
        for slot in kernel.slots("step"):
            shape, dtype = kernel.shape(slot, problem.sizes | one), kernel.dtype(slot)
            tensors[slot] = problem.normal(*shape, dtype=dtype) if dtype.is_floating_point else problem.normal(*shape).zero_().to(dtype)
        self.call = kernel.prepare("step", tensors, problem.device, "own")

    def step(self):
        self.call(self.stream())


def compare(name, t, pair, device, clock, options):
    """Rows of one kernel at one length: ratios of what is here over what is there."""
    from clock import measure, quartiles
    from contenders import Ours
    from times import make_problem

    manifest = pair[0].manifest
    problem = make_problem(device, t, manifest["sizes"]["d"], manifest["tensors"]["inputs"][0]["dtype"])
    decodes = "step" in manifest["functions"]
    here, there = ((Step if decodes else Ours)(problem, kernel) for kernel in pair)
    for direction in ("step",) if decodes else ("forward", "backward"):
        rounds = measure(clock, [getattr(here, direction), getattr(there, direction)], options.seconds, ROUNDS)
        low, middle, high = quartiles([a / b for a, b in rounds])
        yield {"kernel": name, "t": t, "direction": direction, "ms": quartiles([a for a, _ in rounds])[1], "other_ms": quartiles([b for _, b in rounds])[1],
               "ratio": middle, "low": low, "high": high, "rounds": len(rounds)}


def main():
    options = parse()
    progress = Progress(options.minutes)
    names = sorted(file.name.removesuffix(".so.xz") for file in (options.other / "kernels").glob("*.so.xz"))
    names = [name for name in names if options.only.search(name) and (HERE / "kernels" / f"{name}.so.xz").is_file()]
    if not names:
        raise Unusable(f"expected kernels of one name in {HERE} and {options.other} that match --only={options.only.pattern}, but there are none")
    if options.device == "cuda":
        require_gpu()
    progress.say("loading torch ...")
    from clock import GpuClock, HostClock
    from device import open_device
    from library import Library

    device = open_device(options.device)
    clock = GpuClock() if device.name == "cuda" else HostClock()
    libraries = [Library(folder / "libtaylor.so") for folder in (HERE, options.other.resolve())]
    print(f"{device.describe()['name']}: {libraries[0].version()} over {libraries[1].version()}\n", flush=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix="taylor-") as scratch:

        def load(number, name):
            """Files of the two have different names: one that is loaded already would be taken for the other."""
            file = pathlib.Path(scratch) / f"{number}-{name}.so"
            file.write_bytes(lzma.decompress(((HERE, options.other)[number] / "kernels" / f"{name}.so.xz").read_bytes()))
            return libraries[number].load(file)

        for name in names:
            pair = [load(number, name) for number in (0, 1)]
            for t in options.lengths:
                if progress.left() < 4 * options.seconds:
                    progress.say(f"{name}, t = {t}: left out, the time was up")
                    continue
                try:
                    for row in compare(name, t, pair, device, clock, options):
                        rows.append(row)
                        print("{kernel:45} {t:6} {direction:8} {ms:8.3f} / {other_ms:8.3f} ms  {ratio:.3f} ({low:.3f} to {high:.3f}, {rounds} rounds)".format(**row), flush=True)
                except (RuntimeError, Unavailable) as error:
                    progress.say(f"{name}, t = {t}: not timed: {error}")
                options.out.write_text(json.dumps({"machine": device.describe(), "here": libraries[0].version(), "other": libraries[1].version(), "rows": rows},
                                                  indent=1) + "\n", encoding="utf-8")
    return 0 if rows else 2


if __name__ == "__main__":
    run(main)
