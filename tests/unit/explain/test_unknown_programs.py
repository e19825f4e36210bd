"""Options of a program that is not known: a server's, or those of a client that asks one."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

OPTIONS = "--model moonshotai/Kimi-K2-Instruct --max-model-len 4096 --tensor-parallel-size 8"


@pytest.mark.parametrize(
    ("program", "serves"),
    [
        ("./quality_regression.py", False),
        ("python smoke_api.py", False),
        ("./stress.sh", False),
        ("./load_test.py", False),
        ("./serve.sh", True),
        ("python start_engine.py", True),
    ],
)
def test_by_its_name(program: str, serves: bool) -> None:
    programs = {command.program for command in read_script(f"{program} {OPTIONS}\n").commands}
    assert (programs != {"other"}) == serves
