"""Servers of which clients get no text, so that no parser is missing."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.base import Reading
from moonpad.explain.commands import Command
from moonpad.explain.partial_loads import encoder_alone

_NO_TOKENIZER: Final = "--skip-tokenizer-init"
"""Of vLLM and of SGLang: requests and answers are numbers of tokens, of which no parser makes anything."""
_PREFILLS: Final = re.compile(r"[\"']kv_role[\"']\s*:\s*[\"']kv_producer[\"']")
_LONGEST_OBJECT: Final = 4000


def writes_no_text(command: Command, reading: Reading) -> bool:
    """Whether it reads pictures for others, answers with the numbers of tokens, or hands its cache to the server that
    writes the answer."""
    if encoder_alone(reading) or reading.parsed.occurrence(_NO_TOKENIZER) is not None:
        return True
    mode = reading.parsed.occurrence("--disaggregation-mode")
    prefills = mode is not None and mode.value == "prefill"
    return prefills or any(_PREFILLS.search(word.text[:_LONGEST_OBJECT]) for word in command.argv)
