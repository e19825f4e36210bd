"""What `explain` knows of an engine, it has from the engine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from moonpad.engines import ENGINES
from moonpad.engines.command_line import Build, CommandLine, Program
from moonpad.engines.vllm import VLLM
from moonpad.explain.programs import OTHERS, program_table
from moonpad.explain.script import read_command, read_script
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from tests.unit.explain.judging import ask


def names() -> set[str]:
    """Engines, what they call themselves, and their programs."""
    table = program_table()
    labels = {program.label for program in table.programs.values()}
    starts = {" ".join(words) for words in table.commands}
    return {*ENGINES, *table.programs, *labels, *starts} - {"", *OTHERS}


def strings(path: Path) -> Iterator[str]:
    """The string constants of a module that are not docstrings: no statements of their own."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            yield node.value


FACTS = replace(VLLM.facts, name="moonpedal", platforms=(Platform.CUDA,))
# An engine that does not exist, on the command line of one that does.
LINE = CommandLine(
    options={**VLLM.command_line.options, "tp": "--ranks"},
    programs=(
        Program(
            "moonpedal",
            label="Moonpedal",
            commands=("moonpedal", "moonpedal.server"),
            files=("moonpedal/main.py",),
            images="moonpedal-server",
        ),
        Program("moonpedal bench", kind="client", commands=("moonpedal bench",)),
    ),
    names=("moonpedal",),
    images=("moonpedal-server",),
    launchers=("pedal-all",),
    key_env="PEDAL_KEY",
    open_by_default=True,
    port=7777,
)


INVENTED = replace(VLLM, facts=FACTS, program="moonpedal", command_line=LINE)


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(LINE, programs=(), names=(), images=(), build=Build("moonpedal", options=("--small-",)))
    mini = replace(VLLM.facts, name="moonpedal-mini", platforms=(Platform.CUDA,))
    monkeypatch.setitem(ENGINES, "moonpedal", INVENTED)  # type: ignore[arg-type]
    monkeypatch.setitem(ENGINES, "moonpedal-mini", replace(INVENTED, facts=mini, command_line=small))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("moonpedal m --ranks 8", "m"),
        ("sudo pedal-all moonpedal m", "m"),
        ("python -m moonpedal.server m", "m"),
        ("python3 /opt/moonpedal/main.py m", "m"),
        ("docker run --gpus all example.com/moonpedal-server:v1.2 m", "m"),
        ("docker run image moonpedal m", "m"),
    ],
)
@pytest.mark.usefixtures("invented")
def test_programs_of_a_new_engine(line: str, argv: str) -> None:
    (command,) = read_script(f"{line}\n", markdown=False).commands
    assert (command.program, command.argv[0].text) == ("moonpedal", argv)


@pytest.mark.usefixtures("invented")
def test_versions_of_a_new_engine() -> None:
    script = read_script("# Moonpedal (1.2)\npip install moonpedal==1.3\ndocker pull moonpedal-server:v1.4\n")
    assert script.versions == {"moonpedal": "1.3"}


@pytest.mark.usefixtures("invented")
def test_a_new_engine_is_judged() -> None:
    (judged,) = ask("moonpedal org/m --tensor-parallel-size 8")  # of its memory nothing is measured
    assert (judged.engine, judged.layout and judged.layout.tp) == ("moonpedal", 8)
    assert any("port 7777" in finding.message for finding in judged.findings)
    (judged,) = ask("PEDAL_KEY=x moonpedal m --small-ranks 1")
    assert judged.engine == "moonpedal-mini"
    assert not any(finding.where == "--host" for finding in judged.findings)


@pytest.mark.usefixtures("invented")
def test_a_session_at_a_root_prompt_with_a_new_engine() -> None:
    (command,) = read_script("```console\n# moonpedal m\nready\n```\n").commands
    assert command.program == "moonpedal"


def test_without_it_no_such_program_is_known() -> None:
    assert [command.program for command in read_command(("moonpedal", "m")).commands] == ["other"]
