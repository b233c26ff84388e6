# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Llama whose attention is a Taylor specification, for `transformers`. taylor-train puts this file into its checkpoints:

    model = AutoModelForCausalLM.from_pretrained("runs/norm/checkpoints/step-000320", trust_remote_code=True)

The attention is the torch operator of Taylor, libtaylor_torch.so, which compiles the specification at its first call. It is looked for in
$TAYLOR_LIB, else in ../lib beside the compiler ($TAYLORC, or `taylorc` in the PATH). Modules follow from the configuration's `taylor.inputs`, as
taylor-train builds them. generate() keeps what earlier tokens left, states or keys and values, by Taylor's own decoder; a batch that is padded in front is computed
from its whole texts for every token.

Shapes: B batch, T tokens, C hidden_size, V vocab_size.
"""
import contextlib
import functools
import math
import os
import pathlib
import shutil

import torch
import torch.nn.functional as F
from torch import nn
from transformers import GenerationMixin, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast
from transformers.utils import cached_file

from .configuration_taylor import TaylorConfig


def load_operator():
    """Loads torch.ops.taylor, unless that was done before."""
    if hasattr(torch.ops.taylor, "attention"):
        return
    compiler = os.environ.get("TAYLORC") or shutil.which("taylorc")
    if os.environ.get("TAYLOR_LIB"):
        folder = pathlib.Path(os.environ["TAYLOR_LIB"])
    elif compiler:
        folder = pathlib.Path(compiler).resolve().parents[1] / "lib"
    else:
        raise ImportError("requires Taylor's torch operator: set TAYLOR_LIB to the folder of libtaylor_torch.so, or put taylorc into the PATH")
    library = folder / "libtaylor_torch.so"
    if not library.exists():
        raise ImportError(f"expected libtaylor_torch.so in '{folder}', but it is not there; set TAYLOR_LIB to the folder that has it")
    torch.ops.load_library(str(library))


@functools.lru_cache
def make_decoder(specification, parameters, mask, head_dim, value_dim, dtype):
    """One for all layers; compiled, or read from the kernel cache, when a text is first continued."""
    return torch.classes.taylor.Decoder(specification, dict(parameters), mask, head_dim, value_dim, dtype)


def features(axes):
    """The axes that are neither the batch nor tokens: those of one token's features."""
    return [axis for axis in axes if axis not in ("b", "t", "u")]


def places(axes):
    """The axes as places in [b, token, the other axes]; for a permute from there."""
    return [0 if axis == "b" else 1 if axis in ("t", "u") else 2 + features(axes).index(axis) for axis in axes]


def documents_of(attention_mask, tokens):
    """attention_mask [B, T], 1 for tokens of the text, as numbers of documents: padding in front of a text is a document of its own, which the
    text does not see and does not count. None where no row has such padding: behind a text, causality hides it."""
    if attention_mask is None:
        return None
    if attention_mask.dim() != 2 or attention_mask.shape != tokens.shape[:2]:
        raise ValueError(f"expected attention_mask of shape {list(tokens.shape[:2])}, but got {list(attention_mask.shape)}")
    mask = (attention_mask != 0).to(torch.int32)
    if mask[:, 0].all() and (mask.diff(dim=1) <= 0).all():
        return None
    begun = mask.cummax(dim=1).values
    if ((begun - mask).diff(dim=1) < 0).any():
        raise ValueError("unsupported attention_mask: padding between tokens of a text; pad in front of it or behind it")
    return begun


class TaylorCache:
    """What the tokens of a batch left in each layer: `memories`, which torch.classes.taylor.Decoder makes of states, or of keys and values."""

    is_compileable = False

    def __init__(self, layers):
        self.memories = [torch.classes.taylor.Memory() for _ in range(layers)]
        self.decoder = None

    def get_seq_length(self, layer=0):
        return self.memories[layer].tokens()

    def reorder_cache(self, rows):
        """Sequences of the batch in another order, some of them more than once: those that a beam search goes on with."""
        self.memories = [self.decoder.gather(memory, rows.tolist()) for memory in self.memories]


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
        self.shapes = {array["name"]: [taylor["sizes"][axis] for axis in features(array["axes"])] for array in self.inputs}
        for array in self.inputs:
            name, source = array["name"], array["source"]
            if source["kind"] == "projection":
                setattr(self, f"{name}_proj", nn.Linear(config.hidden_size, math.prod(self.shapes[name]), bias=source["bias"]))
            else:
                self.register_parameter(name, nn.Parameter(torch.empty(self.shapes[name])))
        self.o_proj = nn.Linear(math.prod(taylor["sizes"][axis] for axis in features(self.output_axes)), config.hidden_size, bias=False)
        self.specification = taylor.get("text") or cached_file(config.name_or_path, taylor["specification"])
        parameters = tuple((name, f"{value:.17g}") for name, value in taylor["parameters"].items())
        self.described = self.specification, parameters, taylor["mask"], config.head_dim, taylor["value_dim"]
        self.options = " ".join([f"--set {name}={value}" for name, value in parameters] + ([f"--mask={taylor['mask']}"] if taylor["mask"] else []))

    def forward(self, x, documents=None, cache=None, layer=0):
        inputs = []
        for array in self.inputs:
            name = array["name"]
            if array["source"]["kind"] == "projection":
                y = getattr(self, f"{name}_proj")(x)
                inputs.append(y.view(*x.shape[:2], *self.shapes[name]).permute(places(array["axes"])))
            else:
                inputs.append(getattr(self, name))
        if cache is not None:
            dtype = next(y.dtype for y, array in zip(inputs, self.inputs) if array["source"]["kind"] == "projection")
            cache.decoder = make_decoder(*self.described, dtype)
            output = cache.decoder.extend([y.detach() for y in inputs], cache.memories[layer])
        elif documents is not None:
            output = torch.ops.taylor.attention([*inputs, documents], self.specification, self.options + " --documents", None)[0]
        else:
            output = torch.ops.taylor.attention(inputs, self.specification, self.options, None)[0]
        order = places(self.output_axes)
        return self.o_proj(output.permute([order.index(i) for i in range(len(order))]).flatten(2))


class TaylorDecoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attn = TaylorAttention(config)
        self.mlp = TaylorMLP(config)
        self.input_layernorm = TaylorRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = TaylorRMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, x, documents=None, cache=None, layer=0):
        x = x + self.self_attn(self.input_layernorm(x), documents, cache, layer)
        return x + self.mlp(self.post_attention_layernorm(x))


class TaylorPreTrainedModel(PreTrainedModel):
    config_class = TaylorConfig
    base_model_prefix = "model"
    _no_split_modules = ["TaylorDecoderLayer"]

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
        load_operator()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(TaylorDecoderLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = TaylorRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_init()

    def get_input_embeddings(self):
        return self.embed_tokens

    def set_input_embeddings(self, value):
        self.embed_tokens = value

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None, past_key_values=None, use_cache=False, **unused):
        """input_ids [B, T] or inputs_embeds [B, T, C] -> last_hidden_state [B, T, C], after the last norm. With use_cache also past_key_values, a
        TaylorCache; T are then the tokens behind those that the one given has seen, and nothing has a gradient."""
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("expected input_ids or inputs_embeds, but got " + ("neither" if input_ids is None else "both"))
        x = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds
        cache = None
        if use_cache:
            cache = TaylorCache(len(self.layers)) if past_key_values is None else past_key_values
        elif past_key_values is not None:
            raise ValueError("expected use_cache with past_key_values: its tokens are not seen otherwise")
        documents = None
        if cache is None or cache.get_seq_length() == 0:
            documents = documents_of(attention_mask, x)
        if cache is not None and documents is not None:
            raise ValueError("unsupported use_cache for a batch that is padded in front of its texts; pass use_cache=False")
        with self._precision(x), torch.set_grad_enabled(torch.is_grad_enabled() and cache is None):
            for number, layer in enumerate(self.layers):
                x = layer(x, documents, cache, number)
            return BaseModelOutputWithPast(last_hidden_state=self.norm(x), past_key_values=cache)


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

    def prepare_inputs_for_generation(self, input_ids, past_key_values=None, attention_mask=None, use_cache=False, **unused):
        if past_key_values is None and documents_of(attention_mask, input_ids) is not None:
            use_cache = False  # padded in front: the whole texts for every token
        seen = past_key_values.get_seq_length() if past_key_values is not None else 0
        return {"input_ids": input_ids[:, seen:], "attention_mask": attention_mask, "past_key_values": past_key_values, "use_cache": bool(use_cache)}

    def forward(self, input_ids=None, attention_mask=None, inputs_embeds=None, past_key_values=None, labels=None, use_cache=False, logits_to_keep=0,
                return_dict=None, **more):
        """-> logits [B, T, V], float32 whatever the precision, of the last `logits_to_keep` tokens (0: of all). `use_cache` as in TaylorModel."""
        outputs = self.model(input_ids, attention_mask, inputs_embeds, past_key_values, bool(use_cache))
        x = outputs.last_hidden_state
        keep = slice(-logits_to_keep, None) if isinstance(logits_to_keep, int) and logits_to_keep else slice(None)
        with self._precision(x):
            logits = self.lm_head(x[:, keep] if isinstance(logits_to_keep, int) else x[:, logits_to_keep]).float()
        loss = None if labels is None else self.loss_function(logits=logits, labels=labels, vocab_size=self.config.vocab_size, **more)
        output = CausalLMOutputWithPast(loss=loss, logits=logits, past_key_values=outputs.past_key_values)
        return output if return_dict is not False else output.to_tuple()
