"""Names that stand for templates while YAML is read, as they were written: `{{ .Values.parallelArgs }}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from moonpad.explain.commands import Script

_MOST: Final = 2_000
_CUT: Final = re.compile(r"\$(\w{3,})(?=\.\.\.)", re.ASCII)
"""One that a message shortens."""


def as_written(text: str, script: Script) -> str:
    """A text that is shown, with each template in the place of the name that stands for it."""
    known = script.stand_ins
    if not known or not any(mark in text for mark in ("__", "...")):
        return text
    names = _names(tuple(known)[:_MOST])
    return _CUT.sub(lambda cut: _beginning(cut, known), names.sub(lambda name: known[name[1] or name[2]], text))


def all_as_written(document: Any, script: Script) -> Any:
    """The same in every text of a document that becomes JSON."""
    if isinstance(document, str):
        return as_written(document, script)
    if isinstance(document, dict):
        return {key: all_as_written(value, script) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [all_as_written(value, script) for value in document]
    return document


def _beginning(cut: re.Match[str], known: Mapping[str, str]) -> str:
    written = next((known[name] for name in known if name.startswith(cut[1])), None)
    return written[: len(cut[1])] if written is not None else cut[0]


@lru_cache(maxsize=4)
def _names(known: tuple[str, ...]) -> re.Pattern[str]:
    either = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return re.compile(rf"\$\{{({either})\}}|(?:\$|(?<!\w))({either})", re.ASCII)
