# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`ta.hf.replace`: attentions of a model of transformers become layers of a specification.

Shapes: B batch, T tokens of a call, U those of earlier calls and of this one.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedConfig, PreTrainedModel

from .calls import Specification, attention
from .keywords import checks_keywords
from .masks import documents_of, mask_function, packed_of, refuse_others
from .names import REPLACED
from .nn import Attention
from .saved import remember
from .texts import needs_earlier_queries

_SLIDING = "sliding_attention"
_LONGER_THAN_TEXTS = 2**30


@dataclass
class Replaced:
    """Names of a model's parameters after `ta.hf.replace`: those that kept their values, those that are new and have
    initial values, and those of the old attentions that are gone; and what of the model's config has no effect now."""

    kept: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


class ReplacedAttention(Attention):
    """A layer in the place of a model's `self_attn`: called as that is, with its cache.

    The cache keeps, of each token, the projections over u as its key and those over t as its value, so all that
    transformers does with caches (beams, cropping, padding) does what it should.
    """

    is_causal: bool

    def __init__(self, spec: Specification, config: Any, layer: int, head_dim: int, **arguments: Any) -> None:
        heads = config.num_attention_heads
        super().__init__(spec, config.hidden_size, heads, getattr(config, "num_key_value_heads", None) or heads,
                         head_dim, layers=config.num_hidden_layers,
                         deviation=getattr(config, "initializer_range", 0.02), **arguments)
        self.config, self.layer_idx, self.head_dim = config, layer, head_dim
        self._by_row = not needs_earlier_queries(self.specification)

    def forward(self, hidden_states: torch.Tensor, attention_mask: torch.Tensor | None = None,  # type: ignore[override]
                past_key_values: Any = None, cu_seq_lens_q: torch.Tensor | None = None,
                cu_seq_lens_k: torch.Tensor | None = None, **more: Any) -> tuple[torch.Tensor, None]:
        refuse_others(more, self.config)
        inputs, tokens, seen = self.project(hidden_states), hidden_states.shape[1], 0
        if past_key_values is not None:
            seen = past_key_values.get_seq_length(self.layer_idx)
            inputs = self._extend(inputs, past_key_values, seen, tokens)
        documents = documents_of(attention_mask, hidden_states.shape[0], seen + tokens)
        packed = packed_of(cu_seq_lens_q, cu_seq_lens_k, documents)
        output = attention(*inputs, spec=self.specification, options=self.options, documents=documents,
                           cu_seqlens=packed)
        axis = next(place for place, axis in enumerate(self._output.axes) if axis in "tu")
        return self.merge(output.narrow(axis, output.shape[axis] - tokens, tokens)), None

    def _extend(self, inputs: list[torch.Tensor], cache: Any, seen: int, tokens: int) -> list[torch.Tensor]:
        """The inputs with those of earlier tokens before them; where they are needed."""
        flat: dict[str, list[torch.Tensor]] = {"u": [], "t": []}
        for info, given in zip(self._inputs, inputs):
            if info.kind == "projection":
                moved = given.movedim([info.batch, _token(info)], [0, 1]).flatten(2)
                flat["u" if "u" in info.axes else "t"].append(moved)
        keys, values = cache.update(*(torch.cat(flat[axis], -1)[:, None] for axis in "ut"), self.layer_idx)
        if keys.shape[-2] != seen + tokens:
            raise ValueError("unsupported cache that has room for more tokens, or forgets some: leave "
                             "cache_implementation out, or pass a DynamicCache")
        if self._by_row:
            values = values[:, :, seen:]
        results, places = [], {"u": 0, "t": 0}
        for info, given in zip(self._inputs, inputs):
            if info.kind != "projection":
                results.append(given)
                continue
            axis = "u" if "u" in info.axes else "t"
            shape = [size for place, size in enumerate(given.shape) if place not in (info.batch, _token(info))]
            width = torch.Size(shape).numel()
            part = (keys if axis == "u" else values)[:, 0, :, places[axis]:places[axis] + width]
            places[axis] += width
            results.append(part.unflatten(-1, shape).movedim([0, 1], [info.batch, _token(info)]))
        return results


def _token(info: Any) -> int:
    return next(place for place, axis in enumerate(info.axes) if axis in ("t", "u"))


