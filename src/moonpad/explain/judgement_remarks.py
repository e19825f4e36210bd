"""What the judge says of a deployment that was read, at the flags that it was read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from moonpad.engines.base import Reading
from moonpad.explain.argv_edits import flag_of, occurrence
from moonpad.explain.results import Remark
from moonpad.explain.suggestions import Improvement, Subject, best_remedy
from moonpad.plan.judgement import Judgement
from moonpad.values.finding import Code, Finding, Severity


def judgement_remarks(
    subject: Subject, judgement: Judgement, improvements: Sequence[Improvement], reading: Reading
) -> Iterator[Remark]:
    """The judge's findings; `where` becomes the engine's own flag. What lacks memory has the best way out as remedy."""
    memory = judgement.memory
    short = memory is not None and (not memory.fits or memory.tight)
    for finding in judgement.findings:
        if finding.code in (Code.DOES_NOT_FIT, Code.TIGHT) and short and finding.severity is not Severity.NOTE:
            finding = replace(finding, remedy=best_remedy(subject, improvements))
        yield _at_flag(finding, subject.engine.name, reading)
    if memory is not None and not short and improvements:
        best = improvements[0]
        if best.memory.kv_tokens.value >= 2 * memory.kv_tokens.value:
            yield Remark(Finding(Severity.NOTE, Code.SUBOPTIMAL, "memory", "the KV cache could hold more", best.why))


def _at_flag(finding: Finding, engine: str, reading: Reading) -> Remark:
    """The remark at the option that the finding is about, where there is one."""
    flag = flag_of(engine, finding.where)
    if flag is None:
        return Remark(finding, 0)
    place = occurrence(reading.parsed, flag) if reading.parsed is not None else None
    return Remark(replace(finding, where=flag), 0, at=place.index if place else None)
