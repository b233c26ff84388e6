# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.ops.taylor_attention: loads `_taylor.so`, describes specifications, and tells torch what the operators return.

Imports torch; the rest of the package does not, until `ta.attention` or `ta.Decoder` is asked for.
"""
from __future__ import annotations

import ctypes
import json
import os
import re
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

import torch

from . import files
from .messages import at_python
from .options import check_options

Sizes = Sequence[Any]  # integers, or torch's symbols while it traces

# The numbers by which torch writes dtypes into files.
_DTYPES = {torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5,
           torch.float32: 6, torch.float64: 7, torch.complex32: 8, torch.complex64: 9, torch.complex128: 10,
           torch.bool: 11, torch.bfloat16: 15, torch.float8_e5m2: 23, torch.float8_e4m3fn: 24,
           torch.float8_e5m2fnuz: 25, torch.float8_e4m3fnuz: 26, torch.uint16: 27, torch.uint32: 28, torch.uint64: 29}
_UNDEFINED = 255
_STORAGE = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64,
            "i32": torch.int32}
_RUN_TIME_AXES = frozenset("bhgtu")  # others are channels, whose sizes a kernel is made for
LINE_END = "\u240a"
_LONGEST_PATH = 4095


class _Described(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int32), ("device", ctypes.c_char_p), ("rank", ctypes.c_int64),
                ("sizes", ctypes.POINTER(ctypes.c_int64))]


LIBRARY = files.library()
torch.ops.load_library(str(LIBRARY))
_functions = ctypes.CDLL(str(LIBRARY))
for _name in ("taylor_describe_program", "taylor_describe_call", "taylor_describe_error"):
    getattr(_functions, _name).restype = ctypes.c_char_p
_functions.taylor_describe_call.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(_Described),
                                            ctypes.c_int64]
_functions.taylor_describe_kernel.restype = ctypes.c_char_p
_functions.taylor_describe_kernel.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_int64] * 2

forward = torch.ops.taylor_attention.forward.default
backward = torch.ops.taylor_attention.backward.default
step = torch.ops.taylor_attention.step.default
decode = torch.ops.taylor_attention.decode.default


def _answer(text: bytes | None, spec: str) -> Any:
    """What a function of _taylor.so says of a specification; what it refuses stands at the user's line of Python."""
    if text is None:
        raise RuntimeError("taylor: " + at_python(_functions.taylor_describe_error().decode(), spec))
    return json.loads(text)


def explained(error: RuntimeError, spec: str) -> RuntimeError:
    """An error of the operators, at the user's line of Python where `@ta.spec` wrote the specification."""
    message = at_python(str(error), spec.replace(LINE_END, "\n"))
    return error if message == str(error) else RuntimeError(message)


@dataclass(frozen=True)
class Tensor:
    """A tensor as a manifest describes it."""

    name: str
    axes: tuple[str, ...]
    dtype: torch.dtype
    kind: str  # of an input's source: projection, parameter, input
    gradient: bool
    optional: bool
    bias: bool = False  # of a projection
    initial: Mapping[str, Any] = field(default_factory=dict)  # of a parameter: its distribution

    @property
    def channel(self) -> str | None:
        """The axis d or e, or None."""
        return next((axis for axis in self.axes if axis in ("d", "e")), None)

    @property
    def constant(self) -> float:
        """What a learned parameter begins as, if it is one number: of a distribution the mean."""
        known: dict[str, float] = {"zeros": 0.0, "ones": 1.0}
        low, high = (float(self.initial.get(name, 0.0)) for name in ("low", "high"))
        known.update(constant=float(self.initial.get("value", 0.0)), normal=float(self.initial.get("mean", 0.0)),
                     uniform=(low + high) / 2)
        return known[self.initial["kind"]]

    @property
    def is_state(self) -> bool:
        return self.name.startswith(("initial.", "final."))

    @property
    def batch(self) -> int:
        """The place of axis b, or -1."""
        return self.axes.index("b") if "b" in self.axes else -1


def _tensor(json_: dict[str, Any]) -> Tensor:
    source = json_.get("source", {})
    return Tensor(json_["name"], tuple(json_["axes"]), _STORAGE[json_["dtype"]], source.get("kind", ""),
                  json_.get("gradient", False), json_.get("optional", False), source.get("bias", False),
                  source.get("initial", {}))


