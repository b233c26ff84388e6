# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Llama whose attention is a Taylor specification, for `transformers`. taylor-train puts this file into its checkpoints:

    model = AutoModelForCausalLM.from_pretrained("runs/norm/checkpoints/step-000320", trust_remote_code=True)

The attention is that of Python's package taylor_attention, which compiles the specification at its first call. Where it is not installed, it is taken
from the source tree whose build folder has the compiler ($TAYLORC, or `taylorc` in the PATH) or $TAYLOR_LIB. Modules follow from the configuration's
`taylor.inputs`, as taylor-train builds them. generate() keeps what earlier tokens left, states or keys and values, by the package's Decoder, for texts
that are padded before or after them too.

Shapes: B batch, T tokens, C hidden_size, V vocab_size.
"""
import contextlib
import importlib
import math
import os
import pathlib
import shutil
import sys

import torch
import torch.nn.functional as F
from torch import nn
from transformers import GenerationMixin, PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast
from transformers.utils import cached_file

from .configuration_taylor import TaylorConfig


_package = None  # taylor_attention


def load_package():
    """Imports taylor_attention, with its library: what is missing is told now."""
    global _package
    try:
        package = importlib.import_module("taylor_attention")
    except ModuleNotFoundError as error:
        if error.name != "taylor_attention":
            raise
        built = [file for file in (os.environ.get("TAYLOR_LIB"), os.environ.get("TAYLORC"), shutil.which("taylorc")) if file]
        trees = [parent for file in built for parent in pathlib.Path(file).resolve().parents if (parent / "runtime/python/taylor_attention").is_dir()]
        if not trees:
            raise ImportError("requires the package taylor_attention: install its wheel, or put the folder runtime/python of Taylor's source into PYTHONPATH") from None
        sys.path.append(str(trees[0] / "runtime/python"))
        package = importlib.import_module("taylor_attention")
    package.attention, package.Decoder  # noqa: B018 -- imports torch's part
    _package = package


def features(axes):
    """The axes that are neither the batch nor tokens: those of one token's features."""
    return [axis for axis in axes if axis not in ("b", "t", "u")]


def places(axes):
    """The axes as places in [b, token, the other axes]; for a permute from there."""
    return [0 if axis == "b" else 1 if axis in ("t", "u") else 2 + features(axes).index(axis) for axis in axes]


def visible_of(attention_mask, tokens, seen):
    """attention_mask [B, seen + T] as bool, whether each is a token of the text; None where there is none."""
    if attention_mask is None:
        return None
    expected = [tokens.shape[0], seen + tokens.shape[1]]
    if list(attention_mask.shape) != expected:
        raise ValueError(f"expected attention_mask of shape {expected}, but got {list(attention_mask.shape)}")
    return attention_mask != 0


def documents_of(visible, position_ids, tokens):
    """Which text each token belongs to, ascending, [B, T] int32; None where each row is one text from its first token on. Padding in front of a text
    is a text of its own, which those behind do not see and do not count; behind a text, causality hides it. Where position_ids begin again
    from 0, so does a text (packed sequences)."""
    rows, columns = tokens.shape[:2]
    if visible is None:
        visible = torch.ones(rows, columns, dtype=torch.bool, device=tokens.device)
    begun = visible.int().cummax(dim=1).values
    if ((begun - visible.int()).diff(dim=1) < 0).any():
        raise ValueError("unsupported attention_mask: padding between tokens of a text; pad in front of it or behind it")
    documents = begun
    if position_ids is not None:
        if list(position_ids.shape) not in ([rows, columns], [1, columns]):
            raise ValueError(f"expected position_ids of shape {[rows, columns]}, but got {list(position_ids.shape)}")
        positions = position_ids.to(tokens.device).expand(rows, columns)
        first = visible & ~F.pad(visible[:, :-1], (1, 0))
        goes_on = positions == F.pad(positions[:, :-1], (1, 0)) + 1
        begins = positions == 0
        if (visible & ~begins & (first | ~goes_on)).any():
            raise ValueError("unsupported position_ids: those of a text count from 0, one by one, and begin again from 0 where the next text does")
        documents = begun + (visible & begins & ~first).int().cumsum(dim=1, dtype=torch.int32)
    return None if (documents == documents[:, :1]).all() else documents.to(torch.int32)


