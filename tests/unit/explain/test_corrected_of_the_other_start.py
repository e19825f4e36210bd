"""A start that takes the place of another, `Or, line 5`, is corrected too where its own fault can be mended."""

from __future__ import annotations

import shlex

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

RUN = "docker run --rm --name k25 --ipc=host --network=host --device /dev/kfd --device /dev/dri rocm/vllm-dev:nightly"
SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 4 --trust-remote-code --block-size 1"
PARSERS = "--tool-call-parser kimi_k2 --reasoning-parser kimi_k2"


def behind_or(second: str) -> str:
    text = f"{RUN} {SERVE}\n\nWith tools:\n\n{RUN} {second}\n"
    return explain_view(ask(text), read_script(text), 100).plain.partition("\nOr, line 5")[2]


def test_the_flag_that_lacks_is_in_the_corrected_command() -> None:
    shown = behind_or(f"{SERVE} {PARSERS}")
    corrected = shown.partition("Corrected\n")[2].partition("As nearly")[0]
    words = shlex.split(corrected.replace("\\\n", " "))
    assert words == [*shlex.split(f"{RUN} {SERVE} {PARSERS}"), "--enable-auto-tool-choice"]


def test_what_has_no_fault_of_its_own_is_not_shown_again() -> None:
    shown = behind_or(f"{SERVE} {PARSERS} --enable-auto-tool-choice --max-model-len 32768")
    assert "--max-model-len 32768" in shown
    assert "Corrected" not in shown
