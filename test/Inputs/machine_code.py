# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops of machine code, and the bytes that a thread moves to and from its stack in each of their iterations: what ptxas says of a kernel does not tell a spill
before a loop from one inside."""
import dataclasses
import pathlib
import re
import shutil
import subprocess

PRODUCT = re.compile(r"\b[HIDQ]G?MMA\b")
STACK = re.compile(r"\b(?:LDL|STL)((?:\.\w+)*)")
INSTRUCTION = re.compile(r"/\*[0-9a-f]+\*/\s+(.*?)\s*;")
LABEL = re.compile(r"(\.L_x_\d+):")
TARGET = re.compile(r"`\((\.L_x_\d+)\)")


@dataclasses.dataclass
class Loop:
    """A loop of a kernel: its instructions without those of loops inside that multiply, and bytes of the stack that they load and store. Branches count as if
    all of them were taken."""
    instructions: int
    products: int
    spilled: int
    innermost: bool  # no loop inside has products


def find_nvdisasm(ptxas):
    """Next to ptxas, in the packages where ptxas is one, or in the path; None where there is none."""
    ptxas = pathlib.Path(ptxas)
    packages = next((parent for parent in ptxas.parents if parent.name == "site-packages"), ptxas.parent)
    places = [ptxas.parent / "nvdisasm", packages / "triton/backends/nvidia/bin/nvdisasm", pathlib.Path(shutil.which("nvdisasm") or "/nonexistent")]
    return next((place for place in places if place.is_file()), None)


def assemble_products(ptxas, ptx, cubin):
    """Machine code of the text's kernels that multiply; by kernel, bytes that a thread stores and loads of its stack, and all that ptxas said."""
    head, *kernels = re.split(r"\n(?=\.visible \.entry )", ptx)
    multiplying = [kernel for kernel in kernels if re.search(r"\bw?g?mma\.", kernel)]
    assert multiplying, f"expected kernels with products among {len(kernels)}"
    command = [ptxas, "-v", f"-arch={re.search(r'^.target (.*)', head, re.M)[1]}", "-o", cubin, "-"]
    result = subprocess.run(command, input="\n".join([head, *multiplying]), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    log = result.stderr + result.stdout
    spills = re.findall(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads", log, re.S)
    assert len(spills) == len(multiplying), log
    return {name: (int(stored), int(loaded)) for name, stored, loaded in spills}, log


def spilled_bytes(instruction):
    """Of the stack, by one instruction."""
    access = STACK.search(instruction)
    if not access:
        return 0
    widths = [int(word.lstrip("US")) for word in access[1].split(".") if re.fullmatch(r"[US]?\d+", word)]
    return (widths[0] if widths else 32) // 8


def split_blocks(lines):
    """Basic blocks of a kernel's listing: lists of instructions, and the numbers of the blocks that may follow each."""
    blocks, labels = [[]], {}
    for line in lines:
        if label := LABEL.match(line.strip()):
            if blocks[-1]:
                blocks.append([])
            labels[label[1]] = len(blocks) - 1
        elif instruction := INSTRUCTION.search(line):
            blocks[-1].append(instruction[1])
            if re.search(r"\b(?:BRA|EXIT|RET|WARPSYNC\.COLLECTIVE)\b", instruction[1]):
                blocks.append([])
    following = []
    for number, block in enumerate(blocks):
        last = block[-1] if block else ""
        assert not re.search(r"\bBRX\b", last), f"expected jumps to labels, but got '{last}'"
        ends = re.match(r"(?:BRA(?:\.\w+)* `|EXIT|RET)", last)
        after = [] if ends or number + 1 == len(blocks) else [number + 1]
        jump = TARGET.search(last) if re.search(r"\b(?:BRA|WARPSYNC)\b", last) else None
        if jump and jump[1] in labels:
            after.append(labels[jump[1]])
        following.append(after)
    return blocks, following


def natural_loops(following):
    """Sets of blocks, one for each head of a loop: of each edge back to a block that is on every way to it."""
    everything = set(range(len(following)))
    before = [[] for _ in following]
    for block, after in enumerate(following):
        for other in after:
            before[other].append(block)
    dominators = [everything if block else {0} for block in range(len(following))]
    changed = True
    while changed:
        changed = False
        for block in range(1, len(following)):
            ways = [dominators[other] for other in before[block]]
            new = {block} | (set.intersection(*ways) if ways else set())
            if new != dominators[block]:
                dominators[block], changed = new, True
    loops = {}
    for block, after in enumerate(following):
        for head in after:
            if head not in dominators[block]:
                continue
            inside, todo = loops.setdefault(head, {head}), [block]
            while todo:
                here = todo.pop()
                if here not in inside:
                    inside.add(here)
                    todo += before[here]
    return list(loops.values())


def find_loops(lines):
    """Loops of a kernel's listing. One that only waits, in a member of roles say, is part of the loop around it."""
    blocks, following = split_blocks(lines)
    loops = natural_loops(following)
    products = [sum(len(PRODUCT.findall(instruction)) for block in loop for instruction in blocks[block]) for loop in loops]
    found = []
    for loop, count in zip(loops, products):
        inner = [other for other, there in zip(loops, products) if other < loop and (there or not count)]
        own = [instruction for block in loop.difference(*inner) for instruction in blocks[block]]
        found.append(Loop(len(own), sum(len(PRODUCT.findall(instruction)) for instruction in own), sum(map(spilled_bytes, own)), not inner))
    return found


def read_kernels(nvdisasm, cubin):
    """Name to listing."""
    result = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    parts = re.split(r"\n//-+ \.text\.(\w+)\s+-+\n", result.stdout)
    assert len(parts) > 1, f"expected kernels in {cubin}"
    return {name: text.splitlines() for name, text in zip(parts[1::2], parts[2::2])}


def spills_in_loops(nvdisasm, cubin, entries):
    """By kernel, the most bytes of the stack that an iteration of an innermost loop loads and stores. Kernels with products have a loop that multiplies."""
    kernels, spills = read_kernels(nvdisasm, cubin), {}
    for entry in entries:
        loops = [loop for loop in find_loops(kernels[entry]) if loop.innermost]
        multiplies = any(PRODUCT.search(line) for line in kernels[entry])
        assert not multiplies or any(loop.products for loop in loops), f"expected a loop with products in {entry}"
        spills[entry] = max((loop.spilled for loop in loops), default=0)
    return spills
