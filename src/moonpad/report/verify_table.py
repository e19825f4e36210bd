"""What `moonpad verify` shows."""

from __future__ import annotations

from typing import Final

from rich.text import Text

from moonpad.engines import ENGINES
from moonpad.report.plain_text import hanging
from moonpad.verify.gate import NOTHING_JUDGED
from moonpad.verify.probe import Status
from moonpad.verify.runner import Report, Result

EVIDENCE_CHARACTERS: Final = 400
"""Shown of each question and answer; --json has more."""
REASON_CHARACTERS: Final = 100
NAMES: Final = {
    "each": "any server",
    "gateway": "a gateway",
    # Builds and forks share a key: the name is that of the first.
    **{engine.api.key: engine.api.title for engine in reversed(tuple(ENGINES.values()))},
}
STYLES: Final = {"pass": "green", "fail": "bold red", "skip": "yellow"}


def verify_table(report: Report, width: int) -> Text:
    """One row a probe, its findings below it, the counts at the end; wrapped at `width` columns."""
    id_width = max((len(result.probe.id) for result in report.results), default=0)
    text = Text(f"{report.endpoint}  {report.model}\n\n".replace("  \n", "\n"))
    for result in report.results:
        text.append_text(_row(result, id_width, width))
    counts = (report.count(status) for status in Status)
    text.append("\n{} passed, {} failed, {} skipped".format(*counts))
    text.append("\n" + hanging(judged_in_words(report), 0, width))
    return text


def judged_in_words(report: Report) -> str:
    """How many probes were judged, and why others were not; that a run proves nothing where that is so."""
    count = f"{len(report.judged)} of {len(report.results)} judged"
    reasons: dict[str, list[str]] = {}
    for result in report.not_judged:
        reasons.setdefault(_reason(result.outcome.because), []).append(result.probe.id)
    listed = "; ".join(f"{', '.join(ids)} ({reason})" for reason, ids in reasons.items())
    text = f"{count}, {len(report.not_judged)} not: {listed}" if listed else count
    return f"{text}. {NOTHING_JUDGED[0].upper()}{NOTHING_JUDGED[1:]}." if report.says_nothing else text


def _reason(because: str) -> str:
    first = because.partition(": ")[0]
    return first if len(first) <= REASON_CHARACTERS else f"{first[:REASON_CHARACTERS].rsplit(' ', 1)[0]} …"


def _row(result: Result, id_width: int, width: int) -> Text:
    status = str(result.outcome.status)
    row = Text.assemble("  ", (status, STYLES[status]), f"  {result.probe.id:<{id_width}}  ")
    indent = len(row)
    row.append(hanging(result.outcome.because, indent, width) + "\n")
    lines = []
    for finding in result.outcome.findings:
        message = "" if finding.message == result.outcome.because else f"{finding.message}: "
        lines.append(f"{finding.where}: {message}{finding.remedy}".rstrip(": "))
    lines += [f"on {NAMES.get(name, name)}: {text}" for name, text in result.remedies.items()]
    if result.known_issues:
        lines.append(f"looks like {', '.join(result.known_issues)}")
    for exchange in result.exchanges:
        answer = f"{exchange.status or 'no answer'} {exchange.answer}"
        for name, text in (("asked", exchange.request), ("got", answer)):
            lines.append(f"{name}: {' '.join(text.split())[:EVIDENCE_CHARACTERS]}")
    for line in lines:
        row.append(" " * indent)
        row.append(hanging(line, indent, width) + "\n", style="dim")
    return row
