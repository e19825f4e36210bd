"""What `moonpad plan` says to type, `moonpad explain` reads as the same plan, and has nothing against it."""

from __future__ import annotations

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import find_model
from moonpad.engines import ENGINES
from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.plan.request import Request
from moonpad.plan.search import Known, search
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.report.plan_commands import commands_of
from moonpad.values.deployment import Executable
from moonpad.values.finding import Code, Severity
from moonpad.values.plan_answer import Choice

CASES = [
    ("moonshotai/Kimi-K2-Thinking", "8xH200", "throughput"),
    ("moonshotai/Kimi-K2-Thinking", "8xH100", "context"),
    ("moonshotai/Kimi-K2-Thinking", "16xA3", "latency"),
    ("moonshotai/Kimi-K2-Thinking", "8xMI300X", "latency"),
    ("moonshotai/Kimi-K2-Instruct", "2x8xH200", "latency"),
]


TRUST = ("--trust-remote-code", "--trust_remote_code")
"""The tokenizer's own code is run, and each command that does so is warned of it."""


def typed(choice: Choice, model: str) -> str:
    engine = ENGINES[choice.plan.engine]
    commands = commands_of(engine.processes(choice.plan, Executable((engine.command,))), model)
    return "\n\n".join("\n".join(command.lines()) for command in commands)


@pytest.mark.parametrize(("model", "on", "goal"), CASES)
def test_plans_are_accepted(model: str, on: str, goal: str) -> None:
    known = find_model(model)
    assert known is not None
    checkpoint, cluster = catalog_checkpoint(known), parse_cluster(on)
    what_is_known = Known(calibrations=calibrations(), code_in_checkpoint=True)
    answer = search(checkpoint, cluster, Request(goal=goal), what_is_known)  # type: ignore[arg-type]
    assert answer.choices
    for choice in answer.choices:
        question = Question(checkpoint, cluster, choice.plan.engine_version)
        (judged,) = judge(read_script(typed(choice, model)), question, calibrations())
        worse = {
            found.code for found in judged.findings if found.severity is not Severity.NOTE and found.where not in TRUST
        }
        if choice.plan.engine == "ktransformers" and not choice.plan.host_cores:
            worse -= {Code.MISSING_FLAG}  # --kt-cpuinfer, which nobody can know without the host
        assert worse <= {Code.SUBOPTIMAL, Code.TIGHT}, judged.findings
        assert (judged.engine, judged.layout) == (choice.plan.engine, choice.plan.layout)
        assert judged.memory is not None
        assert judged.memory.kv_tokens == choice.memory.kv_tokens
        assert judged.memory.weights == choice.memory.weights
