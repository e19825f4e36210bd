"""Servers whose side is told by the branch of the script that starts them."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

ARGS = "python3 -m sglang.launch_server --model-path org/m --tp-size 4 --port {}\n"
BRANCHES = {
    "if": 'if [ "${ROLE}" = "prefill" ]; then\n  %selif [ "${ROLE}" = "decode" ]; then\n  %sfi\n',
    "double brackets": "if [[ $ROLE == prefill ]]; then\n  %sfi\nif [[ $ROLE == decode ]]; then\n  %sfi\n",
    "case": 'case "$ROLE" in\n  prefill)\n    %s    ;;\n  decode)\n    %s    ;;\nesac\n',
}


def roles(text: str) -> list[str]:
    return [command.role for command in read_script(text).commands if command.program == "sglang"]


@pytest.mark.parametrize("branches", BRANCHES.values(), ids=BRANCHES.keys())
def test_both_branches(branches: str) -> None:
    assert roles("#!/bin/bash\n" + branches % (ARGS.format(8000), ARGS.format(8001))) == ["prefill", "decode"]


@pytest.mark.parametrize(
    "text",
    [
        'if [ "$ROLE" = "prefill" ]; then\n  export A=1\nfi\n' + ARGS.format(8000),
        'if [ "$ROLE" = "prefill" ]; then\n  ' + ARGS.format(8000) + "else\n  " + ARGS.format(8001) + "fi\n",
    ],
    ids=["behind the branch", "one side alone"],
)
def test_nothing_is_said_otherwise(text: str) -> None:
    assert set(roles("#!/bin/bash\n" + text)) == {""}
