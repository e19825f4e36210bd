"""One layout of one candidate: a plan that fits, or the reason why not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from moonpad.plan.candidate import Candidate, Tried, best_of, chosen_context, confidence_of, try_all
from moonpad.plan.host import KTRANSFORMERS
from moonpad.plan.layouts import legal_layouts
from moonpad.plan.parsers import REASONING, TOOLS, missing_parsers, parser_of
from moonpad.plan.references import short
from moonpad.plan.shortage import does_not_fit
from moonpad.values.choice import Choice, Confidence, Refused
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Plan, Serving, Settings
from moonpad.values.units import gib


@dataclass(frozen=True, slots=True)
class Found:
    """A choice with what it was made of. `steps` are the rungs down to the chosen one."""

    choice: Choice
    candidate: Candidate
    steps: tuple[Tried, ...]


def layouts_of(candidate: Candidate) -> tuple[Layout, ...]:
    """The legal ones that agree with what was fixed; where there is none, the one that stands for the refusal."""
    fixed = candidate.request.layout
    legal = legal_layouts(candidate.checkpoint, candidate.cluster, candidate.engine.name, candidate.version)
    found = tuple(one for one in legal if all(getattr(one, name) == size for name, size in fixed.items()))
    return found or (_stand_in(candidate),)


def _stand_in(candidate: Candidate) -> Layout:
    if candidate.request.layout:
        return Layout(**candidate.request.layout)
    pipelines = candidate.cluster.nodes if candidate.kind != "host" else 1
    return Layout(tp=candidate.cluster.per_node, pp=pipelines)


def judge(candidate: Candidate, layout: Layout) -> Found | Refused:
    engine = candidate.engine.name
    first = candidate.ladder(layout)[0].settings
    if errors := errors_of(candidate.rules(layout, replace(first, max_model_len=candidate.context))):
        return Refused(engine, layout, errors)
    tried = try_all(candidate, layout)
    best = best_of(candidate, layout, tried)
    context = chosen_context(candidate, layout, best.memory)
    settings = candidate.spelled(layout, replace(best.rung.settings, max_model_len=context))
    memory = candidate.memory(layout, settings, context)
    findings = candidate.rules(layout, settings)
    if errors := errors_of(findings):
        return Refused(engine, layout, errors, memory)
    if not candidate.holds(layout, memory, context, "high"):
        return Refused(engine, layout, (does_not_fit(candidate, layout, settings, memory),), memory)
    confidence = confidence_of(candidate, layout, memory, context)
    own = (
        *_own_findings(candidate, layout, memory, confidence, context),
        *((DRAFT_APART,) if settings.draft_tokens else ()),
        *missing_parsers(engine, candidate.engine.program, candidate.version),
    )
    choice = Choice(plan_of(candidate, layout, settings), memory, confidence, findings=(*own, *findings))
    return Found(choice, candidate, _steps(tried, best))


def _steps(tried: Sequence[Tried], last: Tried) -> tuple[Tried, ...]:
    steps = [last]
    while steps[0].number:
        steps.insert(0, tried[steps[0].rung.above])
    return tuple(steps)


def _own_findings(
    candidate: Candidate, layout: Layout, memory: Memory, confidence: Confidence, context: int
) -> Iterator[Finding]:
    if confidence == "tight":
        yield Finding(
            Severity.WARNING,
            Code.TIGHT,
            "max_model_len",
            f"{context:,} tokens fit only if everything else takes less than expected: "
            f"{_left(memory)} for the KV cache on each device",
            "start it and read the engine's own figure, or ask for fewer tokens",
        )
    elif memory.max_context.low < context:
        yield Finding(
            Severity.NOTE,
            Code.TIGHT,
            "max_model_len",
            f"at the careful end of the estimate {max(0, int(memory.max_context.low)):,} tokens fit, not {context:,}: "
            f"{_left(memory)} for the KV cache on each device",
            "start it and read the engine's own figure",
        )
    host = memory.host
    if host is not None and host.available_bytes is None:
        yield Finding(
            Severity.NOTE,
            Code.MEMORY_LOW,
            "host memory",
            f"each machine needs {gib(host.needed_bytes)} of RAM, and how much it has is not known",
            "compare it with `free -g` on the machine",
        )
    if candidate.engine.name == KTRANSFORMERS and candidate.cluster.host.cores is None:
        yield Finding(
            Severity.NOTE,
            Code.MISSING_FLAG,
            "--kt-cpuinfer",
            "how many physical cores each machine has is not known, and the experts run on them",
            "add --kt-cpuinfer with that number, and --kt-threadpool-count with the number of NUMA nodes",
        )


DRAFT_APART: Final = Finding(
    Severity.NOTE,
    Code.TIGHT,
    "draft",
    "the draft model's weights and its own KV cache are not counted: what is left for the KV cache is less by them",
    "start it and read the engine's own figure",
)


def _left(memory: Memory) -> str:
    low, high = memory.kv_bytes.low, gib(memory.kv_bytes.high)
    return f"{gib(low)} to {high} are left" if low > 0 else f"between nothing and {high} is left"


def plan_of(candidate: Candidate, layout: Layout, settings: Settings) -> Plan:
    checkpoint, cluster = candidate.checkpoint, candidate.cluster
    return Plan(
        name=label(checkpoint.name),
        engine=candidate.engine.name,
        platform=cluster.device.platform,
        layout=layout,
        settings=settings,
        serving=Serving(
            short(checkpoint.name) or "model",
            tool_parser=parser_of(candidate.engine.program, candidate.version, TOOLS),
            reasoning_parser=parser_of(candidate.engine.program, candidate.version, REASONING),
            trust_remote_code=candidate.code_in_checkpoint,
        ),
        weights_bytes=checkpoint.total_bytes,
        engine_version=candidate.version,
        nodes=cluster.filled_by(layout),
        devices_per_node=0 if candidate.kind == "told" else cluster.per_node,
        scheme=checkpoint.quantization.scheme,
        host_cores=(cluster.host.cores or 0) if candidate.engine.name == KTRANSFORMERS else 0,
    )


def label(model: str) -> str:
    """A name that is a DNS label: `kimi-k2-5` of `moonshotai/Kimi-K2.5`."""
    return re.sub(r"[^a-z0-9]+", "-", short(model).lower())[:63].strip("-") or "moonpad"