@checks_keywords("ta.hf.replace")
def replace(model: PreTrainedModel, spec: Specification, *, value_dim: int | None = None,
            parameters: dict[str, Any] | None = None, mask: str = "") -> Replaced:
    """Puts a layer of the specification in the place of each attention of a model, which changes; any specification
    that `ta.nn.Attention` takes.

        report = ta.hf.replace(model, "decay-gates")
        print(report.new)

    An attention is a module with q_proj, k_proj, v_proj, o_proj and layer_idx, as Llama's. Weights of those names keep
    their values where shapes agree; others get initial values, as `ta.nn.Attention` draws them (`deviation` is
    config.initializer_range). The report says which parameters were kept, are new, and are gone: biases and norms that
    the specification does not have.

    The specification says all of the attention: the model's own rotation, scale, dropout and sliding window are gone
    (the report's `ignored` names the window). generate() works with transformers' growing cache.

    The model's config keeps what was replaced. `ta.hf.load(folder)` loads a model that was saved so; from_pretrained
    refuses it, as it would build the model's own attention.
    """
    if not isinstance(model, torch.nn.Module) or not hasattr(model, "set_attn_implementation"):
        raise TypeError(f"expected a model of transformers, but got {_shown(model)}")
    found = [(name, module) for name, module in model.named_modules()
             if all(hasattr(module, f"{part}_proj") for part in "qkvo") and hasattr(module, "layer_idx")]
    if not found:
        raise ValueError("expected attentions with q_proj, k_proj, v_proj, o_proj and layer_idx, as Llama's, but "
                         f"{type(model).__name__} has none; write the module with ta.nn.Attention")
    report, made = Replaced(), []
    for name, old in found:
        weight, config = old.q_proj.weight, getattr(old, "config", model.config)
        head_dim = getattr(old, "head_dim", None) or weight.shape[0] // config.num_attention_heads
        new = ReplacedAttention(spec, config, old.layer_idx, head_dim, value_dim=value_dim, parameters=parameters,
                                mask=mask, device=weight.device, dtype=weight.dtype)
        made.append((name, old, new))
    for name, old, new in made:
        _keep(name, old, new, report)
        new.train(old.training)
        parent, _, child = name.rpartition(".")
        setattr(model.get_submodule(parent), child, new)
    model.set_attn_implementation(_IMPLEMENTATIONS[made[0][2].mask])
    report.ignored += _without_window(model, [model.config, *(new.config for _, _, new in made)])
    remember(model.config, made[0][2].specification, value_dim, parameters, mask)
    return report


def _shown(given: Any) -> str:
    if isinstance(given, str):
        return f"{given!r}; from_pretrained of a class of transformers builds one"
    if isinstance(given, PreTrainedConfig):
        return f"a config, {type(given).__name__}; AutoModelForCausalLM.from_config(config) builds one"
    return f"'{type(given).__name__}'"


def _without_window(model: PreTrainedModel, configs: list[Any]) -> list[str]:
    """The model shows every key to every layer, and its cache forgets none; gives what it did before."""
    ignored = []
    for config in {id(one): one for one in configs}.values():
        window, layers = getattr(config, "sliding_window", None), getattr(config, "layer_types", None)
        if window is None or (layers and _SLIDING not in layers):
            continue
        ignored.append(f"config.sliding_window={window}")
        sliding: list[Any] = [one for one in model.modules() if getattr(one, "has_sliding_layers", False)]
        if layers:
            config.layer_types = ["full_attention" if one == _SLIDING else one for one in layers]
        for one in sliding:
            one.has_sliding_layers = False
        # Models as Gemma 2 ask for a mask with a window in any case: one that is longer than any text.
        config.sliding_window = None if sliding or not layers else _LONGER_THAN_TEXTS
    return ignored


@torch.no_grad()
def _keep(name: str, old: torch.nn.Module, new: Attention, report: Replaced) -> None:
    before, after = dict(old.named_parameters()), dict(new.named_parameters())
    for part, parameter in after.items():
        source = before.get(part)
        if source is not None and source.shape == parameter.shape:
            parameter.copy_(source)
            parameter.requires_grad_(source.requires_grad)
            report.kept.append(f"{name}.{part}")
        else:
            report.new.append(f"{name}.{part}")
    report.gone += [f"{name}.{part}" for part in before if part not in after]


def _refuse(module: torch.nn.Module, *_: Any, **__: Any) -> Any:
    raise ValueError(f"expected ta.hf.replace to have replaced every attention, but {type(module).__name__} asks for a "
                     "function: it has no q_proj, k_proj, v_proj and o_proj, or it is of another model with the config "
                     "of a replaced one; call ta.hf.replace(model, spec) on that model too")


# Registered when this module is imported, as unpickling a replaced model does.
_IMPLEMENTATIONS = {mask: REPLACED + mask for mask in ("causal", "bidirectional")}
for _mask, _name in _IMPLEMENTATIONS.items():
    AttentionInterface.register(_name, _refuse)
    AttentionMaskInterface.register(_name, mask_function(_mask))
