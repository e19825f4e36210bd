"""What the rules say of a layout that was read, at the flags that it was read from."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.engines.base import Reading
from moonpad.explain.better import Subject
from moonpad.explain.judged import Remark
from moonpad.explain.spelling import flag_of, occurrence
from moonpad.plan.rules import check


def layout_remarks(subject: Subject, reading: Reading) -> Iterator[Remark]:
    """Findings of the rules; `where` becomes the engine's own flag."""
    findings = check(
        subject.checkpoint,
        subject.cluster,
        subject.engine,
        subject.version,
        subject.layout,
        subject.settings,
        attention_dp=reading.attention_dp or None,
    )
    for finding in findings:
        yield at_flag(Remark(finding, 0), subject.engine, reading, finding.where)


def at_flag(remark: Remark, engine: str, reading: Reading, name: str) -> Remark:
    """The remark at the option that says `name`, where there is one."""
    from dataclasses import replace

    flag = flag_of(engine, name)
    if flag is None:
        return remark
    place = occurrence(reading.parsed, flag) if reading.parsed is not None else None
    finding = replace(remark.finding, where=flag)
    return replace(remark, finding=finding, at=place.index if place else None)
