"""Every option and every variable of the Ascend commands of the examples stands in what their makers published.

No such device was here, and vLLM-Ascend is not installed without one: `documented`, and no more.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.engines.commands import commands

SOURCES = Path(__file__).with_name("ascend_sources.toml")


def test_each_has_its_source(tmp_path: Path) -> None:
    sources = tomllib.loads(SOURCES.read_text())
    ascend_commands = [command for command in commands(tmp_path) if command.engine == "vllm-ascend"]
    assert len(ascend_commands) == 7
    options = {word for command in ascend_commands for word in command.argv if word.startswith("--")}
    variables = set().union(*(command.variables for command in ascend_commands))
    assert options == set(sources["options"])
    assert variables == set(sources["variables"])
    print(f"{len(options)} of {len(options)} options, {len(variables)} of {len(variables)} variables have a source")
