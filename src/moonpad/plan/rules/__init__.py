"""Whether an engine can serve a configuration, rule by rule; each rule has its evidence in the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from moonpad.plan.rules.context import speculative_findings
from moonpad.plan.rules.registry import GENERAL, rule_id
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, Severity, illegal
from moonpad.values.plan import Layout

__all__ = ["check", "check_by_rule", "is_legal", "speculative_findings"]


def check(configuration: Configuration) -> tuple[Finding, ...]:
    """What is wrong with it. An error: the engine refuses it or fails. A warning: it works, badly.

    `where` is a key of the layout or of the settings, or `quantization`, or `engine`.
    """
    return tuple(finding for _, finding in check_by_rule(configuration))


def check_by_rule(configuration: Configuration) -> Iterator[tuple[str, Finding]]:
    """The same with the id of each rule that objects; `rules.toml` has its evidence.

    Every other rule divides by the degrees of parallelism, so one below 1 is reported alone.
    """
    broken = tuple(_degrees(configuration.layout))
    if broken:
        yield from (("degrees-positive", finding) for finding in broken)
        return
    for function in (*GENERAL, *configuration.engine.rules):
        for finding in function(configuration):
            yield rule_id(function), finding


def is_legal(configuration: Configuration) -> bool:
    """Whether no rule objects with an error; stops at the first one."""
    return not any(finding.severity is Severity.ERROR for _, finding in check_by_rule(configuration))


def _degrees(layout: Layout) -> Iterator[Finding]:
    for degree in fields(layout):
        count = getattr(layout, degree.name)
        if count < 1:
            yield illegal(degree.name, f"{degree.name} is {count}, and a degree of parallelism is at least 1", "set 1")