class Manifest:
    """What a kernel takes and gives (runtime/MANIFEST.md)."""

    def __init__(self, json_: dict[str, Any]) -> None:
        def read(kind: str) -> tuple[Tensor, ...]:
            return tuple(_tensor(x) for x in json_["tensors"][kind])

        self.inputs, self.outputs, self.saved = read("inputs"), read("outputs"), read("saved")
        self.cache = tuple(_tensor(x) for x in json_["tensors"].get("cache", ()))  # what is kept of prepared keys
        self.sizes: dict[str, int] = json_["sizes"]
        self.mask: str = json_["mask"]
        self.functions: dict[str, dict[str, Any]] = json_["functions"]

    def reads(self, function: str, role: str) -> bool:
        """Whether a function takes a tensor in a role, such as `output`."""
        return any(slot.startswith(role + ":") for slot in self.functions.get(function, {"tensors": ()})["tensors"])

    def sizes_of(self, tensor: Tensor, inputs: Sequence[torch.Tensor]) -> list[Any]:
        """Run-time sizes are those of the first of the inputs that has the axis."""
        return [self._size(axis, inputs) if axis in _RUN_TIME_AXES else self.sizes[axis] for axis in tensor.axes]

    def _size(self, axis: str, inputs: Sequence[torch.Tensor]) -> Any:
        for info, given in zip(self.inputs, inputs):
            if given.dim() != len(info.axes):
                raise RuntimeError(f"taylor: expected rank {len(info.axes)} of '{info.name}', but got rank "
                                   f"{given.dim()}")
            if axis in info.axes:
                return given.shape[info.axes.index(axis)]
        return 1

    def empty(self, tensor: Tensor, inputs: Sequence[torch.Tensor], like: torch.Tensor | None = None) -> torch.Tensor:
        """A tensor as a kernel returns it, without values."""
        sizes = self.sizes_of(tensor, inputs)
        return torch.empty_strided(sizes, dense_strides(sizes, () if like is None else like.stride()),
                                   dtype=tensor.dtype, device=inputs[0].device)

    def final_of(self, name: str) -> int:
        """Index of the output that an input is after the call, or -1."""
        if name.startswith("initial."):
            for number, output in enumerate(self.outputs):
                if output.name == "final." + name.removeprefix("initial."):
                    return number
        return -1


def dense_strides(sizes: Sizes, like: Sizes) -> list[Any]:
    """As runtime/torch/Layout.h: in the order of `like`'s strides, the largest first, the last axis innermost."""
    order = list(range(len(sizes)))
    if len(like) == len(sizes):
        for i in range(1, len(sizes) - 1):
            j = i
            while j > 0 and like[order[j - 1]] < like[order[j]]:
                order[j - 1], order[j] = order[j], order[j - 1]
                j -= 1
    strides: list[Any] = [1] * len(sizes)
    following: Any = 1
    for axis in reversed(order):
        strides[axis] = following
        following = following * (1 if sizes[axis] < 1 else sizes[axis])
    return strides


def _refuse_symbol(text: str) -> None:
    """The symbol for a line's end stands for one where a text has one line; in a text of several it cannot."""
    if "\n" in text and LINE_END in text:
        raise RuntimeError("taylor: unsupported character U+240A in a specification; write another")


_NAME = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*")


def resolve(spec: str) -> str:
    """The path of a specification that ships with Taylor where `spec` is its name, and there is no such file."""
    if len(spec) < 100 and _NAME.fullmatch(spec) and not os.path.exists(spec):
        return str(files.specification(spec))
    return spec