def check_positions(position_ids, before, visible, tokens, seen):
    """With a cache a row is one text: its tokens are numbered from 0, those of earlier calls counted in and padding not."""
    rows, columns = tokens.shape[:2]
    if list(position_ids.shape) not in ([rows, columns], [1, columns]):
        raise ValueError(f"expected position_ids of shape {[rows, columns]}, but got {list(position_ids.shape)}")
    if visible is None:
        earlier = torch.ones(rows, seen, dtype=torch.bool, device=tokens.device) if before is None else before
        visible = torch.cat([earlier, torch.ones(rows, columns, dtype=torch.bool, device=tokens.device)], dim=1)
    expected = (visible.int().cumsum(dim=1) - 1)[:, seen:]
    wrong = visible[:, seen:] & (position_ids.to(tokens.device).expand(rows, columns) != expected)
    if wrong.any():
        raise ValueError("unsupported position_ids with use_cache: a row is one text there, whose tokens are numbered from 0; pass use_cache=False "
                         "for packed texts, or leave position_ids out")


def refuse_unknown(arguments):
    """What this model does nothing about is not passed over."""
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"unsupported argument {name}: TaylorForCausalLM does not know it; leave it out" +
                             (" and pass position_ids that begin again with each text" if name.startswith(("cu_seq_lens", "max_length_", "seq_idx")) else ""))


def gathered(decoders, places):
    """Those of these rows alone, each with a memory of its own."""
    return [None if decoder is None else decoder.gather(places) for decoder in decoders]


class TaylorCache:
    """What the tokens of a batch left in each layer: of rows that have seen equally many tokens, one decoder, which keeps states, or keys and
    values; None before the first token. Padding is no token: a row has seen those of its text alone, wherever that is padded."""

    is_compileable = False

    def __init__(self, layers):
        self.layers = layers
        self.groups = None  # [(rows of the batch, a decoder or None for each layer)]
        self.seen = 0  # columns, padding included
        self.visible = None  # [B, seen]; None where all are
        self.is_torn = False  # some layers have seen tokens that others have not

    def get_seq_length(self, layer=0):
        return self.seen

    def begin(self, visible, tokens):
        """Notes T more columns of the rows, of which `visible` [B, seen + T] are tokens (None: all). Returns the calls that they make:
        [(rows, first column, end, a decoder or None for each layer)]; the model puts decoders where there is None."""
        if self.is_torn:
            raise ValueError("unsupported past_key_values of a call that failed half way: some layers have its tokens, and others have not; begin anew, without")
        rows, columns = tokens.shape[:2]
        if self.groups is not None and sum(len(group) for group, _ in self.groups) != rows:
            raise ValueError(f"expected past_key_values of {rows} texts, but got those of {sum(len(group) for group, _ in self.groups)}")
        if visible is None:
            whole = torch.ones(rows, self.seen, dtype=torch.bool, device=tokens.device) if self.visible is None else self.visible
            new = torch.ones(rows, columns, dtype=torch.bool, device=tokens.device)
        else:
            whole, new = visible[:, :self.seen], visible[:, self.seen:]
            before = torch.ones_like(whole) if self.visible is None else self.visible
            if not whole.equal(before):
                raise ValueError("expected attention_mask to be that of past_key_values for the tokens that these have seen, but it is another")
        counts = new.sum(dim=1)
        firsts = torch.where(counts > 0, new.int().argmax(dim=1), 0)
        if ((new.int().diff(dim=1) != 0).sum(dim=1) > (counts > 0).int() * ((firsts > 0).int() + (firsts + counts < columns).int())).any():
            raise ValueError("unsupported attention_mask: padding between tokens of a text; pad in front of it or behind it")
        spans = list(zip(firsts.tolist(), (firsts + counts).tolist()))
        if self.groups is None:
            self.groups = [(list(range(rows)), [None] * self.layers)]
        groups, calls = [], []
        for members, decoders in self.groups:
            by_span = {}
            for row in members:
                by_span.setdefault(spans[row], []).append(row)
            for (first, end), some in by_span.items():
                mine = decoders if len(some) == len(members) else gathered(decoders, [members.index(row) for row in some])
                groups.append((some, mine))
                if end > first:
                    calls.append((some, first, end, mine))
        self.is_torn = True  # until the last layer is done
        self.groups = groups
        self.seen += columns
        self.visible = torch.cat([whole, new], dim=1)
        return calls

    def reorder_cache(self, rows):
        """Sequences of the batch in another order, some of them more than once: those that a beam search goes on with."""
        rows = rows.tolist()
        groups = []
        for members, decoders in self.groups:
            chosen = [(new, members.index(old)) for new, old in enumerate(rows) if old in members]
            if chosen:
                groups.append(([new for new, _ in chosen], gathered(decoders, [place for _, place in chosen])))
        self.groups = groups
        self.visible = self.visible[torch.tensor(rows, device=self.visible.device)]


