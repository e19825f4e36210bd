"""Every SGLang command of the examples, put to the parser and the resolver of the SGLang that is installed here.

The wheel is the one that devices have too. Nothing is started, so this says nothing of whether it works.
"""

from __future__ import annotations

import pytest

from moonpad.environments.installed import find
from tests.engines.commands import ROOT, Command, commands, judged

pytestmark = pytest.mark.slow

PLUGINS = ROOT / "src" / "moonpad" / "catalog" / "plugins"


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Command]:
    selected = [
        command for command in commands(tmp_path_factory.mktemp("models")) if command.engine.startswith("sglang")
    ]
    assert len(selected) >= 6
    return selected


@pytest.fixture(scope="module")
def verdicts(cases: list[Command]) -> dict[str, str]:
    engine = find("sglang-cpu")
    if engine is None:
        pytest.skip("no engine here: moonpad engine install sglang-cpu")
    lines = {command.name: command.argv for command in cases}
    control = lines["instruct-2x8xh200-sglang-tp16: engine"]
    lines["control"] = (*control, "--moonshot-speed", "9")
    lines["control of the layout"] = (*control, "--attn-dp-size", "3")
    return judged("sglang_judge.py", engine.python, lines, PYTHONPATH=str(PLUGINS))


def test_the_parser_and_the_resolver_take_every_command(cases: list[Command], verdicts: dict[str, str]) -> None:
    assert {command.name: verdicts[command.name] for command in cases if verdicts[command.name]} == {}
    print(f"{len(cases)} of {len(cases)} parsed and resolved")


def test_both_refuse_what_is_wrong(verdicts: dict[str, str]) -> None:
    assert verdicts["control"].startswith("parser: ")
    assert verdicts["control of the layout"].startswith("configuration: ")
