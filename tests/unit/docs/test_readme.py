"""What the README shows as the output of a command is its output."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from moonpad.cli.command_line import run

README = Path(__file__).parents[3] / "README.md"


def shown() -> list[tuple[str, list[str]]]:
    """(command, the lines below it) of each block that begins with `$ moonpad`."""
    blocks: list[tuple[str, list[str]]] = []
    inside = False
    for line in README.read_text().splitlines():
        if line.startswith("    $ moonpad "):
            blocks.append((line.strip().removeprefix("$ moonpad "), []))
            inside = True
        elif inside and line.startswith("    "):
            blocks[-1][1].append(line.removeprefix("    ").rstrip())
        else:
            inside = False
    return blocks


@pytest.mark.parametrize(("command", "lines"), shown(), ids=lambda value: value if isinstance(value, str) else "")
def test_output_is_what_the_readme_shows(
    command: str, lines: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # measured starts of whoever runs the tests
    run(shlex.split(command))
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines
    assert [line for line in lines if line not in printed] == []


def test_there_is_something_to_check() -> None:
    assert shown()
