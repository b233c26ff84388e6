# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The configuration of a Llama whose attention is a Taylor specification, for `transformers`. taylor-train puts this file into its checkpoints."""
from transformers import PretrainedConfig


class TaylorConfig(PretrainedConfig):
    """Llama's fields, and `taylor`, which is the attention and nothing else:

    text           the specification (None where `specification` names a compiled one, NAME.so, in the checkpoint's folder)
    parameters     its free parameters, {"order": 10}
    mask           "causal", or "" as written
    precision      "bf16": products of float32 weights are computed in bfloat16, as they were in training; "fp32"
    inputs         its arguments in order: name, axes, and source as in the manifest (projection or parameter)
    output         the axes of its result
    sizes          of every axis but b, t and u
    value_dim      channels of a value
    """

    model_type = "taylor"

    def __init__(self, vocab_size=32000, hidden_size=1024, intermediate_size=2048, num_hidden_layers=20, num_attention_heads=16,
                 num_key_value_heads=None, head_dim=None, max_position_embeddings=1024, rms_norm_eps=1e-5, initializer_range=0.02,
                 use_cache=True, taylor=None, **more):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.intermediate_size = intermediate_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.num_key_value_heads = num_key_value_heads or num_attention_heads
        self.head_dim = head_dim or hidden_size // num_attention_heads
        self.max_position_embeddings = max_position_embeddings
        self.rms_norm_eps = rms_norm_eps
        self.initializer_range = initializer_range
        self.use_cache = use_cache
        self.taylor = taylor or {}
        more.setdefault("tie_word_embeddings", False)
        super().__init__(**more)
