# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks of transformers as numbers of documents, which are what a kernel takes. Imports torch and transformers.

Shapes: B batch, T queries, U keys, the earlier ones of a cache among them.
"""
from __future__ import annotations

from typing import Any, Callable

import torch
from transformers.masking_utils import bidirectional_mask_function, causal_mask_function, sdpa_mask

_PAIRS = 2**24  # of queries and keys that are compared at a time

# Arguments that models hand to every attention, and that change nothing of it: positions are the model's rotation, and
# in packed sequences the mask's.
_WITHOUT_EFFECT = frozenset(("position_ids", "position_embeddings", "cache_position", "use_cache", "num_items_in_batch",
                             "output_hidden_states", "output_router_logits", "return_dict", "max_length_q", "max_length_k",
                             "logits_to_keep"))
_WEIGHTS = ("unsupported output_attentions: a kernel gives no weights of pairs; leave it out, and set "
            "config.output_attentions=False")

# A model's window that the specification says. Layers keep a copy of it, so it goes before they are built.
WITHOUT_WINDOW = ("load the model without its own, from_pretrained(folder, sliding_window=None, ..), and where its "
                  'config has layer_types, layer_types=["full_attention"] * layers; or use '
                  "ta.hf.replace(model, spec), which takes it away")

_PLAIN = {causal_mask_function: "causal", bidirectional_mask_function: "bidirectional"}


def mask_function(mask: str) -> Callable[..., torch.Tensor | None]:
    """What transformers calls once in each forward of a model whose attention has this mask.

    Gives documents, int32 [B, U], or None where all tokens belong to one. Padding before or after a text is a document
    of its own, so a text sees nothing of it. ValueError for any mask that documents and `mask` do not say.
    """
    def documents(batch_size: int, q_length: int, kv_length: int, q_offset: Any = 0, kv_offset: int = 0,
                  mask_function: Callable[..., Any] = causal_mask_function, attention_mask: torch.Tensor | None = None,
                  use_vmap: bool = False, device: Any = "cpu", **_: Any) -> torch.Tensor | None:
        _require_last(q_length, kv_length, q_offset, kv_offset)
        numbers = _of_padding(attention_mask, batch_size, kv_length)
        if mask_function in _PLAIN:
            if _PLAIN[mask_function] != mask:
                raise ValueError(f"unsupported mask of the model, {_PLAIN[mask_function]}: the specification is {mask}; "
                                 f'register it with options="--mask={_PLAIN[mask_function]}"')
            return None if numbers is None else _unless_one(numbers)
        if torch.compiler.is_compiling():
            raise ValueError("unsupported mask under torch.compile: whether it says documents alone is seen in its "
                             "values; pass attention_mask, or call the model without torch.compile")
        if numbers is None:
            numbers = torch.zeros(batch_size, kv_length, dtype=torch.int32, device=device)
        if q_length == kv_length:
            numbers = numbers + _packed(mask_function, batch_size, kv_length, use_vmap, device)
        visible = None if attention_mask is None else attention_mask.bool()
        _verify(numbers, visible, mask, q_length, mask_function, use_vmap)
        return _unless_one(numbers)

    return documents


def _require_last(queries: int, keys: int, q_offset: Any, kv_offset: int) -> None:
    if int(q_offset) + queries != kv_offset + keys:
        raise ValueError("unsupported cache with room for keys that are not there yet (StaticCache): leave "
                         "cache_implementation out, or pass a DynamicCache")
    if kv_offset:
        raise ValueError("unsupported cache that forgets keys (sliding window): the specification sees all; say the "
                         f"window in the specification, visible=ta.t - ta.u < window, and {WITHOUT_WINDOW}")


def _of_padding(visible: torch.Tensor | None, batch: int, keys: int) -> torch.Tensor | None:
    """Numbers that rise where padding begins and ends."""
    if visible is None:
        return None
    if list(visible.shape) != [batch, keys]:
        raise ValueError(f"expected attention_mask of shape {[batch, keys]}, but got {list(visible.shape)}")
    visible = visible.bool()
    before = torch.nn.functional.pad(visible[:, :-1], (1, 0))
    if not torch.compiler.is_compiling() and ((visible & ~before).sum(1) > 1).any():
        raise ValueError("unsupported attention_mask: padding between tokens of a text; pad before it or after it")
    changes = (visible[:, 1:] != visible[:, :-1]).int()
    return torch.nn.functional.pad(changes, (1, 0)).cumsum(1, dtype=torch.int32)


def _unless_one(documents: torch.Tensor) -> torch.Tensor | None:
    if torch.compiler.is_compiling():
        return documents
    return None if (documents == documents[:, :1]).all() else documents


def _packed(function: Callable[..., Any], batch: int, tokens: int, use_vmap: bool, device: Any) -> torch.Tensor:
    """Numbers that rise where a token does not see the one before it."""
    seen = [torch.ones(batch, 1, dtype=torch.bool, device=device)]
    for begin in range(1, tokens, 64):
        end = min(begin + 64, tokens)
        mask = _mask(function, batch, begin, end, begin - 1, end - 1, use_vmap, device)
        seen.append(mask.diagonal(dim1=-2, dim2=-1))
    return (~torch.cat(seen, 1)).int().cumsum(1, dtype=torch.int32)


def _mask(function: Callable[..., Any], batch: int, begin: int, end: int, first: int, last: int, use_vmap: bool,
          device: Any) -> torch.Tensor:
    """[B, queries from begin, keys from first]: what transformers' SDPA would get."""
    mask: Any = sdpa_mask(batch_size=batch, q_length=end - begin, kv_length=last - first, q_offset=begin, kv_offset=first,
                     mask_function=function, allow_is_causal_skip=False, use_vmap=use_vmap, device=device)
    if mask.shape[1] != 1:
        raise ValueError("unsupported mask that differs between heads")
    result: torch.Tensor = mask[:, 0].expand(batch, -1, -1)
    return result


