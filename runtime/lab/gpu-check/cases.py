# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One case: an artifact on one set of sizes, against stored results.

Every tensor lies between margins of NaN, in the case's layout; results start as NaN. A kernel that reads outside of its inputs, leaves an
element unwritten or writes outside of its results is therefore seen."""
import torch

MARGIN = 64  # elements before and after each tensor: a multiple of 16 bytes in every type


def memory_order(axes, layout):
    """Axes from slowest to fastest. bhtc: as they are; bthc: tokens before heads, as a projection leaves them."""
    return sorted(axes, key=lambda a: ("b", "t", "u", "h", "g").index(a) if a in "btuhg" else 9) if layout == "bthc" else list(axes)


class Surrounded:
    """A tensor of a shape in a layout, with margins."""

    def __init__(self, axes, shape, dtype, device, layout):
        fill = float("nan") if dtype.is_floating_point else -(2**31)
        count = 1
        for size in shape:
            count *= size
        self.memory = torch.full((count + 2 * MARGIN,), fill, dtype=dtype, device=device.torch)
        order = memory_order(axes, layout)
        dense = self.memory[MARGIN : MARGIN + count].view([shape[axes.index(a)] for a in order])
        self.tensor = dense.permute([order.index(a) for a in axes])

    def is_intact(self):
        edges = torch.cat([self.memory[:MARGIN], self.memory[-MARGIN:]])
        return bool((edges.isnan() if edges.is_floating_point() else edges == -(2**31)).all())


class Case:
    """`entry` is the case in pack.json; `stored` its file: input.q, cotangent.o, output.o, gradient.q, .."""

    def __init__(self, folder, entry, kernel, device):
        self.entry, self.kernel, self.device = entry, kernel, device
        self.stored = torch.load(folder.reference(entry["file"]), weights_only=True)
        self.buffers = {}
        self.allocate()

    def allocate(self):
        entry, kernel, device = self.entry, self.kernel, self.device
        for function in ("forward", "backward"):
            for slot in kernel.slots(function):
                if slot not in self.buffers:
                    shape = kernel.shape(slot, entry["sizes"])
                    self.buffers[slot] = Surrounded(kernel.axes(slot), shape, kernel.dtype(slot), device, entry["layout"])
        for slot, buffer in self.buffers.items():
            if slot.startswith(("input:", "cotangent:")):
                buffer.tensor.copy_(self.stored[slot])
        self.tensors = {slot: buffer.tensor for slot, buffer in self.buffers.items()}

    def results(self):
        return {slot: x for slot, x in self.tensors.items() if slot.startswith(("output:", "saved:", "gradient:"))}

    def calls(self, workspace=None):
        return [self.kernel.prepare(function, self.tensors, self.device, workspace) for function in ("forward", "backward")]

    def run(self, workspace=None):
        for call in self.calls(workspace):
            call(self.device.stream())
        self.device.synchronize()

    def judge(self):
        """Rows of slot, error, allowed, norm, eager error, verdict; a result that the kernels do not give is held to be zero."""
        rows = []
        for slot, bound in self.entry["contract"].items():
            reference = self.stored[slot].double()
            ours = self.tensors[slot].detach().double().cpu() if slot in self.tensors else torch.zeros_like(reference)
            error = (ours - reference).norm().item()
            verdict = "ok" if error <= bound["allowed"] else "WRONG"  # NaN is wrong
            if slot in self.buffers and not self.buffers[slot].is_intact():
                verdict = "WRONG: wrote outside of it"
            rows.append({"case": self.entry["name"], "slot": slot, "error": error, **bound, "verdict": verdict})
        return rows


class Steps(Case):
    """Token by token through `step`: with states that each call hands on, with keys that `append` has prepared, or with keys and values of all
    tokens so far. What the calls give together is held against the results of the whole sequence."""

    def allocate(self):
        kernel, sizes = self.kernel, self.entry["sizes"]
        functions = kernel.manifest["functions"]
        self.functions = [name for name in ("append", "step") if name in functions]
        slots = [slot for name in self.functions for slot in kernel.slots(name)]
        # Calls are given the new token's inputs alone.
        self.is_recurrent = "carried" in functions["step"] or "append" in functions
        self.carried = {slot: slot.replace("input:initial.", "output:final.") for slot in slots if slot.startswith("input:initial.")}
        # Of prepared keys what grows is one array; what one call hands on to the next is two.
        self.grows = [slot for slot in slots if slot.startswith("cache:") and "u" in kernel.axes(slot)]
        self.carried |= {slot: slot.replace("cache:", "append:") for slot in slots if slot.startswith("cache:") and slot not in self.grows}
        handed_on = {*self.carried, *self.carried.values(), *self.grows}
        for slot in slots:
            if slot in handed_on or slot.startswith("output:"):
                layout = "bhtc" if slot in handed_on else self.entry["layout"]
                self.buffers[slot] = Surrounded(kernel.axes(slot), kernel.shape(slot, sizes), kernel.dtype(slot), self.device, layout)
        self.tensors = {slot: buffer.tensor for slot, buffer in self.buffers.items()}
        self.whole = {slot: self.stored[slot].to(self.device.torch) for slot in slots if slot.startswith("input:") and slot not in self.carried}

    def of_token(self, slot, tensor, token):
        """The new token's part of an array; keys of all tokens so far, where each call reads them."""
        of_all = slot in self.grows or not self.is_recurrent
        for axis, name in enumerate(self.kernel.axes(slot)):
            if name == "t" or (name == "u" and not of_all):
                tensor = tensor.narrow(axis, token, 1)
            elif name == "u":
                tensor = tensor.narrow(axis, 0, token + 1)
        return tensor

    def run(self, workspace=None):
        handed_on = {*self.carried, *self.carried.values()}
        for slot in self.carried:
            self.tensors[slot].zero_()  # nothing before the first token
        for token in range(self.entry["sizes"]["t"]):
            given = {slot: self.of_token(slot, x, token) for slot, x in self.whole.items()}
            given |= {slot: x if slot in handed_on else self.of_token(slot, x, token) for slot, x in self.tensors.items()}
            for slot in self.grows:
                made = slot.replace("cache:", "append:")
                given[made] = self.tensors[slot].narrow(self.kernel.axes(slot).index("u"), token, 1)
            for name in self.functions:
                self.kernel.prepare(name, given, self.device, workspace)(self.device.stream())
            for initial, final in self.carried.items():
                self.tensors[initial].copy_(self.tensors[final])
        self.device.synchronize()
