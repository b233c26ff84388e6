# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is timed: our kernels, torch's fused softmax attention, and a specification as plain PyTorch code; opponents.py has more. Each is made for
one problem, and has `forward` (without gradients) and `backward` (gradients of all inputs alone), or raises Unavailable."""
import contextlib
import types

import torch
from torch import Tensor  # the printed PyTorch code names it
from torch.nn.attention import SDPBackend, sdpa_kernel

from cases import Surrounded
from errors import Unavailable, reason

BACKENDS = {"SDPA flash": SDPBackend.FLASH_ATTENTION, "SDPA cuDNN": SDPBackend.CUDNN_ATTENTION}


class Problem:
    """Causal attention of `sizes` (b, h, g, t, u, d, e) in a type; all contenders share its tensors, those of one name too."""

    def __init__(self, sizes, dtype, device):
        self.sizes, self.dtype, self.device = sizes, dtype, device
        self.generator = torch.Generator(device.torch).manual_seed(1)
        self.drawn = {}  # what is neither q, k nor v: slot, shape and type -> tensor
        b, h, g, t, u, d, e = (sizes[a] for a in "bhgtude")
        self.q, self.k, self.v, self.cotangent = (self.normal(*shape) for shape in ((b, h, t, d), (b, g, u, d), (b, g, u, e), (b, h, t, e)))

    def normal(self, *shape, dtype=None):
        return torch.randn(*shape, generator=self.generator, device=self.device.torch).to(dtype or self.dtype)

    def inputs(self, kernel):
        """For each input of the manifest: a shared tensor by its axes, else a random one by its name (a parameter: around 1)."""
        shared = {("b", "h", "t", "d"): [self.q], ("b", "g", "u", "d"): [self.k], ("b", "g", "u", "e"): [self.v]}
        if self.sizes["d"] == self.sizes["e"]:
            shared["b", "g", "u", "d"].append(self.v)
        inputs = {}
        for entry in kernel.manifest["tensors"]["inputs"]:
            slot, axes = "input:" + entry["name"], tuple(entry["axes"])
            if shared.get(axes):
                inputs[slot] = shared[axes].pop(0)
            elif not kernel.dtype(slot).is_floating_point:
                # Numbers of documents, or what else is counted: three values, whose edges are no edges of tiles.
                shape = kernel.shape(slot, self.sizes)
                inputs[slot] = (torch.arange(shape[-1], device=self.device.torch) * 3 // shape[-1]).to(kernel.dtype(slot)).expand(shape).contiguous()
            else:
                learned = entry["source"]["kind"] == "parameter"
                shape = tuple(kernel.shape(slot, self.sizes))
                if (key := (slot, shape, kernel.dtype(slot))) not in self.drawn:
                    self.drawn[key] = (learned + 0.1 * self.normal(*shape, dtype=torch.float32)).to(kernel.dtype(slot))
                inputs[slot] = self.drawn[key]
        return inputs

    def operations(self, direction):
        """Floating-point operations of the visible pairs: 2d + 2e each forward, 6d + 4e backward."""
        b, h, t, d, e = (self.sizes[a] for a in "bhtde")
        return b * h * t * (t + 1) / 2 * (2 * d + 2 * e if direction == "forward" else 6 * d + 4 * e)


class Ours:
    def __init__(self, problem, kernel):
        self.device = problem.device
        self.tensors = tensors = problem.inputs(kernel)
        for slot in kernel.slots("forward") + kernel.slots("backward"):
            if slot.startswith("cotangent:"):
                tensors[slot] = problem.cotangent
            elif slot not in tensors:
                tensors[slot] = Surrounded(kernel.axes(slot), kernel.shape(slot, problem.sizes), kernel.dtype(slot), problem.device, "bhtc").tensor
        bare = {slot: x for slot, x in tensors.items() if not slot.startswith("saved:")}
        try:
            self.calls = {"forward": kernel.prepare("forward", bare, problem.device, "own"),
                          "backward": kernel.prepare("backward", tensors, problem.device, "own")}
            kernel.prepare("forward", tensors, problem.device, "own")(problem.device.stream())  # what the backward reads
            problem.device.synchronize()
        except RuntimeError as error:
            raise Unavailable(reason(error)) from None

    def forward(self):
        self.calls["forward"](self.device.stream())

    def backward(self):
        self.calls["backward"](self.device.stream())

    def results(self):
        """The output and the gradients of q, k and v."""
        self.forward()
        self.backward()
        return [self.tensors[slot] for slot in ("output:o", "gradient:q", "gradient:k", "gradient:v")]


class Differentiable:
    """A torch function of tensors: forward without gradients, backward by autograd alone."""

    def __init__(self, function, inputs, cotangent, context=contextlib.nullcontext):
        self.function, self.cotangent, self.context = function, cotangent, context
        self.inputs = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
        self.wanted = [x for x in self.inputs if x.requires_grad]
        self.output = None
        try:
            self.forward()
            self.record()
            self.backward()
        except Exception as error:  # whatever a compiler of kernels or an allocator finds wrong is a reason to do without
            self.output = None
            raise Unavailable(reason(error)) from None

    def forward(self):
        with torch.no_grad(), self.context():
            self.function(*self.inputs)

    def record(self):
        with self.context():
            self.output = self.function(*self.inputs)

    def backward(self):
        return torch.autograd.grad(self.output, self.wanted, self.cotangent, retain_graph=True, allow_unused=True)

    def results(self):
        """The output and the gradients of all inputs."""
        return [self.output.detach(), *self.backward()]


def distance(results, reference):
    """The largest of the results' relative differences, in the norm of the whole array."""
    return max(((x.float() - y.float()).norm() / y.float().norm()).item() for x, y in zip(results, reference))


def sdpa(problem, name):
    grouped = problem.sizes["g"] != problem.sizes["h"]
    function = lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=grouped)
    return Differentiable(function, [problem.q, problem.k, problem.v], problem.cotangent, lambda: sdpa_kernel(BACKENDS[name]))


def eager(problem, kernel, text):
    """The code that `taylorc --emit=torch` printed; its last function is the specification."""
    b, h, t, u = (problem.sizes[a] for a in "bhtu")
    array, arrays = b * h * t * u * problem.dtype.itemsize, 16  # t x t arrays that autograd keeps, with some air
    if problem.device.name == "cuda" and array * arrays > torch.cuda.mem_get_info()[0]:
        raise Unavailable(f"about {arrays} arrays of {t} x {u} per head, {array / 1e9:.1f} GB each, do not fit the memory")
    scope = {"torch": torch, "Tensor": Tensor}
    exec(compile(text, "eager", "exec"), scope)  # noqa: S102 -- the compiler's own output, in our folder
    functions = [value for value in scope.values() if isinstance(value, types.FunctionType)]
    function = functions[-1]

    def first(*inputs):
        outputs = function(*inputs)
        return outputs[0] if isinstance(outputs, tuple) else outputs

    return Differentiable(first, problem.inputs(kernel).values(), problem.cotangent)
