"""`--dtype fp8`: the format of the weights where the type of the arithmetic is asked for. Weights that have it say so
themselves, and the option can go."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.catalog.other_models import other_model
from moonpad.catalog.quantization_flags import methods_of_name
from moonpad.engines.argv_reader import Occurrence
from moonpad.explain.results import Edit

_DTYPE: Final = "--dtype"
_FORMAT: Final = re.compile(
    r"(?:(?:mx|nv)?fp[48](?:_e4m3|_e5m2)?|int[48]|w[48]a(?:4|8|16)|awq|gptq|nvfp4|mxfp4)", re.ASCII
)
_PLAIN: Final = "bf16"


def is_format_of_weights(option: Occurrence, given: str) -> bool:
    return option.flag == _DTYPE and _FORMAT.fullmatch(given.strip("'\"").casefold()) is not None


def read_from_weights(option: Occurrence, words: Sequence[str]) -> tuple[str, tuple[Edit, ...]]:
    """The remedy, with the words without the option where the weights that are named are quantised."""
    if any(map(_is_quantised, words)):
        return "leave it out: the format of the weights is read from them", (Edit(option.index, option.length, ()),)
    remedy = (
        "leave it out: the format of quantised weights is read from them, and others are converted by --quantization"
    )
    return remedy, ()


def _is_quantised(word: str) -> bool:
    name = word.rpartition("=")[2]
    if "/" not in name or name.startswith("-"):
        return False
    if (known := find_model(name)) is not None:
        return known.quantization is not None and known.quantization.scheme != _PLAIN
    other = other_model(name)
    return bool(methods_of_name(name)) or (other is not None and other.published != _PLAIN)
