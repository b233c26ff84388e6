# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Colours for MLIR's text: Pygments has no lexer of it."""
from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

CLAUSES = ("causal", "bidirectional", "exponential", "orders", "coefficients", "weight", "score", "scale", "decay", "visible", "parameters", "from",
           "projection", "parameter", "input", "over", "epsilon", "theta", "layout", "live", "within", "region", "numerator", "mass", "count")


class MlirLexer(RegexLexer):
    name, aliases, filenames = "MLIR", ["mlir"], ["*.mlir"]
    tokens = {
        "root": [
            (r"//.*?$", Comment.Single),
            (r'"(\\.|[^"\\])*"', String),
            (r"%[\w$.#-]+", Name.Variable),
            (r"@[\w$.-]+", Name.Function),
            (r"\^\w+", Name.Label),
            (r"![\w.]+", Keyword.Type),
            (r"\b(f16|bf16|f32|f64|index|i\d+)\b", Keyword.Type),
            (r"\b[a-z_]+\.[\w.]+", Name.Builtin),
            (words(CLAUSES, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"-?\d+(\.\d*)?([eE][-+]?\d+)?", Number),
            (r"[-+*/<>=:?]+", Operator),
            (r"[\[\](){},]", Punctuation),
            (r"\w+", Name),
            (r"\s+", Text.Whitespace),
            (r".", Text),
        ]
    }
