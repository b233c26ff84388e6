# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a training framework needs of the kernels beyond right results: the same bits again, two streams, CUDA graphs, the torch operator,
and collectives beside them. Each gives one row: feature, verdict (`ok`, `WRONG: ..`, or `skipped: ..`)."""
import datetime
import os
import tempfile

import torch
import torch.distributed as dist

from errors import Unavailable, reason


def bits(case):
    return {slot: x.detach().clone() for slot, x in case.results().items()}


def differing(case, expected):
    """Slots whose bits are others now."""
    same = lambda a, b: torch.equal(a.contiguous().view(torch.uint8), b.contiguous().view(torch.uint8))
    return [slot for slot, x in case.results().items() if not same(x, expected[slot])]


def spoil(case):
    for x in case.results().values():
        x.fill_(float("nan"))


def verdict(wrong):
    return f"WRONG: other bits in {', '.join(wrong)}" if wrong else "ok"


def repeatable(case):
    """Two runs, with memory of our own and of torch's for the workspace: the same bits."""
    case.run()
    first = bits(case)
    spoil(case)
    case.run(workspace="own")
    return verdict(differing(case, first))


def two_streams(cases):
    """Two problems at the same time, several times over, give the bits that each gives alone."""
    expected = []
    for case in cases:
        case.run()
        expected.append(bits(case))
    wrong = []
    for workspace in ("own", None):
        calls = [case.calls(workspace) for case in cases]
        for _ in range(5):
            for case in cases:
                spoil(case)
            case_calls = [lambda stream, pair=pair: [call(stream) for call in pair] for pair in calls]
            cases[0].device.concurrently(case_calls)
            cases[0].device.synchronize()
            wrong += [slot for case, bits_of in zip(cases, expected) for slot in differing(case, bits_of)]
    return verdict(sorted(set(wrong)))


def cuda_graph(case):
    """Forward and backward, captured once, then replayed on other inputs."""
    if case.device.name != "cuda":
        raise Unavailable("CUDA graphs are the GPU's")
    case.run()
    first = bits(case)
    inputs = [x for slot, x in case.tensors.items() if slot.startswith(("input:", "cotangent:")) and x.is_floating_point()]
    calls, graph, stream = case.calls("own"), torch.cuda.CUDAGraph(), torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.graph(graph, stream=stream):
        for call in calls:
            call(torch.cuda.current_stream().cuda_stream)
    for x in inputs:
        x.mul_(-0.5)
    case.run()
    second = bits(case)
    if not differing(case, first):
        return "WRONG: other inputs gave the same results"
    spoil(case)
    graph.replay()
    torch.cuda.synchronize()
    wrong = differing(case, second)
    for x in inputs:
        x.mul_(-2)
    graph.replay()
    torch.cuda.synchronize()
    return verdict(sorted(set(wrong + differing(case, first))))


def torch_operator(case, folder):
    """The operator for PyTorch, where torch is the version that it was built with."""
    about = folder.index["operator"]
    if not about:
        raise Unavailable("the folder has no libtaylor_torch.so")
    if torch.__version__.split("+")[0] != about["torch"]:
        raise Unavailable(f"libtaylor_torch.so is for torch {about['torch']}, and this is {torch.__version__}")
    if case.device.name == "ptx":
        raise Unavailable("it runs where the tensors are")
    torch.ops.load_library(folder.path / about["file"])
    names = [entry["name"] for entry in case.kernel.manifest["tensors"]["inputs"]]
    inputs = [case.stored["input:" + name].to(case.kernel.dtype("input:" + name)).to(case.device.torch) for name in names]
    inputs = [x.requires_grad_(x.is_floating_point()) for x in inputs]
    outputs = torch.ops.taylor.attention(inputs, str(folder.artifact(case.entry["artifact"])), "", None)
    cotangents = [case.stored["cotangent:" + entry["name"]].to(o) for entry, o in zip(case.kernel.manifest["tensors"]["outputs"], outputs)]
    gradients = torch.autograd.grad(outputs, [x for x in inputs if x.requires_grad], cotangents)
    given = {"output:" + e["name"]: o for e, o in zip(case.kernel.manifest["tensors"]["outputs"], outputs)}
    given |= dict(zip(["gradient:" + n for n, x in zip(names, inputs) if x.requires_grad], gradients))
    for slot, bound in case.entry["contract"].items():
        error = (given[slot].detach().double().cpu() - case.stored[slot].double()).norm().item()
        if not error <= bound["allowed"]:
            return f"WRONG: {slot} is off by {error:.3e}, allowed {bound['allowed']:.3e}"
    return "ok"


def collectives(device):
    """One process, all of torch.distributed that data-parallel training uses: NCCL's all-reduce through the default group, through the
    process group's own class, and through c10d's Reducer, which averages gradients in buckets while the backward runs."""
    backend = "nccl" if device.name == "cuda" else "gloo"
    if not dist.is_available() or not getattr(dist, f"is_{backend}_available")():
        raise Unavailable(f"this torch has no {backend}")
    if dist.is_initialized():
        return "WRONG: a process group is there already"
    with tempfile.TemporaryDirectory() as folder:
        store = dist.FileStore(os.path.join(folder, "store"), 1)
        dist.init_process_group(backend, store=store, rank=0, world_size=1, timeout=datetime.timedelta(seconds=60))
        try:
            x = torch.arange(1 << 20, dtype=torch.float32, device=device.torch)
            for dtype in (torch.float32, torch.bfloat16):
                y = x.to(dtype)
                dist.all_reduce(y)
                dist.broadcast(y, src=0)
                # The class that a program in C++ makes: ProcessGroupNCCL.
                dist.group.WORLD._get_backend(torch.device(device.torch)).allreduce([y]).wait()
                if not torch.equal(y, x.to(dtype)):
                    return f"WRONG: a sum over one process changed {dtype}"
            module = torch.nn.Linear(64, 64, device=device.torch)
            data = torch.ones(4, 64, device=device.torch)
            module(data).square().sum().backward()
            alone = [p.grad.clone() for p in module.parameters()]
            module.zero_grad()
            torch.nn.parallel.DistributedDataParallel(module)(data).square().sum().backward()
            if any(not torch.equal(a, p.grad) for a, p in zip(alone, module.parameters())):
                return "WRONG: c10d's Reducer changed gradients of one process"
            dist.barrier()
        finally:
            dist.destroy_process_group()
    return "ok"


def check_features(cases, folder, device, progress):
    """Rows of feature and verdict; cases[0] and cases[1] are two problems of deterministic kernels."""
    backend = "NCCL" if device.name == "cuda" else "Gloo"
    checks = [("same bits again", lambda: repeatable(cases[0])), ("two at the same time", lambda: two_streams(cases[:2])),
              ("CUDA graph", lambda: cuda_graph(cases[0])), ("torch operator", lambda: torch_operator(cases[0], folder)),
              (f"{backend}, one process", lambda: collectives(device))]
    rows = []
    for name, check in checks:
        progress.step(f"{name} ...")
        try:
            result = check()
        except Unavailable as error:
            result = f"skipped: {error}"
        except RuntimeError as error:
            result = f"WRONG: {reason(error)}"
        rows.append({"feature": name, "verdict": result})
        progress.say(f"{name}: {result}")
    return rows
