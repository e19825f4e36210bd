"""One layout of one candidate: a plan that fits, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from msgspec import Struct

from moonpad.catalog.options import unknown_version
from moonpad.catalog.reasoning_parsers import without_thoughts
from moonpad.plan.candidate import Candidate, Tried, best_of, chosen_context, try_all
from moonpad.plan.judgement import forgive, judge
from moonpad.plan.layouts import legal_layouts
from moonpad.plan.nearest_results import short
from moonpad.plan.parsers import TOOLS, missing_parsers, parser_for, reasoning_parser_for
from moonpad.plan.rules import check
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.plan import Layout, Plan, Serving, Settings
from moonpad.values.plan_answer import Choice, Refused, TurnedDown
from moonpad.values.records import replace


class Fit(Struct, frozen=True):
    """A choice with what it was made of. `steps` are the attempts down to the chosen one."""

    choice: Choice
    candidate: Candidate
    steps: tuple[Tried, ...]


def layouts_of(candidate: Candidate) -> tuple[Layout, ...]:
    """The legal ones that agree with what was fixed; where there is none, the one that stands for the refusal."""
    fixed = candidate.request.layout
    if fixed.keys() == {"tp", "pp", "dp", "ep", "dcp"}:
        return (Layout(**fixed),)  # with all of it fixed, devices may also stay idle
    legal = (
        layout
        for layout in legal_layouts(candidate.base)
        if all(getattr(layout, name) == size for name, size in fixed.items())
    )
    pipelines = candidate.cluster.nodes if candidate.kind != "host" else 1
    refused = Layout(**fixed) if fixed else Layout(tp=candidate.cluster.per_node, pp=pipelines)
    return tuple(legal) or (refused,)


def plan_layout(
    candidate: Candidate, layout: Layout, finish: Callable[[Plan], Plan] = lambda plan: plan
) -> Fit | Refused:
    engine, request = candidate.engine, candidate.request
    first = replace(candidate.start(layout), max_model_len=candidate.context)
    findings = forgive(check(candidate.configuration(layout, first)), request.despite)
    if errors := errors_of(findings):
        judgement = judge(candidate.configuration(layout, first), calibrations=candidate.calibrations)
        return Refused(engine.name, layout, errors, judgement.memory)
    tried = try_all(candidate, layout)
    best = best_of(candidate, layout, tried)
    context = chosen_context(candidate, layout, best.memory)
    settings = candidate.spelled(layout, replace(best.settings, max_model_len=context))
    judgement = judge(
        candidate.configuration(layout, settings),
        context=context,
        sequences=candidate.sequences(layout),
        calibrations=candidate.calibrations,
        despite=request.despite,
    )
    if judgement.errors or judgement.memory is None or judgement.confidence is None:
        return Refused(engine.name, layout, judgement.errors, judgement.memory)
    own = (
        *_own_findings(candidate),
        *missing_parsers(
            engine,
            candidate.base.version,
            candidate.base.architecture.model_type,
            thinks=not without_thoughts(candidate.checkpoint.name),
        ),
    )
    plan = finish(plan_of(candidate, layout, settings))
    steps = [best]
    while steps[0].number:
        steps.insert(0, tried[steps[0].above])
    choice = Choice(
        plan,
        judgement.memory,
        judgement.confidence,
        findings=(*judgement.findings, *own),
        turned_down=tuple(_turned_down(before, after) for before, after in pairwise(steps)),
    )
    return Fit(choice, candidate, tuple(steps))


def _turned_down(before: Tried, after: Tried) -> TurnedDown:
    kv_bytes = after.memory.kv_bytes.value - before.memory.kv_bytes.value
    return TurnedDown(after.what, kv_bytes, after.memory.kv_tokens.value - before.memory.kv_tokens.value)


def _own_findings(candidate: Candidate) -> Iterator[Finding]:
    if note := unknown_version(candidate.engine.program, candidate.engine.name, candidate.base.version):
        yield note
    if (option := candidate.engine.facts.cores_option) and candidate.cluster.host.cores is None:
        message = "how many physical cores each machine has is not known, and the experts run on them"
        yield Finding(Severity.NOTE, Code.MISSING_FLAG, option, message, f"add {option} with that number")


def plan_of(candidate: Candidate, layout: Layout, settings: Settings) -> Plan:
    checkpoint, cluster, engine = candidate.checkpoint, candidate.cluster, candidate.engine
    return Plan(
        name=label(checkpoint.name),
        engine=engine.name,
        platform=cluster.device.platform,
        layout=layout,
        settings=settings,
        serving=Serving(
            short(checkpoint.name) or "model",
            tool_parser=parser_for(engine, candidate.base.version, TOOLS, checkpoint.architecture.model_type),
            reasoning_parser=reasoning_parser_for(
                engine, candidate.base.version, checkpoint.architecture.model_type, checkpoint.name
            ),
            trust_remote_code=candidate.code_in_checkpoint,
        ),
        weights_bytes=checkpoint.total_bytes,
        checkpoint_file=checkpoint.file,
        engine_version=candidate.base.version,
        nodes=cluster.filled_by(layout),
        devices_per_node=0 if candidate.kind == "told" else cluster.per_node,
        scheme=checkpoint.quantization.scheme,
        host_cores=(cluster.host.cores or 0) if engine.facts.cores_option else 0,
    )


def label(model: str) -> str:
    """A name that is a DNS label: `kimi-k2-5` of `moonshotai/Kimi-K2.5`."""
    return re.sub(r"[^a-z0-9]+", "-", short(model).lower())[:63].strip("-") or "moonpad"
