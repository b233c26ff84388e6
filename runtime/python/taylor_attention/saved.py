# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What config.json of a model of transformers says of its specification, and `ta.hf.load`. Imports transformers.

transformers reads `attn_implementation` from config.json but does not write it, so a model would load with its own
attention without a word. It is written here. The name "taylor:NAME" of `ta.hf.register` loads where it is registered,
and is refused by transformers elsewhere. A model of `ta.hf.replace` has a name that is never registered, and a
model_type that transformers does not know; both say what to do, in processes without this package too.
"""
from __future__ import annotations

import functools
import inspect
from typing import Any, Mapping

import transformers
from transformers import PreTrainedConfig, PreTrainedModel

from .keywords import arguments_of, unknown_keyword

PREFIX = "taylor:"
_RECORD = "taylor_attention"
INSTEAD = "replaced, so load it with ta.hf.load(folder) of taylor_attention"
_ORIGIN = ("revision", "token", "cache_dir", "local_files_only", "force_download", "subfolder")
_MORE = ("dtype", "device_map", "max_memory", "quantization_config", "output_loading_info")  # from_pretrained's, unnamed


def remember(config: Any, specification: str, value_dim: int | None, parameters: Mapping[str, Any] | None,
             mask: str) -> None:
    """Writes into a config what `replace` was given, as JSON can say it."""
    setattr(config, _RECORD, {
        "specification": specification, "value_dim": value_dim, "mask": mask,
        "parameters": {name: value if isinstance(value, (int, float)) else str(value)
                       for name, value in (parameters or {}).items()}})
    config.attn_implementation = PREFIX + INSTEAD


def load(folder: Any, kind: type[PreTrainedModel] | None = None, **arguments: Any) -> Any:
    """Loads a model that `ta.hf.replace` changed and save_pretrained wrote; what from_pretrained of its class gives.

        model = ta.hf.load(folder, dtype=torch.bfloat16)

    The specification is the one in config.json. `kind` is the model's class where it is not the one that was saved, or
    none of transformers' own. `arguments` are from_pretrained's.
    """
    from .replace import replace

    origin = {name: arguments[name] for name in _ORIGIN if name in arguments}
    values, _ = PreTrainedConfig.get_config_dict(folder, **origin)
    record = values.get(_RECORD)
    if record is None:
        raise ValueError(f"expected a model that ta.hf.replace changed, but config.json of '{folder}' has no "
                         f"{_RECORD}; load it with from_pretrained")
    name = (values.get("architectures") or ["none"])[0]
    kind = kind or getattr(transformers, name, None)
    if kind is None:
        raise ValueError(f"expected a class of transformers in config.json of '{folder}', but got {name}; give it: "
                         "ta.hf.load(folder, kind)")
    known: Any = kind.config_class
    config = known.from_dict({**values, "model_type": known.model_type, "attn_implementation": None})
    made = _with_replacement(kind, functools.partial(
        replace, spec=record["specification"], value_dim=record["value_dim"], parameters=record["parameters"],
        mask=record["mask"])).from_pretrained(folder, config=config, **arguments)
    (made[0] if isinstance(made, tuple) else made).__class__ = kind  # output_loading_info=True gives more
    return made


def _refuse_unknown(kind: Any, more: Mapping[str, Any]) -> None:
    """Of what from_pretrained has left over for the model's class: names that it does not have."""
    own = inspect.signature(kind.__init__).parameters
    if any(one.kind is one.VAR_KEYWORD for one in own.values()):
        return
    for name in more:
        if name not in own:
            raise unknown_keyword(name, more[name], "ta.hf.load",
                                  ["folder", "kind", *arguments_of(kind.from_pretrained)[1:], *_MORE])


def _with_replacement(kind: Any, change: Any) -> Any:
    """The class whose models are replaced when they are built, before from_pretrained fills in weights."""
    def build(self: Any, config: Any, *inputs: Any, **more: Any) -> None:
        _refuse_unknown(kind, more)
        kind.__init__(self, config, *inputs, **more)
        change(self)

    return type(kind.__name__, (kind,), {"__init__": build, "__module__": kind.__module__})


def _with_name(to_diff_dict: Any) -> Any:
    """PreTrainedConfig.to_diff_dict, which is what config.json gets, with what else it has to say here."""
    @functools.wraps(to_diff_dict)
    def with_name(self: PreTrainedConfig) -> dict[str, Any]:
        result: dict[str, Any] = to_diff_dict(self)
        name = getattr(self, "_attn_implementation", None)
        if hasattr(self, _RECORD):
            result["model_type"] = f"{type(self).model_type} with attentions {INSTEAD}"
        elif isinstance(name, str) and name.startswith(PREFIX):
            result["attn_implementation"] = name
        return result

    return with_name


PreTrainedConfig.to_diff_dict = _with_name(PreTrainedConfig.to_diff_dict)  # type: ignore[method-assign]
