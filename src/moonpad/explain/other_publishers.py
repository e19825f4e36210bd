"""Repositories of other publishers that are called as a checkpoint of the catalogue: `RedHatAI/Kimi-K2.6-NVFP4`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from moonpad.catalog.cached_names import repository_of
from moonpad.catalog.models import models
from moonpad.explain.results import Judged

_LONGEST: Final = 2000
_FOLDER: Final = re.compile(
    r"(?:(?:my|your|local|hf)[-_]?)?(?:models?|weights?|checkpoints?|ckpts?|data|cache|repos?|hub|llms?|mnt|home|root|path|org|tree"
    r"|blob|resolve|main)",
    re.IGNORECASE,
)
"""What folders are called, and parts of addresses."""


def published_as(judged: Judged, lines: tuple[str, ...]) -> str:
    """What the command, or else the text, calls the checkpoint that is judged, where another publisher's repository of
    the same name is meant; "" where it is the checkpoint itself."""
    if judged.checkpoint is None:
        return ""
    known = judged.checkpoint.name
    owner, slash, name = known.partition("/")
    written = repository_of(judged.model_written)
    if not slash or ":" in name or written.casefold() == known.casefold():
        return ""
    if re.fullmatch(_of(name), written, re.IGNORECASE) and not _FOLDER.fullmatch(written.partition("/")[0]):
        return written
    found = {each.casefold(): each for each in _named(lines, name)}
    if len(found) != 1 or owner.casefold() in found:
        return ""
    return f"{next(iter(found.values()))}/{name}"


def shown_name(judged: Judged, lines: tuple[str, ...]) -> str:
    """The checkpoint that is judged, without the publisher of a conversion whom the text does not name: others have
    weights under that name too."""
    if judged.checkpoint is None:
        return ""
    owner, slash, name = judged.checkpoint.name.partition("/")
    known = slash and models().get(judged.checkpoint.name)
    if not known or not known.base or _is_named(owner.casefold(), lines):
        return judged.checkpoint.name
    return judged.checkpoint.name if owner.casefold() in judged.model_written.casefold() else name


@lru_cache(maxsize=8)  # as above
def _is_named(owner: str, lines: tuple[str, ...]) -> bool:
    return any(owner in line[:_LONGEST].casefold() for line in lines)


def _of(name: str) -> str:
    return rf"[A-Za-z0-9][\w.-]{{1,40}}/{re.escape(name)}"


@lru_cache(maxsize=8)  # each deployment of a text asks
def _named(lines: tuple[str, ...], name: str) -> tuple[str, ...]:
    pattern = re.compile(
        rf"(?<![\w./-])(?P<owner>[A-Za-z0-9][\w.-]{{1,40}})/{re.escape(name)}(?![\w/-])", re.IGNORECASE
    )
    found = (match["owner"] for line in lines if "/" in line for match in pattern.finditer(line[:_LONGEST]))
    return tuple(dict.fromkeys(owner for owner in found if not _FOLDER.fullmatch(owner)))
