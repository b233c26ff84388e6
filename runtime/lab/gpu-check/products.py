#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of small integers by wgmma, exact, from the tables of the PTX manual alone: nothing here is the compiler's.

Each product is C[64, N] = A[64, 64] B[64, N] in a chain of four instructions of 16 columns of A: in bf16 and f16, with
A from registers or shared memory, both matrices K-major or MN-major, in every swizzle. check.py begins with them.

Exit status: 0; 1 if a product is wrong; 2 if none could be run."""
import argparse
import collections
import functools
import itertools
import pathlib
import random

import torch

from errors import Unavailable, run
from hopper import THREADS, Hopper
from progress import Progress

M, K, STEP = 64, 64, 16  # STEP: columns of A in one instruction
SHARED = 64 * 1024  # bytes, enough for both matrices of every product
STEPS = range(K // STEP)
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16}
COLUMNS = (8, 16, 24, 64, 96, 128, 192, 256)
MODES = {0: 0, 32: 3, 64: 2, 128: 1}  # "Matrix Descriptor Format": swizzle in bytes -> bits 62 and 63

Layout = collections.namedtuple("Layout", "major swizzle")  # major: "k", "mn", or "registers" for A
LAYOUTS = [Layout(major, swizzle) for major in ("k", "mn") for swizzle in MODES]
Product = collections.namedtuple("Product", "dtype columns left right")
# One matrix in shared memory: its bytes, and the descriptor of each step, whose address counts from its first byte.
Image = collections.namedtuple("Image", "data descriptors")


def describe(layout):
    if layout.major == "registers":
        return "registers"
    return f"{layout.major.upper()}-major, " + (f"swizzle {layout.swizzle}" if layout.swizzle else "no swizzle")


def name_of(product):
    return f"{product.dtype} N={product.columns}, A: {describe(product.left)}, B: {describe(product.right)}"


def all_products():
    lefts = [Layout("registers", 0), *LAYOUTS]
    return [Product(*key) for key in itertools.product(TYPES, COLUMNS, lefts, LAYOUTS)]


# ---- The text


def entry_name(left, right):
    return f"product_{left.major}_{right.major}"


def entry_text(dtype, columns, left, right):
    """Copies the image to shared memory, multiplies, and writes the sums of thread t from element t columns / 2 on."""
    count, in_registers = columns // 2, left.major == "registers"
    sums = [f"%c{i}" for i in range(count)]
    descriptors = [f"{side}{s}" for side in ("left", "right") for s in STEPS]
    parameters = ", ".join(f".param .u64 {name}" for name in ["image", "bytes", "fragments", "sums", *descriptors])
    lines = [
        f".visible .entry {entry_name(left, right)}({parameters}) .reqntid {THREADS}", "{",
        f".reg .pred %p; .reg .b32 %t, %shared, %to, %x<4>, %a<16>; .reg .f32 %c<{count}>;",
        f".reg .b64 %from, %at, %end, %own, %base, %fragments, %sums, {', '.join('%' + x for x in descriptors)};",
        "mov.u32 %t, %tid.x;", "mul.wide.u32 %own, %t, 16;", "mov.u32 %shared, smem;",
        "ld.param.u64 %from, [image];", "cvta.to.global.u64 %from, %from;", "ld.param.u64 %end, [bytes];",
        "mov.u64 %at, %own;",
        "COPY:", "setp.ge.u64 %p, %at, %end;", "@%p bra DONE;", "add.s64 %base, %from, %at;",
        "ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%base];", "cvt.u32.u64 %to, %at;", "add.u32 %to, %to, %shared;",
        "st.shared.v4.b32 [%to], {%x0, %x1, %x2, %x3};", f"add.s64 %at, %at, {16 * THREADS};", "bra COPY;",
        "DONE:", "fence.proxy.async.shared::cta;", "bar.sync 0;",
        # A descriptor has the address's bits 4 to 17 in its bits 0 to 13.
        "shr.u32 %to, %shared, 4;", "cvt.u64.u32 %base, %to;"]
    for name in descriptors:
        lines += [f"ld.param.u64 %{name}, [{name}];", f"add.s64 %{name}, %{name}, %base;"]
    fragments = [f"{{{', '.join(f'%a{4 * s + i}' for i in range(4))}}}" for s in STEPS]
    if in_registers:
        lines += ["ld.param.u64 %fragments, [fragments];", "cvta.to.global.u64 %fragments, %fragments;",
                  "add.s64 %fragments, %fragments, %own;"]
        lines += [f"ld.global.v4.b32 {fragments[s]}, [%fragments+{16 * THREADS * s}];" for s in STEPS]
    lines += [f"mov.f32 {sum}, 0f00000000;" for sum in sums] + ["wgmma.fence.sync.aligned;"]
    instruction = f"wgmma.mma_async.sync.aligned.m{M}n{columns}k{STEP}.f32.{dtype}.{dtype}"
    orders = ([] if in_registers else [int(left.major == "mn")]) + [int(right.major == "mn")]
    for s in STEPS:
        matrices = [f"{{{', '.join(sums)}}}", fragments[s] if in_registers else f"%left{s}", f"%right{s}"]
        lines.append(f"{instruction} {', '.join(map(str, matrices + [1, 1, 1] + orders))};")
    lines += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;", "ld.param.u64 %sums, [sums];",
              "cvta.to.global.u64 %sums, %sums;", f"mul.wide.u32 %own, %t, {4 * count};", "add.s64 %sums, %sums, %own;"]
    lines += [f"st.global.v4.f32 [%sums+{4 * i}], {{{', '.join(sums[i:i + 4])}}};" for i in range(0, count, 4)]
    return "\n".join(lines + ["ret;", "}", ""])


def text_of(dtype, columns):
    """A module with an entry for each place of A and each order of both matrices; swizzles are in descriptors alone."""
    lefts = [Layout(major, 0) for major in ("registers", "k", "mn")]
    entries = [entry_text(dtype, columns, left, right) for left in lefts for right in lefts[1:]]
    head = ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
    return head + "".join(entries)


# ---- The operands


def integers(rows, columns, seed):
    """Whole numbers from -4 to 4: every product and every sum is exact in bf16, f16 and f32."""
    draw = random.Random(seed)
    return torch.tensor([[int(9 * draw.random()) - 4 for _ in range(columns)] for _ in range(rows)])


def offset_of(index, *modes):
    """Of a CuTe layout: one (size, stride) after the other, in elements; the last has no end."""
    offset = 0
    for size, stride in modes[:-1]:
        offset, index = offset + index % size * stride, index // size
    return offset + index * modes[-1]


def swizzled(address, swizzle):
    """Swizzle<B,4,3>: bits from 7 on change those from 4 on, one for 32 bytes, two for 64, three for 128."""
    return address ^ (address >> 7 & max(swizzle // 16, 1) - 1) << 4


def canonical(rows, layout):
    """"Canonical Layouts" of the manual, in bytes: offset of each element of `rows` by STEP, strides, starts of steps.
    T is the elements of 16 bytes, W the 16 bytes of a swizzle. One matrix is cut into panels as wide as its swizzle."""
    T, W = 8, layout.swizzle // 16
    i, k = torch.meshgrid(torch.arange(rows), torch.arange(STEP), indexing="ij")
    if layout.swizzle == 0:  # 8 by 16 bytes, neighbours along k 128 bytes apart
        leading, stride, starts = 128, 16 * K, [16 * STEP * s for s in STEPS]
    elif layout.major == "k":  # panels of swizzle / 2 columns; a step begins within a panel
        panel = -(-rows // 8) * 8 * layout.swizzle
        starts = [32 * s // layout.swizzle * panel + 32 * s % layout.swizzle for s in STEPS]
        leading, stride = 16, 8 * layout.swizzle
    else:  # panels of swizzle / 2 rows
        leading, stride, starts = K * layout.swizzle, 8 * layout.swizzle, [STEP * layout.swizzle * s for s in STEPS]
    LBO, SBO = leading // 2, stride // 2
    if layout.major == "k" and layout.swizzle == 0:  # ((8,m),(T,2k)):((1T,SBO),(1,LBO))
        offsets = offset_of(i, (8, T), SBO) + offset_of(k, (T, 1), LBO)
    elif layout.major == "k":  # ((8,m),(T,2k)):((WT,SBO),(1,T))
        offsets = offset_of(i, (8, W * T), SBO) + offset_of(k, (T, 1), T)
    elif layout.swizzle == 0:  # ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))
        offsets = offset_of(i, (T, 1), SBO) + offset_of(k, (8, T), LBO)
    else:  # ((T,W,m),(8,k)):((1,T,LBO),(WT,SBO))
        offsets = offset_of(i, (T, 1), (W, T), LBO) + offset_of(k, (8, W * T), SBO)
    return 2 * offsets, leading, stride, starts


def image_of(matrix, layout):
    """`matrix` [rows, K] in its type."""
    offsets, leading, stride, starts = canonical(len(matrix), layout)
    addresses = torch.cat([swizzled(start + offsets, layout.swizzle) for start in starts], 1)
    data = torch.zeros(-(-(int(addresses.max()) + 2) // 1024) * 512, dtype=matrix.dtype)
    data[addresses // 2] = matrix
    strides = leading >> 4 << 16 | stride >> 4 << 32
    return Image(data, [start >> 4 | strides | MODES[layout.swizzle] << 62 for start in starts])


def lanes():
    """Of each thread: the first row of its warp, groupID, and threadID_in_group, [THREADS, 1]."""
    thread = torch.arange(THREADS)[:, None]
    return thread // 32 * 16, thread % 32 // 4, thread % 4


def fragments_of(matrix):
    """"Register Fragments": A of each step, [steps, THREADS, 8], element i of row groupID or groupID + 8."""
    warp, group, member = lanes()
    i = torch.arange(8)[None]
    rows, columns = warp + group + i // 2 % 2 * 8, member * 2 + i % 2 + i // 4 * 8
    return torch.stack([matrix[rows, STEP * s + columns] for s in STEPS])


def sum_places(columns):
    """"Register Fragments": row and column of sum i of each thread, [THREADS, columns / 2]."""
    warp, group, member = lanes()
    i = torch.arange(columns // 2)[None]
    return warp + group + i // 2 % 2 * 8, 8 * (i // 4) + member * 2 + i % 2


@functools.cache
def operands(dtype, columns):
    """A [M, K], B [columns, K] in their type, the exact product by processor."""
    left, right = integers(M, K, columns), integers(columns, K, columns + 1)
    return left.to(TYPES[dtype]), right.to(TYPES[dtype]), left @ right.T


@functools.cache
def left_image(dtype, columns, layout):
    return image_of(operands(dtype, columns)[0], layout)


@functools.cache
def right_image(dtype, columns, layout):
    return image_of(operands(dtype, columns)[1], layout)


# ---- On a GPU, or on a driver that has the interpreter


def difference(expected, got):
    """Nothing where all sums are the exact ones."""
    wrong = (expected != got).nonzero()  # NaN is wrong
    if len(wrong) == 0:
        return ""
    row, column = wrong[0].tolist()
    first = f"at [{row}, {column}] expected {expected[row, column]:g}, but got {got[row, column]:g}"
    return f"{len(wrong)} of {expected.numel()} sums; {first}"


class Runner:
    """The products of one type and number of columns."""

    def __init__(self, gpu, dtype, columns):
        self.key, self.gpu = (dtype, columns), gpu
        self.module, self.functions = gpu.load(text_of(dtype, columns)), {}
        left, _, self.expected = operands(dtype, columns)
        self.places, self.sums = sum_places(columns), torch.empty(THREADS, columns // 2)
        fragments = fragments_of(left)
        sizes = fragments.nbytes, self.sums.nbytes, SHARED
        self.fragments, self.results, self.image = map(gpu.allocate, sizes)
        gpu.write(self.fragments, fragments)

    def run(self, product):
        """What is wrong, or nothing."""
        left, right = product.left, product.right
        a = Image(torch.empty(0, dtype=TYPES[product.dtype]), [0 for _ in STEPS])
        if left.major != "registers":
            a = left_image(product.dtype, product.columns, left)
        b = right_image(product.dtype, product.columns, right)
        image = torch.cat([a.data, b.data])
        entry = entry_name(left, right)
        if entry not in self.functions:
            self.functions[entry] = self.gpu.function(self.module, entry, SHARED)
        self.gpu.write(self.image, image)
        self.gpu.write(self.results, self.sums.fill_(float("nan")))
        descriptors = a.descriptors + [descriptor + (a.data.nbytes >> 4) for descriptor in b.descriptors]
        parameters = [self.image, image.nbytes, self.fragments, self.results, *descriptors]
        self.gpu.launch(self.functions[entry], SHARED, parameters)
        self.gpu.read(self.sums, self.results)
        got = torch.full((M, product.columns), float("nan"))
        got[self.places] = self.sums
        return difference(self.expected, got)


def rows_of(gpu, products, progress):
    """Product and verdict of each; none after an error, with which the GPU's context is lost."""
    runner = None
    for number, product in enumerate(products):
        name = name_of(product)
        progress.step(f"integer product {number + 1} of {len(products)}: {name} ...")
        try:
            if runner is None or runner.key != product[:2]:
                runner = Runner(gpu, *product[:2])
            wrong = runner.run(product)
        except RuntimeError as error:
            yield {"product": name, "verdict": f"WRONG: {error}; {len(products) - number - 1} more are not run"}
            return
        yield {"product": name, "verdict": f"WRONG: {wrong}" if wrong else "ok"}


