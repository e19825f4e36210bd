"""What a release does not have for the class of the model that is served: catalog/model_features.py."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from moonpad.catalog.known_reports import report_of
from moonpad.catalog.model_features import ModelFeature, class_of, model_features, releases_read
from moonpad.catalog.release_days import release_days
from moonpad.catalog.start_refusals import start_refusals
from moonpad.catalog.toml_rows import any_of
from moonpad.explain.builds import other_build
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import has_started
from moonpad.explain.checks.given_names import given_names
from moonpad.explain.checks.releases.known_reports import report_remark
from moonpad.explain.checks.releases.start_refusals import refusal_remark
from moonpad.explain.checks.releases.term_values import UNKNOWN, term_value
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import is_final

_RECENT_DAYS: Final = 366
_LONGEST: Final = 2000


def feature_of_class(case: Case) -> Iterator[Remark]:
    """Stages, adapters, drafts and the like that the release has for other classes alone. One remark for an option."""
    command = case.commands[0]
    if command.fork or has_started(command, by_words=True) or (case.version and not is_final(case.version)):
        return
    given = given_names(case)
    rows = [row for row in model_features().values() if row.engine == case.engine.name]
    asked = [row for row in rows if (_names(row) & given or _is_named(row, case)) and _is_asked(row, case)]
    served = _served(case) if asked else ""
    said: set[str] = set()
    for row in asked if served else ():
        flag = _flag(row, case)
        remark = _remark(row, case, served, flag) if flag not in said else None
        if remark is not None and not _is_told(row, case, remark):
            said.add(flag)
            yield remark


def _names(row: ModelFeature) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for term in row.given for name in any_of(term))


def _is_asked(row: ModelFeature, case: Case) -> bool:
    if any(term_value(case, term) is not None for term in row.lacks):
        return False
    return _is_named(row, case) or all(
        any(_has(case, name, pattern) for name in any_of(term)) for term, pattern in row.given.items()
    )


def _is_named(row: ModelFeature, case: Case) -> bool:
    return bool(row.named) and re.search(row.named, case.model_named[-_LONGEST:], re.IGNORECASE) is not None


def _has(case: Case, term: str, pattern: str) -> bool:
    value = term_value(case, term)
    if value is None or value == UNKNOWN:
        return False
    if not pattern:
        return value != "false"
    return re.fullmatch(pattern, value[:_LONGEST], re.IGNORECASE) is not None


def _flag(row: ModelFeature, case: Case) -> str:
    """The option of the command that asks for it."""
    names = [name for term in row.given for name in any_of(term)]
    return next((name for name in names if term_value(case, name) is not None), names[0]).partition(".")[0]


def _served(case: Case) -> str:
    known = class_of(case.checkpoint.name) if case.checkpoint is not None else ""
    return known or class_of(case.model_named.replace("--", "/"))


def _is_told(row: ModelFeature, case: Case, remark: Remark) -> bool:
    """Whether a refusal or a report that is about the same says as much. A report is never an error."""
    sure = remark.finding.severity is Severity.ERROR
    for key in row.told_by:
        refusal = start_refusals().get(key)
        said = refusal_remark(refusal, case) if refusal is not None else None
        if said is not None and (not sure or said.finding.severity is Severity.ERROR):
            return True
        report = report_of(case.engine.name, key) if not sure else None
        if report is not None and report_remark(report, case) is not None:
            return True
    return False


def _remark(row: ModelFeature, case: Case, served: str, flag: str) -> Remark | None:
    version, title = case.version, case.engine.facts.title
    span = row.lacking(served, version) if version else row.latest(served)
    if span is None:
        return None
    named = case.model_named if class_of(case.model_named) or case.checkpoint is None else case.checkpoint.name
    model = shortened(named.rstrip("/").rpartition("/")[2], 60)
    of_class = f"{row.what} for {served}, the class of {model}"
    then = f"; {span.then} has it" if span.then else ""
    if version:
        message = f"{title} {version} has no {of_class}: {row.outcome(version)}{then}"
        severity = Severity.ERROR if row.is_refused(version) and not _may_differ(case) else Severity.WARNING
        severity = Severity.NOTE if _is_spoken(span.then, case) else severity
    elif not span.then and span.last == releases_read()[case.engine.name][-1]:
        message = f"no release up to {span.last} has {of_class}: {row.outcome(span.last)}"
        severity = Severity.WARNING
    elif span.then and _is_recent(case.engine.name, span.then):
        lacked = f"{span.first} to {span.last}" if span.first != span.last else span.last
        message = f"{title} {lacked} has no {of_class}: {row.outcome(span.last)}; {span.then} has it"
        severity = Severity.NOTE
    else:
        return None
    remedy = f"take {span.then} or later, or {row.remedy}" if span.then else row.remedy
    place = case.option(flag)
    return make_remark(severity, Code.CONFLICT, flag, message, remedy, at=place.index if place else None)


def _may_differ(case: Case) -> bool:
    """Whether it may be a build that has more than the release that is named."""
    command = case.commands[0]
    return is_fragment(command) or command.custom or bool(other_build(command)) or _fork_is_spoken(case)


def _fork_is_spoken(case: Case) -> bool:
    """Whether the text names somebody's copy of the engine's repository."""
    own = case.engine.api.repository
    name = re.escape(own.rpartition("/")[2])
    copies = re.compile(rf"github\.com/(?!{re.escape(own)}\b)[\w.-]+/{name}(?![\w-])", re.IGNORECASE)
    return any(copies.search(line[:_LONGEST]) for line in case.script.lines)


def _is_spoken(release: str, case: Case) -> bool:
    """Whether the text names the release that has it: guides say which one a part of them needs."""
    if not release:
        return False
    named = re.compile(rf"(?<![\d.]){re.escape(release)}(?![\d]|\.\d)")
    return any(named.search(line[:_LONGEST]) for line in case.script.lines)


def _is_recent(engine: str, release: str) -> bool:
    """Whether it came out within a year before the newest."""
    recorded = release_days().get(engine)
    day = recorded.releases.get(release) if recorded is not None else None
    if recorded is None or day is None:
        return False
    return (date.fromisoformat(max(recorded.releases.values())) - date.fromisoformat(day)).days <= _RECENT_DAYS
