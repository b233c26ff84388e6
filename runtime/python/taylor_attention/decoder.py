# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`ta.Decoder`: attention over a sequence that grows, over the operators `step` and `decode` (in C++:
runtime/torch/Decoder.h)."""
from __future__ import annotations

import copy
from typing import Any, Mapping, Sequence

import torch

from . import operators
from .calls import Specification, text_of
from .inputs import dense, tensors, torch_dtype, whole
from .keywords import checks_keywords
from .options import mask_of, setting_of

MOST_STEPS = 8  # up to so many tokens are stepped through; more are one call of the forward, or of extend
LEAST_ROOM = 64


def _token_axis(info: operators.Tensor) -> int:
    return next((place for place, axis in enumerate(info.axes) if axis in ("t", "u")), -1)


def _room_for(tokens: int) -> int:
    """A cache is seldom copied, and its rows begin where vectors may."""
    return max(2 * tokens + 15, LEAST_ROOM) // 16 * 16


class Decoder:
    """Attention over a sequence that grows. It keeps what earlier tokens left: states, or keys and values, which are
    rotated and otherwise prepared as they come. No gradients. Can be copied and pickled.

    `head_dim` and `value_dim` are the channels d and e, `dtype` is the storage type, `parameters` are the
    specification's, by name, `mask` is "causal", "bidirectional" or "" as written. Of a specification that is not
    causal a token sees those so far, and outputs of earlier tokens stay what they were.
    """

    @checks_keywords("ta.Decoder")
    def __init__(self, spec: Specification, *, head_dim: int, value_dim: int | None = None,
                 dtype: torch.dtype = torch.float32, parameters: Mapping[str, Any] | None = None,
                 mask: str = "") -> None:
        value_dim = head_dim if value_dim is None else value_dim
        for name, size in (("head_dim", head_dim), ("value_dim", value_dim)):
            if isinstance(size, bool) or not isinstance(size, int):
                raise TypeError(f"expected a whole number for {name}, but got {size!r}")
            if size < 1:
                raise ValueError(f"expected at least 1 for {name}, but got {size}")
        torch_dtype(dtype)
        self._arguments = (head_dim, value_dim, dtype)
        self._open(text_of(spec), setting_of(parameters), mask_of(mask))
        self._states: list[torch.Tensor] = []
        # Of prepared keys, by place in the manifest's cache, else of inputs that are kept; with room for more tokens.
        self._cache: dict[int, torch.Tensor] = {}
        self._tokens = 0
        self._sizes: dict[str, int] = {}  # of the axes b, h and g, which all tokens share
        self._device: torch.device | None = None  # of the tokens so far

    def _open(self, spec: str, parameters: str, mask: str) -> None:
        """With a function `step` of the kind that the compiler chooses; over all keys where it cannot compile that; or
        without where it has none."""
        head_dim, value_dim, dtype = self._arguments
        forward_only = "" if spec.endswith(".so") else "--forward-only"  # an artifact is compiled already
        for decode in ("--decode=auto", "--decode=cache", ""):
            options = " ".join(x for x in (parameters, decode, forward_only, mask) if x)
            try:
                self._manifest = operators.kernel(spec, options, dtype, head_dim, value_dim)
                break
            except RuntimeError:
                if not decode:  # what is wrong with the specification itself
                    raise
        self._options = options
        self._spec = operators.program(spec, options).identity
        infos = self._manifest.inputs
        self._given = [x for x in infos if not x.is_state]
        self._state_infos = [x for x in infos if x.is_state]
        step = self._manifest.functions.get("step")
        self._kind = "whole"
        if step is not None and "carried" in step:
            self._kind = "state"
        elif step is not None and self._reads_keys(step["tensors"]):
            self._kind = "cache"
        # What stands in self._cache.
        self._prepares = self._kind == "cache" and bool(self._manifest.cache)
        self._kept = self._manifest.cache if self._prepares else self._given

    def _reads_keys(self, slots: Sequence[str]) -> bool:
        """Who reads no key does not know how many there are (`size(u)`)."""
        axes = {f"{role}:{x.name}": x.axes for role, infos in (("input", self._manifest.inputs), (
            "output", self._manifest.outputs), ("cache", self._manifest.cache)) for x in infos}
        return any("u" in axes.get(slot, ()) for slot in slots)

    @checks_keywords("Decoder.extend")
    def extend(self, q: torch.Tensor, k: torch.Tensor | None = None, v: torch.Tensor | None = None,
               *more: torch.Tensor | None) -> torch.Tensor:
        """The first output of new tokens, queries and keys at once, after those so far: q [B, H, T, d], k [B, G, T, d],
        v [B, G, T, e] to [B, H, T, e]. An error leaves the tokens so far as they were."""
        inputs = tensors([q, k, v, *more])
        if torch.is_grad_enabled() and any(x.requires_grad for x in inputs):
            raise RuntimeError("unsupported gradient through a Decoder, which keeps no graph: call extend within "
                               "torch.no_grad(), or ta.attention to train")
        with torch.no_grad():
            return self._extend(inputs)

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_kept" not in state:
            raise RuntimeError("expected a Decoder of this version of taylor_attention, but got one that an earlier "
                               "one pickled: give a new Decoder the tokens again")
        self.__dict__.update(state)

    def _extend(self, inputs: list[torch.Tensor]) -> torch.Tensor:
        added, sizes = self._check(inputs)
        states = self._states or self._begin(inputs)
        if self._prepares:
            everything, cache = inputs, self._room(inputs, added)
        else:
            everything, cache = (inputs, self._cache) if self._kind == "state" else self._keep(inputs, added)
        made = sum(not x.is_state for x in self._manifest.outputs)
        output: torch.Tensor
        if self._prepares:
            output = operators.decode(inputs, [cache[x] for x in range(len(self._kept))], states, self._tokens, self._spec,
                                      self._options)[0]
        elif self._kind != "whole" and added <= MOST_STEPS:
            output = operators.step(everything, states, self._spec, self._options, None)[0]
        else:
            results = operators.forward([*everything, *states], self._spec, self._options, None, False)
            output, states = results[0], list(results[made:])
            axis = _token_axis(self._manifest.outputs[0])
            if self._kind == "whole" and axis >= 0:
                output = output.narrow(axis, self._tokens, added)
        self._states, self._cache, self._sizes, self._device = states, cache, sizes, inputs[0].device
        self._tokens += added
        return output

    def _begin(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """States before the first token: zeros, of the sizes that the kernel for these inputs has."""
        if not self._state_infos:
            return []
        manifest = operators.program(self._spec, self._options).manifest(inputs)
        return [manifest.empty(x, inputs).zero_() for x in manifest.inputs if x.is_state]

    def __copy__(self) -> Decoder:
        return copy.deepcopy(self)

    def _check(self, inputs: list[torch.Tensor]) -> tuple[int, dict[str, int]]:
        """The number of new tokens, and the sizes that all tokens share."""
        names = ", ".join(x.name for x in self._given)
        if len(inputs) != len(self._given):
            raise RuntimeError(f"taylor: expected {len(self._given)} inputs ({names}), but got {len(inputs)}")
        added, first, sizes = 0, "", dict(self._sizes)
        for info, given in zip(self._given, inputs):
            if self._device is not None and given.device != self._device:
                raise RuntimeError(f"taylor: expected device {self._device} of '{info.name}', as of the tokens so far, but "
                                   f"got {given.device}")
            dense(info.name, given)
            if given.dtype != info.dtype and info.kind != "parameter":
                raise RuntimeError(f"taylor: expected dtype {info.dtype} of '{info.name}', for which the decoder was made, "
                                   f"but got {given.dtype}")
            if given.dim() != len(info.axes):
                raise RuntimeError(f"taylor: expected rank {len(info.axes)} [{', '.join(info.axes)}] of '{info.name}', but "
                                   f"got rank {given.dim()}")
            for axis, size in zip(info.axes, given.shape):
                if axis in ("t", "u"):
                    if first and size != added:
                        raise RuntimeError(f"taylor: expected {added} new tokens of '{info.name}', as of '{first}', but got "
                                           f"{size}")
                    added, first = size, first or info.name
                elif axis in self._manifest.sizes:
                    if size != self._manifest.sizes[axis]:
                        raise RuntimeError(f"taylor: expected size {self._manifest.sizes[axis]} of axis {axis} of "
                                           f"'{info.name}', but got {size}")
                elif sizes.setdefault(axis, size) != size:
                    origin = "the tokens so far" if axis in self._sizes else "other inputs"
                    raise RuntimeError(f"taylor: expected size {sizes[axis]} of axis {axis} of '{info.name}', as of "
                                       f"{origin}, but got {size}")
        return added, sizes

    def _room(self, inputs: list[torch.Tensor], added: int) -> dict[int, torch.Tensor]:
        """What is kept of prepared keys, with room for new tokens."""
        kept, size = dict(self._cache), self._tokens + added
        for number, info in enumerate(self._kept):
            axis, cache = _token_axis(info), kept.get(number)
            if cache is not None and (axis < 0 or cache.shape[axis] >= size):
                continue
            shape = self._manifest.sizes_of(info, inputs)
            if axis < 0:
                kept[number] = inputs[0].new_zeros(shape, dtype=info.dtype)
                continue
            shape[axis] = _room_for(size)
            kept[number] = self._enlarged(cache, inputs[0].new_empty(shape, dtype=info.dtype), axis)
        return kept

    def _enlarged(self, cache: torch.Tensor | None, larger: torch.Tensor, axis: int) -> torch.Tensor:
        if cache is not None and self._tokens:
            larger.narrow(axis, 0, self._tokens).copy_(cache.narrow(axis, 0, self._tokens))
        return larger

    def _keep(self, inputs: list[torch.Tensor], added: int) -> tuple[list[torch.Tensor], dict[int, torch.Tensor]]:
        """The inputs with new tokens after those so far, where they are kept, and the memory that holds them."""
        everything, kept = [], dict(self._cache)
        for number, (info, given) in enumerate(zip(self._given, inputs)):
            axis, size = _token_axis(info), self._tokens + added
            if axis < 0 or (self._kind == "cache" and info.axes[axis] != "u"):
                everything.append(given)
                continue
            cache = kept.get(number)
            if cache is None or cache.shape[axis] < size:
                shape = list(given.shape)
                shape[axis] = _room_for(size)
                kept[number] = cache = self._enlarged(cache, given.new_empty(shape), axis)
            cache.narrow(axis, self._tokens, added).copy_(given)
            everything.append(cache.narrow(axis, 0, size))
        return everything, kept

    def tokens(self) -> int:
        """How many tokens there have been."""
        return self._tokens

    @checks_keywords("Decoder.gather")
    def gather(self, rows: Sequence[int]) -> Decoder:
        """A decoder whose batch has these rows of this one's, as a beam search picks them; with its own memory."""
        result = object.__new__(type(self))
        result.__dict__.update(self.__dict__)
        chosen = [whole(row, "a row") for row in rows]
        batch = self._sizes.get("b")
        for row in chosen:
            if batch is not None and not 0 <= row < batch:
                raise IndexError(f"expected rows from 0 to {batch - 1} of the {batch} of the batch, but got row {row}")
        picked = torch.tensor(chosen, dtype=torch.int64)

        def pick(info: operators.Tensor, tensor: torch.Tensor) -> torch.Tensor:
            return tensor.clone() if info.batch < 0 else tensor.index_select(info.batch, picked.to(tensor.device))

        result._states = [pick(info, x) for info, x in zip(self._state_infos, self._states)]
        result._cache = {number: pick(self._kept[number], x) for number, x in self._cache.items()}
        result._sizes = {axis: len(picked) if axis == "b" else size for axis, size in self._sizes.items()}
        return result
