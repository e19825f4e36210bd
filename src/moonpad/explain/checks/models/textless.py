"""Servers of which clients get no text, so that no parser is missing."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.base import Reading
from moonpad.explain.partial_loads import encoder_alone

_NO_TOKENIZER: Final = "--skip-tokenizer-init"
"""Of vLLM and of SGLang: requests and answers are numbers of tokens, of which no parser makes anything."""
_IS_BASE: Final = re.compile(r"[-_.]base(?![a-z])", re.IGNORECASE)
"""A model that was not taught to answer: it calls no tools."""


def writes_no_text(reading: Reading, name: str) -> bool:
    """Whether it reads pictures for others, answers with the numbers of tokens, or has a model (`name`) whose text has
    no calls."""
    if encoder_alone(reading) or reading.parsed.occurrence(_NO_TOKENIZER) is not None:
        return True
    return _IS_BASE.search(name) is not None
