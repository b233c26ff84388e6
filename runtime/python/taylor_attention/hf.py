# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Specifications in models of transformers. Imports torch and transformers.

`register` makes one an attention implementation, for models whose attention is a function of q, k and v; `replace`
puts modules with all that a specification asks for in the place of a model's attentions, and `load` loads such a model.
"""
from __future__ import annotations

import math
import re
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface

from . import operators, texts
from .calls import Specification, attention
from .keywords import checks_keywords
from .masks import WITHOUT_WINDOW, documents_of, mask_function, packed_of, refuse_others
from .replace import Replaced as Replaced, replace as replace
from .saved import PREFIX, load as load

_AXES = (("b", "h", "t", "d"), ("b", "g", "u", "d"), ("b", "g", "u", "e"))


@checks_keywords("ta.hf.register")
def register(name: str, spec: Specification | None = None, *, options: str = "", scaling: float | None = None,
             model_rotates: bool = True) -> str:
    """Makes a specification the attention implementation "taylor:NAME", which is returned.

        ta.hf.register("count", ta.hf.without_rope("softmax-count"))
        model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="taylor:count")

    `spec` is what `ta.attention` takes; without it, `name` is that of a specification that ships. It has the arguments
    q, k and v alone, and does not rotate them: models do that. `model_rotates=False` says that those of this name do
    not, as GPT-2, so the specification may. `options` are taylorc's: "--set order=4".

    The specification says the scale of its scores. A model that hands over another than 1 / sqrt(head_dim) is refused,
    unless `scaling` says that it is the one that the specification has.

    Padding, packed sequences, grouped heads and growing caches work as with SDPA. What else a model hands over (dropout,
    sliding windows, soft caps, sinks, biases, paged and static caches) is refused when the model is called.

    save_pretrained writes the name into config.json, and from_pretrained asks for it: register it first there too.
    """
    if not re.fullmatch(r"[\w.-]+", name.rpartition("/")[2]):
        raise ValueError(f"expected a name of letters, digits, '.', '-' and '_', but got {name!r}")
    implementation = PREFIX + name.rpartition("/")[2]
    entry = _Entry(implementation, name if spec is None else str(spec), options, scaling)
    if entry.rotates and model_rotates:
        raise ValueError(f"unsupported rotation in '{implementation}': models rotate queries and keys, and taylor.rope "
                         "would do it twice; register ta.hf.without_rope(spec), or use ta.hf.replace(model, spec); for "
                         "a model that does not rotate, as GPT-2, say model_rotates=False")
    AttentionInterface.register(implementation, entry)
    AttentionMaskInterface.register(implementation, mask_function(entry.mask))
    return implementation


def without_rope(spec: Specification) -> str:
    """A specification's text without its rotations of arguments, for models that have rotated queries and keys already.

    The base (theta) is the model's then. ValueError where something else than an argument is rotated, or in another way:
    the model's rotation does not stand for that.
    """
    program = operators.program(str(spec), "")
    return texts.without_rope(program.text, (info.name for info in program.inputs))


class _Entry:
    """An attention function of transformers over one specification."""

    def __init__(self, implementation: str, spec: str, options: str, scaling: float | None) -> None:
        self.name, self.options, self.scaling = implementation, options, scaling
        program = operators.program(spec, options)
        self.text, self.mask = program.text, program.signature.mask
        self.rotates, self.needs_earlier_queries = texts.rotates(self.text), texts.needs_earlier_queries(self.text)
        if tuple(x.axes for x in program.inputs) != _AXES or any(x.kind != "projection" for x in program.inputs):
            given = ", ".join(f"{x.name} [{', '.join(x.axes)}]" for x in program.inputs)
            raise ValueError("requires the arguments q [b, h, t, d], k [b, g, u, d] and v [b, g, u, e] and no others "
                             f"of '{implementation}', but got {given}: a model of transformers has no modules for "
                             "more; ta.hf.replace(model, spec) builds them")
        if len(program.signature.outputs) != 1:
            raise ValueError(f"unsupported specification with {len(program.signature.outputs)} results: an attention has "
                             "one")

    def __call__(self, module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
                 attention_mask: torch.Tensor | None, dropout: float = 0.0, scaling: float | None = None,
                 is_causal: bool | None = None, sliding_window: int | None = None,
                 cu_seq_lens_q: torch.Tensor | None = None, cu_seq_lens_k: torch.Tensor | None = None,
                 **more: Any) -> tuple[torch.Tensor, None]:
        """query [B, H, T, d], key [B, G, U, d], value [B, G, U, e] to [B, T, H, e]; the mask is what masks.py gave."""
        self._refuse(module, query, dropout, scaling)
        if sliding_window is not None and sliding_window < key.shape[2]:
            raise ValueError(f"unsupported sliding_window={sliding_window}: say it in the specification, visible=ta.t "
                             f"- ta.u < {sliding_window}, and {WITHOUT_WINDOW}")
        refuse_others(more, getattr(module, "config", None))
        if self.needs_earlier_queries and query.shape[2] != key.shape[2]:
            raise ValueError(f"unsupported cache: a query of '{self.name}' depends on earlier queries, which a model's cache does "
                             "not keep; pass use_cache=False, or use ta.hf.replace(model, spec)")
        causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
        if causal != (self.mask == "causal"):
            wanted = "causal" if causal else "bidirectional"
            raise ValueError(f"unsupported mask of the model, {wanted}: the specification is {self.mask}; register it with "
                             f'options="--mask={wanted}"')
        documents = documents_of(attention_mask, key.shape[0], key.shape[2])
        packed = packed_of(cu_seq_lens_q, cu_seq_lens_k, documents)
        output = attention(query, key, value, spec=self.text, options=self.options, documents=documents,
                           cu_seqlens=packed)
        return output.transpose(1, 2).contiguous(), None

    def _refuse(self, module: torch.nn.Module, query: torch.Tensor, dropout: float, scaling: float | None) -> None:
        config = getattr(module, "config", None)
        if dropout:
            raise ValueError(f"unsupported dropout of attention weights, {dropout}: set config.attention_dropout "
                             "(attn_pdrop, ..) = 0")
        if self.rotates and any(getattr(config, name, None) for name in ("rope_parameters", "rope_theta", "rope_scaling")):
            raise ValueError(f"unsupported rotation in '{self.name}': the model rotates queries and keys, and "
                             "taylor.rope would do it twice; register ta.hf.without_rope(spec), or use ta.hf.replace(model, spec)")
        expected = query.shape[-1] ** -0.5 if self.scaling is None else self.scaling
        if scaling is not None and not math.isclose(scaling, expected, rel_tol=1e-6):
            raise ValueError(f"unsupported scaling of scores, {scaling}: the specification's is {expected}; write the "
                             "model's in the specification (score=lambda s: c * s), and say so: "
                             f"ta.hf.register(.., scaling={scaling})")
