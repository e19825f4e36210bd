"""Releases that a program printed on the line below the question: `python -c "import vllm; print(vllm.__version__)"`,
`vllm --version`, `pip show vllm`; or beside it, `vllm.__version__: 0.11.0`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from moonpad.engines.text_signs import BANNER, DRAWN

_ASKED: Final = (
    re.compile(r"\bimport[ ](?P<name>[a-z_]{3,30})[ ]*;[ ]*print\([ ]*(?P=name)\.__version__[ ]*\)"),
    re.compile(r"^[ \t]*(?:>>>|In \[\d{1,4}\]:)[ ]*(?P<name>[a-z_]{3,30})\.__version__[ \t]*$"),
    re.compile(r"(?:^|[ $#%>])(?P<name>[a-z][a-z-]{2,30})[ ](?:--version|-V)[ \t]*$"),
)
_SHOWN: Final = re.compile(
    r"[ \t]*Name:[ ](?P<name>[A-Za-z][\w-]{2,30})[ \t]*$"
    r"|[ \t>$#%]*(?:\S{1,80}/)?(?:uv[ ])?pip3?[ ]show[ ](?P<asked>[A-Za-z][\w-]{2,30})[ \t]*$"
)
"""The head of what `pip show` prints, or the command with some of its lines below."""
_NUMBER: Final = r"v?(?P<version>0\.[0-9]{1,2}\.[0-9]{1,2}(?:\.?(?:rc|post|dev)[0-9]{1,6}){0,3}(?:\+[0-9a-z.]{1,40})?)"
_ALONE: Final = re.compile(rf"[ \t]*(?:Out\[\d{{1,4}}\]:[ ]*)?['\"]?{_NUMBER}['\"]?[ \t]*$")
_BESIDE: Final = re.compile(
    rf"(?<![\w.])(?P<name>[a-z_]{{3,30}})\.__version__[ ]?(?:=(?!=)|:|is\b)[ ]{{0,3}}[`'\"]?{_NUMBER}(?![\w.])"
)
_BEHIND_NAME: Final = re.compile(rf"[ \t]*Version:[ ]{_NUMBER}[ \t]*$")
_ON_TOP: Final = re.compile(rf"(?:^|[\]{DRAWN}])[ \t{DRAWN}]*version[ \t]+{_NUMBER}[ \t]*$")
_ITS_MODEL: Final = re.compile(rf"(?:^|[\]{DRAWN}])[ \t{DRAWN}]*model[ \t]+\S+[ \t]*$")
_FEW: Final = 4
"""Lines in which the answer follows: warnings may be printed above it."""
_LONGEST: Final = 400


def printed(lines: Sequence[str], names: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, int, str, str]]:
    """Line, place in it, engine and version. `names`: engine → patterns of what it is called."""
    for number, line in enumerate(lines):
        text = line[:_LONGEST]
        if not any(sign in text for sign in ("ersion", "Name:", " -V", " show ")):
            continue
        drawn = _ON_TOP.search(text)
        if drawn is not None and any(_ITS_MODEL.search(each[:_LONGEST]) for each in lines[number + 1 : number + _FEW]):
            yield number + 1, drawn.start("version"), BANNER, drawn["version"]
            continue
        beside = _BESIDE.search(text)
        if beside is not None and (engine := _engine_of(beside["name"], names)):
            yield number + 1, beside.start("version"), engine, beside["version"]
            continue
        shown = _SHOWN.match(text)
        asked = shown or next((match for pattern in _ASKED if (match := pattern.search(text))), None)
        name = next(filter(None, asked.groups())) if asked is not None else ""
        engine = _engine_of(name, names) if name else ""
        answer = _BEHIND_NAME if shown else _ALONE
        below = lines[number + 1 : number + (2 if shown and shown["name"] else 1 + _FEW)] if engine else ()
        for behind, each in enumerate(below, number + 2):
            if version := answer.match(each[:_LONGEST]):
                yield behind, version.start("version"), engine, version["version"]
                break


def _engine_of(name: str, names: Mapping[str, Sequence[str]]) -> str:
    called = name.replace("_", "-")
    return next(
        (
            engine
            for engine, patterns in names.items()
            if any(re.fullmatch(pattern, called, re.IGNORECASE) for pattern in patterns)
        ),
        "",
    )
