"""Whether an engine can serve a checkpoint in a layout, rule by rule; each rule has its evidence in the catalogue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from moonpad.catalog.rules import RuleRow, rule_rows
from moonpad.plan.rules.attention import FP8_KV_NAMES
from moonpad.plan.rules.backends import attention_backends, chosen
from moonpad.plan.rules.case import ATTENTION_DP, Case, illegal
from moonpad.plan.rules.context import speculative_findings
from moonpad.plan.rules.registry import FUNCTIONS, rule_id
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Finding, Severity
from moonpad.values.plan import Layout, Settings

__all__ = [
    "FP8_KV_NAMES",
    "attention_backends",
    "check",
    "check_by_rule",
    "decoding_backend",
    "is_legal",
    "rules",
    "speculative_findings",
]


def check(
    checkpoint: Checkpoint,
    cluster: Cluster,
    engine: str,
    version: str,
    layout: Layout,
    settings: Settings,
    *,
    attention_dp: bool | None = None,
) -> tuple[Finding, ...]:
    """What is wrong with serving `checkpoint` so. An error: the engine refuses it or fails. A warning: it works, badly.

    `version` "": the newest. `attention_dp`: whether data parallelism is that of attention alone; None: as the engine
    has it, which for SGLang, TensorRT-LLM and KTransformers is yes. `where` is a key of the layout or of the settings,
    or `quantization`, or `engine`.
    """
    case = _case(checkpoint, cluster, engine, version, layout, settings, attention_dp)
    return tuple(finding for _, finding in _judge(case))


def check_by_rule(
    checkpoint: Checkpoint,
    cluster: Cluster,
    engine: str,
    version: str,
    layout: Layout,
    settings: Settings,
    *,
    attention_dp: bool | None = None,
) -> tuple[tuple[str, Finding], ...]:
    """The same with the id of the rule that speaks; `rules()` has its evidence."""
    return tuple(_judge(_case(checkpoint, cluster, engine, version, layout, settings, attention_dp)))


def is_legal(
    checkpoint: Checkpoint, cluster: Cluster, engine: str, version: str, layout: Layout, settings: Settings
) -> bool:
    """Whether no rule objects with an error; stops at the first one."""
    case = _case(checkpoint, cluster, engine, version, layout, settings, None)
    return not any(finding.severity is Severity.ERROR for _, finding in _judge(case))


def decoding_backend(
    checkpoint: Checkpoint, cluster: Cluster, engine: str, version: str, layout: Layout, settings: Settings
) -> str | None:
    """The attention backend that decodes: the one that was asked for, or the engine's own choice."""
    backend = chosen(_case(checkpoint, cluster, engine, version, layout, settings, None))
    return None if backend is None else backend.name


def rules() -> Mapping[str, RuleRow]:
    """Every rule by its id, with its sentence and its evidence."""
    return rule_rows()


def _case(
    checkpoint: Checkpoint,
    cluster: Cluster,
    engine: str,
    version: str,
    layout: Layout,
    settings: Settings,
    attention_dp: bool | None,
) -> Case:
    inside = engine in ATTENTION_DP if attention_dp is None else attention_dp
    return Case(checkpoint, cluster, engine, version, layout, settings, inside)


def _judge(case: Case) -> Iterator[tuple[str, Finding]]:
    """Every other rule divides by the degrees, so one below 1 is said alone."""
    broken = tuple(_degrees(case.layout))
    if broken:
        yield from (("degrees-positive", finding) for finding in broken)
        return
    for function in FUNCTIONS:
        for finding in function(case):
            yield rule_id(function), finding


def _degrees(layout: Layout) -> Iterator[Finding]:
    for degree in fields(layout):
        count = getattr(layout, degree.name)
        if count < 1:
            yield illegal(degree.name, f"{degree.name} is {count}, and a degree of parallelism is at least 1", "set 1")
