"""The parser of the model itself, in the place of a name that the release does not take; its format left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from moonpad.catalog.reasoning_parsers import reasoning_family
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.base import Reading
from moonpad.explain.checks.models.own_formats import with_own_format
from moonpad.explain.checks.models.parser_families import family_of
from moonpad.explain.checks.models.serving_flags import of_family, thinks
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.releases_taking import releases_taking
from moonpad.explain.results import Edit, Remark
from moonpad.explain.spelling import is_another_number
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_SEPARATORS: Final = re.compile(r"[-_.]")
_BEGINNING: Final = 3
"""Letters of `kimi`, which is short for `kimi_k2` and hardly a plugin."""
_OPTION: Final = re.compile(r"--(?:dyn-)?(?:(?P<tool>tool-(?:call-)?)|reasoning-)parser")


def with_own_parser(
    remarks: Iterable[Remark], reading: Reading, book: Rulebook, checkpoint: Checkpoint | None
) -> Iterator[Remark]:
    """The remarks; a parser that is not among those of the release gets the model's own as its remedy, where the
    release has that."""
    refused = {
        option.index: option
        for option in reading.parsed.occurrences
        if option.problem == "invalid-value" and str(option.value).strip() and _OPTION.fullmatch(option.flag or "")
    }
    name = checkpoint.name if checkpoint else ""
    name = name or next((each for each in (reading.model, reading.served_name or "") if each and family_of(each)), "")
    for remark in with_own_format(remarks, reading, checkpoint):
        option = refused.get(remark.at) if remark.at is not None else None
        known = book.options.named(option.flag) if option is not None and option.flag else None
        listed = remark.finding.code is Code.INVALID_VALUE and "one of " in remark.finding.remedy
        # A build of the day of a newer model may have the name with its number.
        newer = known is not None and is_another_number(str(option.value) if option else "", known.choices)
        if option is None or known is None or not name or not listed or (newer and _is_doubted(remark)):
            yield remark
            continue
        own = next((each for each in _own(name, option.flag or "") if each in known.choices), "")
        if not own:
            yield remark
            continue
        remedy = f"write {option.written} {own}"
        short = len(plain := _plain(option)) >= _BEGINNING and _SEPARATORS.sub("", own).startswith(plain)
        sure = not _is_doubted(remark) or (short and not releases_taking(option, book))
        edits = (Edit(option.index, option.length, (option.written, own)),) if sure else ()
        yield replace(remark, finding=replace(remark.finding, remedy=remedy), edits=edits)


def _plain(option: Occurrence) -> str:
    return _SEPARATORS.sub("", str(option.value).casefold())


def _is_doubted(remark: Remark) -> bool:
    """Whether another release or build may take the name."""
    return remark.finding.severity is not Severity.ERROR


def _own(name: str, flag: str) -> tuple[str, ...]:
    """The names that engines have for the parser, of which one has one."""
    match, family = _OPTION.fullmatch(flag), family_of(name)
    is_tool = match is not None and match["tool"] is not None
    if family is not None and (is_tool or (of_family(name) and thinks(name))):
        return family.writes
    of_reasoning = None if is_tool else reasoning_family(name)
    return of_reasoning.parsers if of_reasoning is not None else ()
