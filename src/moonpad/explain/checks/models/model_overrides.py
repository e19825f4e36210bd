"""Values of a model's config that a command writes over, of another type than those of the config."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.engines.foreign_names import OVERRIDES
from moonpad.engines.value_checks import as_json, unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_NUMBERS: Final = (
    *("max_position_embeddings", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "hidden_size"),
    *("intermediate_size", "moe_intermediate_size", "vocab_size", "num_experts_per_tok", "n_routed_experts"),
    *("n_shared_experts", "first_k_dense_replace", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim"),
    *("v_head_dim", "num_nextn_predict_layers", "original_max_position_embeddings"),
)
_OBJECTS: Final = ("rope_scaling", "rope_parameters", "quantization_config", "text_config", "vision_config")
_OF_ROPE: Final = ("factor", "rope_theta", "beta_fast", "beta_slow", "mscale", "mscale_all_dim")
_OF_LINEAR: Final = ("num_experts", "num_experts_per_token", "num_shared_experts", "model_max_length")
"""What `kimi_linear` calls some of them (its config.json)."""
_KNOWN: Final = (*_NUMBERS, *_OBJECTS, *_OF_LINEAR, "architectures")
_ALIKE: Final = 0.95
_LONG_BY_ITSELF: Final = re.compile(r"qwen3-[\w.-]*2507|qwen3-coder|qwen3-next", re.IGNORECASE)
_OWN_POSITIONS: Final = 262_144
_FORMER: Final = "--rope-scaling"
_ORIGINAL: Final = re.compile(r"[\"']original_max_position_embeddings\\?[\"']\s*:\s*(?P<number>\d{3,7})\b")


def types_of_overrides(case: Case) -> Iterator[Remark]:
    """`--hf-overrides '{"max_position_embeddings": "262144"}'`: the first that is wrong."""
    for flag in OVERRIDES:
        place, text = case.option(flag), case.text(flag).strip().strip("'")
        if place is None or not text or unresolved(text):
            continue
        value = as_json(text)
        found = None
        if isinstance(value, list):
            found = "", "an object of keys is wanted, and this is a list", 'write {"key": value}'
        elif isinstance(value, Mapping):
            found = next(_wrong(value), None)
        if found is not None:
            key, message, remedy = found
            where = f"{flag}.{key}" if key else flag
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, where, message, remedy, at=place.index)
            return


def needless_stretching(case: Case) -> Iterator[Remark]:
    """YaRN over the 32,768 positions of the first Qwen3, for a successor that has 262,144 of its own."""
    if not _LONG_BY_ITSELF.search(case.first.model or ""):
        return
    for flag in (*OVERRIDES, _FORMER):
        place, text = case.option(flag), case.text(flag).strip().strip("'")
        match = _ORIGINAL.search(text) if place is not None else None
        if place is not None and match is not None and int(match["number"]) < _OWN_POSITIONS:
            message = (
                f"the model has {_OWN_POSITIONS:,} positions of its own, and this stretches {int(match['number']):,}: "
            )
            message += "all answers are worse by it, those to short prompts too"
            remedy = f"leave it out; beyond {_OWN_POSITIONS:,}, stretch those: original_max_position_embeddings "
            yield make_remark(
                Severity.WARNING, Code.CONFLICT, flag, message, f"{remedy}{_OWN_POSITIONS}", at=place.index
            )
            return


def _wrong(config: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """The key, what is wrong and what to write."""
    for key, value in config.items():
        if key in _NUMBERS and isinstance(value, (str, float, bool)):
            written = f'"{shortened(value, 30)}"' if isinstance(value, str) else str(value)
            message = f"{key} is a whole number, and {written} is written over it: the engine counts with it, and ends"
            number = str(value).partition(".")[0]
            yield key, message, f'write "{key}": {number}' if number.isdigit() else "write a whole number"
        elif key == "architectures" and not isinstance(value, list):
            message = (
                f"architectures is a list of names, and {shortened(str(value), 50)} is none: no class is found by it"
            )
            yield (
                key,
                message,
                f'write "architectures": ["{shortened(value, 80)}"]' if isinstance(value, str) else "write a list",
            )
        elif key in _OBJECTS and value is not None and not isinstance(value, Mapping):
            message = (
                f"{key} is an object, and {shortened(str(value), 40)} is written over it: the engine looks for keys "
            )
            yield key, f"{message}in it, and ends", f'write "{key}": {{…}} with all its keys'
        elif key in ("rope_scaling", "rope_parameters") and isinstance(value, Mapping):
            yield from _of_rope(key, value)
        elif key == "text_config" and isinstance(value, Mapping):
            yield from _wrong({str(each): its for each, its in value.items()})
        elif key not in _KNOWN and (near := _near(key)):
            message = f"no config has a key {shortened(key, 50)}, so that this is written beside {near} and not over it"
            yield key, message, f"write {near}"


def _near(key: str) -> str:
    """The key that is meant: one letter is wrong, or dashes stand for underscores."""
    dashed = key.replace("-", "_")
    if dashed in _KNOWN:
        return dashed
    return next(iter(difflib.get_close_matches(key, _KNOWN, n=1, cutoff=_ALIKE)), "")


def _of_rope(key: str, value: Mapping[object, object]) -> Iterator[tuple[str, str, str]]:
    for each, its in value.items():
        if each in _OF_ROPE and isinstance(its, str):
            message = (
                f"{key}.{each} is a number, and {shortened(its, 30)!r} a text: the engine counts with it, and ends"
            )
            yield f"{key}.{each}", message, f'write "{each}": {shortened(its, 30)}'
    yield from _wrong({str(each): its for each, its in value.items() if each in _NUMBERS})
    kinds = {"rope_type", "type"} & {*value}
    nested = any(isinstance(its, Mapping) for its in value.values())
    if not kinds and "factor" in value and not nested:
        message = f"{key} names no rope_type: its kind is not known, and the start ends, or the factor is not applied"
        yield key, message, 'write "rope_type": "yarn" beside the factor'
