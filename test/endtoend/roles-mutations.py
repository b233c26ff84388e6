# Attention whose warps have roles (--target=sm_90a+roles), with every wait, arrival, fence and barrier of its PTX broken in turn: the interpreter reports a
# fault, or a result is wrong. (PtxMutationTest.cpp does the same without roles. Lanes of a warp go on together there, so that a missing bar.warp.sync is not seen.)
# One part for the forward, one where its iterations overlap, one for the kernel of dk and dv, where queries pass by and scalars of theirs come by pieces, and one for
# the states of chunks, whose members are panels of features.
# Every other mutant of a kind is tried; with --full all are.
# REQUIRES: taylorc
# SHARDS: 4
# RUN: %python %s %bin_dir %S/../runtime/artifact-fixture %t %spec_dir %shard %full
import collections
import pathlib
import re
import subprocess
import sys

bin_dir, fixtures, folder, specs = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])
kernel, more = [("forward_attend", ""), ("forward_attend", "overlap"), ("backward_pairs", ""), ("forward_states", "")][int(sys.argv[5].partition("/")[0])]
STEP = 1 if sys.argv[6] == "1" else 2
TARGET = f"sm_90a+roles+{more}".rstrip("+")
sys.path.insert(0, str(fixtures))
from seal import trailer

PAIRS_SPEC = "beyond/sliding-window.mlir"
SPEC = {"forward_attend": fixtures / "plain.mlir", "backward_pairs": specs / PAIRS_SPEC, "forward_states": specs / "softmax-taylor.mlir"}[kernel]
SEEDS = range(6)
# A gang of three members, and one of one tile and two copies of it. Five tiles of keys in two slots, of which the first member passes one by; the last ones end
# within the array, and beyond it.
FORWARD = ("b=1,h=1,g=1,t=200,u=600,d=64,e=64", ["--forward-only"])
# Three gangs of two members, of which the last one is 14 keys and the same again; two heads, each of up to four tiles of queries in two slots, of which each member
# passes by one, the last one cut by the window within the array.
PAIRS = ("b=1,h=2,g=1,t=270,u=270,d=64,e=64", ["--set=window=100"])
# Two gangs of three members, of which the last one is one panel and two copies of it; chunks of up to four tiles of keys in two slots, the last one cut within the array.
STATES = ("b=1,h=1,g=1,t=450,u=470,d=16,e=64", ["--forward-only", "--set=order=2", "--form=chunked", "--chunk=192"])
SHAPE, DIRECTIONS = {"forward_attend": FORWARD, "backward_pairs": PAIRS, "forward_states": STATES}[kernel]
# What others order too, of dk and dv: a member releases scalars before the queries of the same tile, for whose slot the producer waits first; a product's group is
# closed by the next product, where no wait stands between; and the second scalars' arrival, for which members wait before they read the first, waits for those as well.
PASSED = 4 if kernel == "forward_attend" else 8
# Of iterations that overlap: what the last products read, after the loop, no one fills again.
REDUNDANT = {"no arrival": 1} if more else {} if kernel == "forward_attend" else {"a wait for a signal that does not wait": 2, "no commit of a product": 2, "no arrival of pieces": 1}
# Of states, members release the vectors before the values of the same tile, for whose slot the producer waits first; and the values' copy starts before the vectors' pieces,
# for which members wait first: the interpreter has it done by then.
if kernel == "forward_states":
    REDUNDANT = {"a wait for a signal that does not wait": 2}
# What a kernel does not have. Vectors that features are computed of come by pieces, which arrive by themselves.
ABSENT = {"forward_attend": ["no wait for pieces", "no arrival of pieces", "pieces that arrive in place of the warp"], "backward_pairs": [],
          "forward_states": ["no wait for pieces"]}