class Program:
    """A specification under options: what every call of it shares."""

    def __init__(self, spec: str, options: str) -> None:
        check_options(options)
        spec = resolve(spec)
        _refuse_symbol(spec)
        described = _answer(_functions.taylor_describe_program(spec.encode(), options.encode()), spec)
        self.options = options
        # The text, or an artifact's path and checksum. It is an operator's argument, and those have one line (Lines.h).
        identity: str = described["identity"]
        _refuse_symbol(identity)
        self.identity = identity.replace("\r\n", "\n").replace("\r", "\n").replace("\n", LINE_END)
        self.telling: int = described["telling"]  # the input that has the call's dtype, or -1
        self.signature = Manifest(described["manifest"])
        self.inputs = self.signature.inputs
        self.output_count = len(self.signature.outputs)
        self.takes_optional = any(x.optional for x in self.inputs)
        self.has_states = any(x.is_state for x in self.inputs)
        self.is_differentiable = "backward" in self.signature.functions
        self.reads_outputs = self.signature.reads("backward", "output")
        self._manifests: dict[Any, Manifest] = {}

    @property
    def text(self) -> str:
        """The specification's text; of an artifact its identity."""
        return self.identity.replace(LINE_END, "\n")

    def manifest(self, inputs: Sequence[torch.Tensor]) -> Manifest:
        """That of the kernel which serves such inputs; torch may be tracing them."""
        described = (_Described * len(inputs))()
        keys = []
        for number, given in enumerate(inputs):
            axes = self.inputs[number].axes if number < len(self.inputs) else ()
            # The size of a channel is one of the kernel's. Others may be symbols, and are not looked at.
            sizes = [-1 if number < len(axes) and axes[number] in _RUN_TIME_AXES else size
                     for number, size in enumerate(given.shape)] if len(axes) == given.dim() else []
            sizes = [int(size) for size in sizes] or [-1]
            device = str(given.device)
            keys.append((given.dtype, device, given.dim(), *sizes))
            described[number] = _Described(_DTYPES.get(given.dtype, _UNDEFINED), device.encode(), given.dim(),
                                           (ctypes.c_int64 * len(sizes))(*sizes))
        key = tuple(keys)
        if key not in self._manifests:
            self._manifests[key] = Manifest(_answer(_functions.taylor_describe_call(
                self.identity.encode(), self.options.encode(), described, len(inputs)),
                self.identity.replace(LINE_END, "\n")))
        return self._manifests[key]

    def complete(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """The inputs, and zeros for those at the end that a call leaves out: a sequence without states begins here."""
        if not self.takes_optional or len(inputs) >= len(self.inputs):
            return inputs
        manifest = self.manifest(inputs)
        return inputs + [manifest.empty(x, inputs).zero_() for x in manifest.inputs[len(inputs):]]


def kernel(spec: str, options: str, dtype: torch.dtype, d: int, e: int) -> Manifest:
    """The manifest of a kernel for the processor, which is compiled for this."""
    name = next((name for name, storage in _STORAGE.items() if storage == dtype), str(dtype))
    spec = resolve(spec)
    return Manifest(_answer(_functions.taylor_describe_kernel(spec.encode(), options.encode(), name.encode(), d, e), spec))


_programs: dict[tuple[str, str], tuple[Any, Program]] = {}


def _stamp(spec: str) -> Any:
    """What tells a file's contents without reading them; None of a text."""
    if len(spec) > _LONGEST_PATH or "taylor.spec" in spec:
        return None
    return _stamp_of_file(spec)


def _stamp_of_file(path: str) -> Any:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def program(spec: str, options: str) -> Program:
    """The program of a specification: path, text, name of one that ships, or path of an artifact.

    A file that has changed since gives a new one; but not in a backward, where a forward that is computed again is the
    one that ran.
    """
    known = _programs.get((spec, options))
    if known is not None:
        stamp, found = known
        if stamp is None or torch._C._current_graph_task_id() != -1 or stamp == _stamp_of_file(spec):
            return found
    stamp = _stamp(spec)
    made = Program(spec, options)
    _programs[spec, options] = stamp, made
    if made.identity != spec:
        _programs[made.identity, options] = None, made
    return made


@torch.library.register_fake("taylor_attention::forward")
def _forward_fake(inputs: list[torch.Tensor], spec: str, options: str = "", offset: int | None = None,
                  save: bool = True) -> list[torch.Tensor]:
    found = program(spec, options)
    manifest = found.manifest(inputs)
    like = inputs[found.telling] if found.telling >= 0 else None
    results = [manifest.empty(x, inputs, like) for x in manifest.outputs]
    if found.has_states:
        for info, given in zip(manifest.inputs, inputs):
            if (after := manifest.final_of(info.name)) >= 0:
                results[after] = torch.empty(given.shape, dtype=info.dtype, device=given.device)
    return results + [manifest.empty(x, inputs) for x in manifest.saved if save]


@torch.library.register_fake("taylor_attention::backward")
def _backward_fake(inputs: list[torch.Tensor], outputs: list[torch.Tensor], saved: list[torch.Tensor],
                   cotangents: list[torch.Tensor], spec: str, options: str, offset: int | None,
                   wanted: list[int]) -> list[torch.Tensor]:
    manifest = program(spec, options).manifest(inputs)
    results = []
    for number in wanted:
        info, given = manifest.inputs[number], inputs[number]
        result = (torch.empty(given.shape, dtype=info.dtype, device=given.device) if info.is_state
                  else manifest.empty(info, inputs, given))
        results.append(result.to(given.dtype))
    return results


@torch.library.register_fake("taylor_attention::step")
def _step_fake(inputs: list[torch.Tensor], states: list[torch.Tensor], spec: str, options: str = "",
               offset: int | None = None) -> list[torch.Tensor]:
    results: list[torch.Tensor] = _forward_fake([*inputs, *states], spec, options, offset, save=False)
    return results[:len(results) - len(states)]  # final states come last


@torch.library.register_fake("taylor_attention::decode")
def _decode_fake(inputs: list[torch.Tensor], cache: list[torch.Tensor], states: list[torch.Tensor], tokens: int, spec: str,
                 options: str = "") -> list[torch.Tensor]:
    return _step_fake(inputs, states, spec, options)