class TaylorRMSNorm(nn.Module):
    def __init__(self, size, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, x):
        return F.rms_norm(x, self.weight.shape, self.weight, self.epsilon)


class TaylorMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class TaylorAttention(nn.Module):
    """The specification, with a module for each of its arguments: `x_proj` where %x is a projection of the hidden state, `x` where it is learned."""

    def __init__(self, config):
        super().__init__()
        taylor = config.taylor
        if not taylor.get("inputs"):
            raise ValueError("requires 'taylor' in the configuration: it says which attention the model has; taylor-train writes it")
        self.inputs = taylor["inputs"]
        self.output_axes = taylor["output"]
        self.sizes = taylor["sizes"]
        self.shapes = {array["name"]: [taylor["sizes"][axis] for axis in features(array["axes"])] for array in self.inputs}
        for array in self.inputs:
            name, source = array["name"], array["source"]
            if source["kind"] == "projection":
                setattr(self, f"{name}_proj", nn.Linear(config.hidden_size, math.prod(self.shapes[name]), bias=source["bias"]))
            else:
                self.register_parameter(name, nn.Parameter(torch.empty(self.shapes[name])))
        self.o_proj = nn.Linear(math.prod(taylor["sizes"][axis] for axis in features(self.output_axes)), config.hidden_size, bias=False)
        self.specification = taylor.get("text") or cached_file(config.name_or_path, taylor["specification"])
        self.settings = {name: f"{value:.17g}" for name, value in taylor["parameters"].items()}
        self.mask, self.head_dim, self.value_dim = taylor["mask"], config.head_dim, taylor["value_dim"]
        self.options = " ".join([f"--set {name}={value}" for name, value in self.settings.items()] + ([f"--mask={self.mask}"] if self.mask else []))

    def extend(self, inputs, calls, layer):
        """The output for new tokens, after those that the decoders of the calls have; 0 for padding."""
        dtype = next(y.dtype for y, array in zip(inputs, self.inputs) if array["source"]["kind"] == "projection")
        for *_, decoders in calls:
            decoders[layer] = decoders[layer] or _package.Decoder(self.specification, head_dim=self.head_dim, value_dim=self.value_dim, dtype=dtype,
                                                                  parameters=self.settings, mask=self.mask)
        inputs = [y.detach() for y in inputs]
        batch, token = ([places(array["axes"]).index(i) if array["source"]["kind"] == "projection" else None for array in self.inputs] for i in (0, 1))
        shape = {b: (y.shape[b], y.shape[t]) for y, b, t in zip(inputs, batch, token) if b is not None}
        rows, columns = next(iter(shape.values()))
        if len(calls) == 1 and calls[0][:3] == (list(range(rows)), 0, columns):
            return calls[0][3][layer].extend(*inputs)
        output = None
        for some, first, end, decoders in calls:
            index = torch.tensor(some, device=inputs[0].device)
            share = [y if b is None else y.index_select(b, index).narrow(t, first, end - first) for y, b, t in zip(inputs, batch, token)]
            part = decoders[layer].extend(*share)
            b, t = (places(self.output_axes).index(i) for i in (0, 1))
            if output is None:
                sizes = list(part.shape)
                sizes[b], sizes[t] = rows, columns
                output = part.new_zeros(sizes)
            output.narrow(t, first, end - first).index_copy_(b, index, part)
        if output is None:  # padding alone
            sizes = {"b": rows, "t": columns, "u": columns}
            output = inputs[0].new_zeros([sizes.get(axis, self.sizes.get(axis)) for axis in self.output_axes])
        return output

    def forward(self, x, documents=None, cache=None, calls=(), layer=0):
        if _package is None:  # a model that was pickled by another process
            load_package()
        inputs = []
        for array in self.inputs:
            name = array["name"]
            if array["source"]["kind"] == "projection":
                y = getattr(self, f"{name}_proj")(x)
                inputs.append(y.view(*x.shape[:2], *self.shapes[name]).permute(places(array["axes"])))
            else:
                inputs.append(getattr(self, name))
        if cache is not None:
            output = self.extend(inputs, calls, layer)
        else:
            output = _package.attention(*inputs, spec=self.specification, options=self.options, documents=documents)
        order = places(self.output_axes)
        return self.o_proj(output.permute([order.index(i) for i in range(len(order))]).flatten(2))