ENVIRONMENT = {"TAYLOR_PTXAS": "", "PATH": "/usr/bin:/bin", "HOME": str(folder)}
# What is broken, by a pattern and what stands in its place. Each occurrence is one mutant.
MUTATIONS = [
    ("a wait for a signal that does not wait", r"mbarrier\.try_wait(\.parity[^\n]*\n@P1 bra DONE;\n)bra WAIT;\n", r"mbarrier.test_wait\1"),
    ("no arrival", r"(@%p\d+ )mbarrier\.arrive\.shared[^\n]*", ""),
    ("an arrival that expects no bytes", r"mbarrier\.arrive\.expect_tx(\.shared\.b64 _, \[%r\d+\]), %r\d+", r"mbarrier.arrive\1"),
    ("no bulk copy", r"cp\.async\.bulk[^\n]*", ""),
    ("a bulk copy of other rows", r"(cp\.async\.bulk[^\n]*\{)(%r\d+), (%r\d+)", r"\1\2, \2"),
    ("one arrival more for a signal", r"(mbarrier\.init\.shared\.b64 \[%r\d+\]), %r\d+", r"\1, 2"),
    ("no wait for pieces", r"cp\.async\.wait_group  0;", ""),
    ("no arrival of pieces", r"cp\.async\.mbarrier\.arrive\.shared[^\n]*", ""),
    ("pieces that arrive in place of the warp", r"(cp\.async\.mbarrier\.arrive)(\.shared)", r"\1.noinc\2"),
    ("no fence between proxies", r"fence\.proxy\.async\.shared::cta;", ""),
    ("no barrier", r"bar\.sync[^\n]*", ""),
    ("no wait for a product", r"wgmma\.wait_group\.sync\.aligned [01];", ""),
    ("a wait that leaves a product more", r"(wgmma\.wait_group\.sync\.aligned) 0;", r"\1 1;"),
    ("a wait that leaves two products", r"(wgmma\.wait_group\.sync\.aligned) 1;", r"\1 2;"),
    ("no commit of a product", r"wgmma\.commit_group\.sync\.aligned;", ""),
    ("no choice of a lane", r"@%p\d+ bra  (\$L\w+);(?=(?:(?!\$L)[^;]*;){1,4}?[^;]*mbarrier\.arrive\.expect_tx)", ""),
]


def is_of_last_pass(text, match):
    """Whether the signal is of a use that a member passes by. The last two of a ring of two slots no one fills again: nothing depends on when they are released.
    Nor does anything depend on the wait for a use that another member reads, and waits for, before it releases it."""
    before, after = text[:match.start()].rpartition("mbarrier.try_wait")[2], text[match.end():].partition("mbarrier.arrive")[0]
    around = after if "WAIT" in match[0] else before
    return not re.search(r"wgmma|cp\.async", around)


def taylor(program, *arguments):
    return subprocess.run([bin_dir / program, SPEC, "--dtype=bf16", *arguments], capture_output=True, text=True, env=ENVIRONMENT)


def check(text, seed):
    """What the interpreter says of the artifact with this text, which is no longer than the compiled one without its comments."""
    text = text.replace(b"// begin inline asm", b"//")
    assert len(text) <= len(compiled)
    changed = artifact[:place] + text.ljust(len(compiled), b"\n") + artifact[place + len(compiled):-len(trailer(b""))]
    (folder / "changed.so").write_bytes(changed + trailer(changed))
    return taylor("taylor-run", f"--kernel={folder}/changed.so", "--device=ptx", "--check", "--poison", *DIRECTIONS, "--threads=1", f"--shape={SHAPE}",
                  f"--ptx-seed={seed}")


folder.mkdir(parents=True, exist_ok=True)
channels = re.search(r"d=(\d+)", SHAPE)[1]
arguments = (f"--target={TARGET}", f"--head-dim={channels}", "--value-dim=64", *DIRECTIONS)
for output in (["-o", folder / "whole.so"], ["--emit=asm", "-o", folder / "text"]):
    made = taylor("taylorc", *arguments, *output)
    assert made.returncode == 0, made.stderr
compiled = (folder / "text").read_bytes().rstrip()
artifact = (folder / "whole.so").read_bytes()
place = artifact.index(compiled)
for seed in SEEDS:
    whole = check(compiled, seed)
    assert whole.returncode == 0 and "  ok" in whole.stdout, whole.stdout + whole.stderr

count, passed, survivors = 0, [], []
text = compiled.decode()
entry = text.index(f".entry {kernel}(")
end = text.find(".entry ", entry + 1)
for name, pattern, instead in MUTATIONS:
    matches = list(re.compile(pattern).finditer(text, entry, end if end >= 0 else len(text)))
    assert matches or name in ABSENT[kernel] or not more and "two products" in name, f"nothing to break: {name}"
    for match in matches[::STEP]:
        count += 1
        mutant = (text[:match.start()] + match.expand(instead) + text[match.end():]).encode()
        for seed in SEEDS:
            result = check(mutant, seed)
            assert result.returncode in (0, 1) and "expected " not in result.stderr.split("line ")[0], f"{name}: {result.stderr}"
            if result.returncode:
                assert re.search(r", line \d+ '|FAILED|written outside|deadlock|all warps", result.stdout + result.stderr), f"{name}: {result.stderr}"
                break
        else:
            found = passed if is_of_last_pass(text, match) else survivors
            found.append((name, f"line {text.count(chr(10), 0, match.start()) + 1}: {name}: {match[0].strip()}"))
print(f"{count} mutants, {len(passed)} redundant, {len(survivors)} not caught", *(line for _, line in survivors), "redundant:", *(line for _, line in passed), sep="\n")
counts = collections.Counter(name for name, _ in survivors)
sys.exit(1 if any(counts[name] > REDUNDANT.get(name, 0) for name in counts) or len(passed) > PASSED else 0)
