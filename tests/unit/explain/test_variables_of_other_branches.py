"""Variables that no release of the engine reads, and releases of which the command need not be."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask, ask_one

RUN = "docker run --gpus all --ipc=host {} {} python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct"
HACK = "SGLANG_HACK_DEEPEP_NEW_MODE"


def of_variables(options: str, image: str) -> list[Finding]:
    return [
        each
        for one in ask(RUN.format(options, image))
        for each in one.findings
        if each.code is Code.DEAD_ENV and "no release" in each.message
    ]


@pytest.mark.parametrize("image", ["lmsysorg/sglang:deepep", "lmsysorg/sglang:v0.5.9"])
def test_a_variable_of_no_release(image: str) -> None:
    (found,) = of_variables(f"-e {HACK}=0", image)
    assert found.severity is Severity.NOTE
    assert HACK in found.message


@pytest.mark.parametrize(
    ("options", "image"),
    [
        ("-e SGLANG_SET_CPU_AFFINITY=1", "lmsysorg/sglang:v0.5.9"),
        ("-e SGLANG_SET_CPU_AFINITY=1", "lmsysorg/sglang:v0.5.9"),  # a slip, of which more is said
        (f"-e {HACK}=0", "registry.example/team/sglang:ours"),
        ("-e HACK_MODE=0", "lmsysorg/sglang:v0.5.9"),
    ],
)
def test_what_is_read_or_may_be(options: str, image: str) -> None:
    assert of_variables(options, image) == []


def test_a_former_name_is_a_note_where_no_release_is_named() -> None:
    command = (
        "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --dp 4 --enable-dp-attention"
    )
    for version, severity in (("", Severity.NOTE), ("0.5.23", Severity.WARNING)):
        judged = ask_one(command, on="2x8xH200", version=version)
        assert [each.severity for each in judged.findings if "deprecated" in each.message] == [severity]