class TaylorDecoderLayer(GradientCheckpointingLayer):
    def __init__(self, config):
        super().__init__()
        self.self_attn = TaylorAttention(config)
        self.mlp = TaylorMLP(config)
        self.input_layernorm = TaylorRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = TaylorRMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, x, documents=None, cache=None, calls=(), layer=0):
        x = x + self.self_attn(self.input_layernorm(x), documents, cache, calls, layer)
        return x + self.mlp(self.post_attention_layernorm(x))


class TaylorPreTrainedModel(PreTrainedModel):
    config_class = TaylorConfig
    base_model_prefix = "model"
    _no_split_modules = ["TaylorDecoderLayer"]
    supports_gradient_checkpointing = True

    def _init_weights(self, module):
        # torch.nn.init's functions are those that transformers keeps from touching what was loaded.
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, 0.0, self.config.initializer_range)
            if getattr(module, "bias", None) is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, TaylorRMSNorm):
            nn.init.ones_(module.weight)
        elif isinstance(module, TaylorAttention):
            for array in module.inputs:
                if array["source"]["kind"] != "projection":
                    self._init_learned(getattr(module, array["name"]), array["source"]["initial"])

    @staticmethod
    def _init_learned(tensor, initial):
        kind = initial["kind"]
        if kind == "uniform":
            nn.init.uniform_(tensor, initial["low"], initial["high"])
        elif kind == "normal":
            nn.init.normal_(tensor, initial["mean"], initial["deviation"])
        else:
            nn.init.constant_(tensor, {"zeros": 0.0, "ones": 1.0}.get(kind, initial.get("value")))

    def _precision(self, x):
        """Products as in training: in bfloat16, of float32 weights, where the model was trained so."""
        if self.config.taylor.get("precision") == "bf16" and x.dtype == torch.float32:
            return torch.autocast(x.device.type, torch.bfloat16)
        return contextlib.nullcontext()