def _verify(documents: torch.Tensor, visible: torch.Tensor | None, mask: str, queries: int,
            function: Callable[..., Any], use_vmap: bool) -> None:
    """Of tokens that are no padding, documents and the specification's mask say what the model's mask does."""
    batch, keys = documents.shape
    device = documents.device
    places = torch.arange(keys, device=device)
    rows = max(1, _PAIRS // max(1, batch * keys))
    for begin in range(keys - queries, keys, rows):
        end = min(begin + rows, keys)
        ours = documents[:, begin:end, None] == documents[:, None]
        if mask == "causal":
            ours = ours & (places[None, :] <= places[begin:end, None])
        theirs = _mask(function, batch, begin, end, 0, keys, use_vmap, device)
        differs = ours != theirs
        if visible is not None:
            differs = (ours != theirs & visible[:, None]) & visible[:, begin:end, None]
        if differs.any():
            raise ValueError(f"unsupported mask of the model: it is not the specification's ({mask}) over whole "
                             "documents; a sliding window, chunks or a prefix are said in the specification alone "
                             f"(visible=..): where it says the model's sliding window, {WITHOUT_WINDOW}")


def refuse_others(given: dict[str, Any], config: Any) -> None:
    """Arguments of an attention that no specification sees are refused, unless they change nothing."""
    if given.pop("output_attentions", False) or getattr(config, "output_attentions", False):
        raise ValueError(_WEIGHTS)
    for name, value in given.items():
        if value is not None and value is not False and name not in _WITHOUT_EFFECT:
            raise ValueError(f"unsupported argument {name} of the model's attention: a specification knows nothing of it; say it in "
                             'the specification, or set attn_implementation="sdpa"')


def documents_of(mask: torch.Tensor | None, batch: int, keys: int) -> torch.Tensor | None:
    """What `mask_function` gave; any other mask is refused."""
    if mask is not None and (mask.dtype != torch.int32 or list(mask.shape) != [batch, keys]):
        raise ValueError(f"unsupported attention_mask of shape {list(mask.shape)} and dtype {mask.dtype}: give that of "
                         "tokens, [batch, tokens], 0 for padding; all else is said in the specification")
    return mask


def packed_of(queries: torch.Tensor | None, keys: torch.Tensor | None,
              documents: torch.Tensor | None) -> torch.Tensor | None:
    """cu_seqlens of a packed batch, whose queries are its keys; documents say the same where there are any."""
    if queries is None and keys is None:
        return None
    if queries is None or keys is None:
        raise ValueError("expected cu_seq_lens_q and cu_seq_lens_k, but got one of them")
    if not torch.compiler.is_compiling() and not torch.equal(queries, keys):
        raise ValueError("unsupported cu_seq_lens_q that are not cu_seq_lens_k: a text's queries are its keys")
    return keys if documents is None else None
