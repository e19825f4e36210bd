"""The same thing found twice is said once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.foreign_names import OWN_VARIABLES
from moonpad.explain.results import Remark
from moonpad.values.finding import Code, Finding, Severity

_LINE: Final = re.compile(r"[^:\n]{0,200}?line \d+: ")
"""Where a finding about the text begins with its place."""


def without_twins(remarks: Sequence[Remark]) -> Iterator[Remark]:
    """The same finding of two pieces of one deployment stays at each; the same at one place stays once, and so does one
    report of two options of a command, and a note about a variable of several pieces.

    A value that the parser refuses is refused by a rule too: the parser's word is enough. So is the first of two
    findings about one variable of a line.
    """
    kept: dict[object, Remark] = {}
    for remark in remarks:
        value = remark.finding.code is Code.INVALID_VALUE and remark.at is not None
        said: object = Code.INVALID_VALUE if value else remark.finding
        if remark.finding.code is Code.CONFLICT and (line := _LINE.match(remark.finding.message)):
            said = line[0], remark.finding.where
        at = remark.at
        if remark.finding.code is Code.KNOWN_REPORT:
            said, at = (remark.finding.message, remark.finding.remedy), None
            if (other := kept.get((said, remark.command, at))) is not None and _is_worse(remark, other):
                kept[said, remark.command, at] = remark
        once = remark.variable is not None and remark.finding.severity is Severity.NOTE and not remark.edits
        kept.setdefault((said, None if once else remark.command, at), remark)
    errors = [remark for remark in kept.values() if remark.finding.severity is Severity.ERROR]
    refused = [remark for remark in errors if _setting(remark.finding.where) in _OF_KERNELS]
    formats = [remark for remark in kept.values() if _setting(remark.finding.where) == _OF_WEIGHTS]
    gone = {_place_of(remark) for remark in kept.values() if remark.finding.code in _GONE}
    told = {_where(remark) for remark in kept.values() if remark.finding.severity is not Severity.NOTE}
    graver, layouts = dict[object, dict[object, Remark]](), dict[object, list[Remark]]()
    for remark in kept.values():
        if _can_be_repeated(remark):  # thousands of the same option may be there: of equal ones the first is enough
            graver.setdefault(_where(remark), {}).setdefault(_rank(remark), remark)
        if remark.finding.code is Code.ILLEGAL_LAYOUT:
            layouts.setdefault((_where(remark), remark.at), []).append(remark)
    for remark in kept.values():
        if any(_is_of_size(each, remark) for each in layouts.get((_where(remark), remark.at), ())):
            continue
        if _can_be_repeated(remark) and any(_is_one_fault(each, remark) for each in graver[_where(remark)].values()):
            continue
        if any(_is_of_format(each.finding, remark.finding) for each in formats):
            continue
        if _advises_to_leave_out(remark) and _place_of(remark) in gone:
            continue
        if _says_unread(remark) and _where(remark) in told:
            continue
        # No kernel takes the value here: what was reported of it says that again.
        if remark.finding.code is not Code.KNOWN_REPORT or not any(_says_it(each, remark) for each in refused):
            yield remark


def _is_worse(remark: Remark, other: Remark) -> bool:
    return other.finding.severity is Severity.NOTE and remark.finding.severity is not Severity.NOTE


def _says_it(error: Remark, report: Remark) -> bool:
    """Whether both are about one setting of one command, by a variable and an option, or with one remedy."""
    first, second = error.finding, report.finding
    if error.command != report.command or _setting(first.where) != _setting(second.where):
        return False
    unnamed = second.severity is Severity.NOTE or report.ends_start
    same = unnamed and first.remedy.split()[-2:] == second.remedy.split()[-2:]
    return first.where != second.where or same


def _where(remark: Remark) -> tuple[str, int | None]:
    return remark.finding.where, remark.command


def _says_unread(remark: Remark) -> bool:
    """That no release reads a variable, which something graver may be said of."""
    return remark.finding.code is Code.DEAD_ENV and remark.finding.severity is Severity.NOTE


def _place_of(remark: Remark) -> tuple[str, int | None, str]:
    return remark.finding.where, remark.command, remark.finding.remedy


def _advises_to_leave_out(report: Remark) -> bool:
    """Of an option or key that the release does not have: it is left out anyway, whatever it did besides."""
    return report.finding.code is Code.KNOWN_REPORT and report.finding.remedy.startswith("leave ")


def _is_of_size(refused: Remark, other: Remark) -> bool:
    """Whether the size of one option cannot be anyway: what would be better than it, or what else it does not divide
    where one remedy mends both."""
    first, second = refused.finding, other.finding
    if refused is other or (first.where, refused.command, refused.at) != (second.where, other.command, other.at):
        return False
    if first.severity is Severity.NOTE:
        return False
    if second.code is Code.SUBOPTIMAL:
        return True
    dense = _DENSE in first.message and second.code is Code.ILLEGAL_LAYOUT
    return dense and first.severity is second.severity and first.remedy == second.remedy and not other.changes


def _can_be_repeated(remark: Remark) -> bool:
    """Of one option as a whole: not of a key or a word that its message quotes, nor what was reported of it."""
    finding = remark.finding
    counts = finding.severity is not Severity.NOTE and finding.code is not Code.KNOWN_REPORT
    return counts and finding.where.startswith("--") and bool(finding.remedy) and '"' not in finding.message


def _rank(remark: Remark) -> object:
    """What `_is_one_fault` looks at; of two that are alike neither is graver."""
    finding = remark.finding
    return finding.remedy, finding.severity, finding.code is Code.REDUNDANT_FLAG, remark.changes


def _is_one_fault(graver: Remark, other: Remark) -> bool:
    """Whether the other says no more of the same option than that the same is to be done: a value that is refused by
    the parser and does not fit the model, an option that is needless now and was refused before."""
    first, second = graver.finding, other.finding
    if graver is other or (first.where, graver.command) != (second.where, other.command):
        return False
    lead, follow = (each.remedy.casefold().rstrip(".") for each in (first, second))
    if lead not in follow or (other.changes and not graver.changes):
        return False
    errors = [each.severity is Severity.ERROR for each in (first, second)]
    needless = [each.code is Code.REDUNDANT_FLAG for each in (first, second)]
    return errors[0] > errors[1] or (errors[0] == errors[1] and needless[0] < needless[1])


def _is_of_format(said: Finding, report: Finding) -> bool:
    """Whether both say that the devices do not compute the format of the weights: a report that advises others."""
    if report.code is not Code.KNOWN_REPORT or not report.remedy.startswith("serve "):
        return False
    return bool({*_FORMAT.findall(said.message)} & {*_FORMAT.findall(report.message)})


_GONE: Final = frozenset({Code.REMOVED_FLAG, Code.UNKNOWN_FLAG})
_DENSE: Final = " columns of the dense MLP"
_OF_WEIGHTS: Final = "quantization"
_FORMAT: Final = re.compile(r"\b(?:MX|NV)FP4\b")
_OF_KERNELS: Final = frozenset({"attention-backend", "kv-cache-dtype"})


def _setting(where: str) -> str:
    """`VLLM_ATTENTION_BACKEND` and `--attention-backend` set one thing."""
    own = next((prefix for prefix in OWN_VARIABLES if where.startswith(prefix)), "--")
    return where.removeprefix(own).replace("_", "-").casefold()