class TaylorModel(TaylorPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        load_package()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(TaylorDecoderLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = TaylorRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.gradient_checkpointing = False
        self.post_init()

    def get_input_embeddings(self):
        return self.embed_tokens

    def set_input_embeddings(self, value):
        self.embed_tokens = value

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, past_key_values=None, inputs_embeds=None, use_cache=None,
                output_hidden_states=None, output_attentions=None, cache_position=None, **more):
        """input_ids [B, T] or inputs_embeds [B, T, C] -> last_hidden_state [B, T, C], after the last norm. With use_cache also past_key_values, a
        TaylorCache; T are then the tokens behind those that the one given has seen, and nothing has a gradient. attention_mask is 0 for padding, in
        front of a text or behind it; position_ids that begin again from 0 begin another text, without a cache."""
        refuse_unknown(more)
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("expected input_ids or inputs_embeds, but got " + ("neither" if input_ids is None else "both"))
        if self.config.output_attentions if output_attentions is None else output_attentions:
            raise ValueError("unsupported output_attentions: a kernel gives no weights of pairs; pass output_attentions=False")
        x = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds
        cache = None
        if use_cache:
            cache = TaylorCache(len(self.layers)) if past_key_values is None else past_key_values
            if not isinstance(cache, TaylorCache):
                raise ValueError(f"expected past_key_values that this model has given, a TaylorCache, but got {type(cache).__name__}")
        elif past_key_values is not None:
            raise ValueError("expected use_cache with past_key_values: its tokens are not seen otherwise")
        seen = 0 if cache is None else cache.get_seq_length()
        if cache_position is not None and cache_position.tolist() != list(range(seen, seen + x.shape[1])):
            raise ValueError(f"expected cache_position to be the columns from {seen} on, which are next, but got {cache_position.tolist()}")
        visible = visible_of(attention_mask, x, seen)
        documents, calls = None, ()
        if cache is None:
            documents = documents_of(visible, position_ids, x)
        else:
            if position_ids is not None:
                check_positions(position_ids, cache.visible, visible, x, seen)
            calls = cache.begin(visible, x)
        hidden = [] if (self.config.output_hidden_states if output_hidden_states is None else output_hidden_states) else None
        with self._precision(x), torch.set_grad_enabled(torch.is_grad_enabled() and cache is None):
            for number, layer in enumerate(self.layers):
                if hidden is not None:
                    hidden.append(x)
                x = layer(x, documents, cache, calls, number)
            x = self.norm(x)
        if cache is not None:
            cache.is_torn = False
        if hidden is not None:
            hidden = tuple(hidden + [x])
        return BaseModelOutputWithPast(last_hidden_state=x, past_key_values=cache, hidden_states=hidden)


class TaylorForCausalLM(TaylorPreTrainedModel, GenerationMixin):
    def __init__(self, config):
        super().__init__(config)
        self.model = TaylorModel(config)
        self.vocab_size = config.vocab_size
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_output_embeddings(self):
        return self.lm_head

    def set_output_embeddings(self, value):
        self.lm_head = value

    @classmethod
    def _supports_default_dynamic_cache(cls):
        return False  # a TaylorCache, which forward() makes

    def prepare_inputs_for_generation(self, input_ids, past_key_values=None, attention_mask=None, inputs_embeds=None, use_cache=None, **more):
        use_cache = bool(use_cache)
        seen = past_key_values.get_seq_length() if past_key_values is not None else 0
        inputs = {"input_ids": input_ids[:, seen:]}
        if inputs_embeds is not None and seen == 0:
            inputs = {"inputs_embeds": inputs_embeds}
            if input_ids.shape[1]:  # without a cache: what was made is behind the embeddings given
                made = self.get_input_embeddings()(input_ids)
                inputs = {"inputs_embeds": torch.cat([inputs_embeds, made], dim=1)}
        elif inputs_embeds is not None:
            inputs = {"input_ids": input_ids[:, seen - inputs_embeds.shape[1]:]}
        return inputs | {"attention_mask": attention_mask, "past_key_values": past_key_values, "use_cache": use_cache,
                         "output_hidden_states": more.get("output_hidden_states"), "output_attentions": more.get("output_attentions")}

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, past_key_values=None, inputs_embeds=None, labels=None, use_cache=None,
                output_hidden_states=None, output_attentions=None, cache_position=None, logits_to_keep=0, return_dict=None, **more):
        """-> logits [B, T, V], float32 whatever the precision, of the last `logits_to_keep` tokens (0: of all). All else as in TaylorModel."""
        of_loss = {name: more.pop(name) for name in ("num_items_in_batch", "ignore_index", "shift_labels") if name in more}
        outputs = self.model(input_ids, attention_mask, position_ids, past_key_values, inputs_embeds, use_cache, output_hidden_states, output_attentions,
                             cache_position, **more)
        x = outputs.last_hidden_state
        keep = slice(-logits_to_keep, None) if isinstance(logits_to_keep, int) and logits_to_keep else slice(None)
        with self._precision(x):
            logits = self.lm_head(x[:, keep] if isinstance(logits_to_keep, int) else x[:, logits_to_keep]).float()
        loss = None if labels is None else self.loss_function(logits=logits, labels=labels, vocab_size=self.config.vocab_size, **of_loss)
        output = CausalLMOutputWithPast(loss=loss, logits=logits, past_key_values=outputs.past_key_values, hidden_states=outputs.hidden_states)
        return output if return_dict is not False else output.to_tuple()
