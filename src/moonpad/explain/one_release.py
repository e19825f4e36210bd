"""Where the release has to be left anyway, one is named for all that a later one mends: the highest of those asked
for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import ENGINES
from moonpad.explain.results import Judged, Remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import order, since

_TAKE: Final = re.compile(r"\btake (?P<name>(?:[A-Za-z][\w.-]* )?)(?P<release>\d+(?:\.\d+)+\w*) or (?:later|newer)\b")


def with_one_release(judged: Judged) -> Judged:
    """With that release in each remedy that names a lower one, where an error has no other remedy than a later
    release."""
    names = _names(judged)
    asked = [release for remark in judged.remarks for release in _asked(remark, names)]
    must = any(_has_no_other(remark, names) for remark in judged.remarks)
    if not must or len(set(asked)) < 2:
        return judged
    highest = max(asked, key=order)
    return replace(judged, remarks=tuple(_raised(remark, names, highest) for remark in judged.remarks))


def _names(judged: Judged) -> frozenset[str]:
    title = ENGINES[judged.engine].facts.title if judged.engine in ENGINES else judged.engine
    return frozenset({"", judged.engine.casefold(), title.casefold()})


def _asked(remark: Remark, names: frozenset[str]) -> Iterator[str]:
    if remark.finding.code is Code.MENDED_LATER or remark.of_former:
        return
    for match in _TAKE.finditer(remark.finding.remedy):
        if match["name"].strip().casefold() in names:
            yield match["release"]


def _has_no_other(remark: Remark, names: frozenset[str]) -> bool:
    match = _TAKE.fullmatch(remark.finding.remedy)
    return match is not None and remark.finding.severity is Severity.ERROR and match["name"].strip().casefold() in names


def _raised(remark: Remark, names: frozenset[str], highest: str) -> Remark:
    if not any(not since(release, highest) for release in _asked(remark, names)):
        return remark

    def raised(match: re.Match[str]) -> str:
        mine = match["name"].strip().casefold() in names and not since(match["release"], highest)
        return match[0].replace(match["release"], highest) if mine else match[0]

    finding = replace(remark.finding, remedy=_TAKE.sub(raised, remark.finding.remedy))
    return replace(remark, finding=finding)