def check_products(progress):
    """For results.json: the GPU, how many products ran, those that are wrong, or why none ran."""
    try:
        with Hopper() as gpu:
            rows = list(rows_of(gpu, all_products(), progress))
    except Unavailable as error:
        return skipped(progress, str(error))
    wrong = [row for row in rows if row["verdict"] != "ok"]
    progress.say(f"integer products on {gpu.name}: {len(rows)}, {len(wrong)} wrong")
    for row in wrong:
        print(f"{row['product']}: {row['verdict']}", flush=True)
    return {"gpu": gpu.name, "run": len(rows), "wrong": wrong, "skipped": None}


def skipped(progress, why):
    progress.say(f"integer products: skipped: {why}")
    return {"gpu": None, "run": 0, "wrong": [], "skipped": why}


def main():
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain, allow_abbrev=False)
    parser.add_argument("--write", type=pathlib.Path, metavar="FOLDER",
                        help="write the PTX text there, TYPE-COLUMNS.ptx, and run nothing")
    options = parser.parse_args()
    if not options.write:
        results = check_products(Progress(0))
        return 2 if results["skipped"] else 1 if results["wrong"] else 0
    options.write.mkdir(parents=True, exist_ok=True)
    for dtype, columns in itertools.product(TYPES, COLUMNS):
        (options.write / f"{dtype}-{columns}.ptx").write_text(text_of(dtype, columns), encoding="utf-8")
    return 0


if __name__ == "__main__":
    run(main)
