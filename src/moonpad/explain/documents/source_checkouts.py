"""Releases of engines that a text builds from their source: `git clone -b v0.11.0 …`, or a checkout below the clone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

_CLONE: Final = re.compile(
    r"\bgit[ ]clone\b(?P<options>[^\n;&|]{0,200}?)/(?P<name>[\w.-]{1,60}?)(?:\.git)?(?=[\s\"';&|)]|$)"
)
_TAG: Final = (
    r"(?:tags/)?v(?P<version>[0-9]{1,2}\.[0-9]{1,3}\.[0-9]{1,3}(?:\.?(?:post|rc)[0-9]{1,3})?)(?=[\s\"';&|)]|$)"
)
_OF_FORK: Final = re.compile(
    r"[ ](?:-b|--branch)[ =]+(?:tags/)?v(?P<version>[0-9]{1,2}\.[0-9]{1,3}\.[0-9]{1,3}\+[a-z0-9.]{1,40})"
    r"(?=[\s\"';&|)]|$)"
)
"""A fork that calls its state by the release below it, `v0.12.0+gfx906`."""
_BRANCH: Final = re.compile(rf"[ ](?:-b|--branch)[ =]+{_TAG}")
_CHECKOUT: Final = re.compile(rf"\bgit[ ](?:-C[ ]\S{{1,200}}[ ])?(?:checkout|switch[ ]--detach)[ ](?:-q[ ])?{_TAG}")
_NEAR: Final = 6
"""Lines below a clone in which its checkout follows."""
_LONGEST: Final = 2000


def checked_out(lines: Sequence[str], names: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, int, str, str]]:
    """Line, place in it, engine and version. `names`: engine → patterns of what it is called."""
    engine, cloned = "", 0
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST]
        if "git " not in text:
            continue
        if clone := _CLONE.search(text):
            engine, cloned = _engine_of(clone["name"], names), number
            forked = _engine_of(clone["name"].split("-", 1)[0], names)
            if forked and (branch := _OF_FORK.search(text)):
                yield number, branch.start(), forked, branch["version"]
                engine = ""
            if engine and (branch := _BRANCH.search(text)):
                yield number, branch.start(), engine, branch["version"]
                engine = ""
        if engine and number - cloned <= _NEAR and (checkout := _CHECKOUT.search(text)):
            yield number, checkout.start(), engine, checkout["version"]
            engine = ""


def _engine_of(repository: str, names: Mapping[str, Sequence[str]]) -> str:
    return next(
        (
            engine
            for engine, patterns in names.items()
            if any(re.fullmatch(pattern, repository, re.IGNORECASE) for pattern in patterns)
        ),
        "",
    )
