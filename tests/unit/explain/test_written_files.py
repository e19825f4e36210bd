"""A file that a script writes under one name and reads under another; where a program lies."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, only_server

WRITES = "cat > ./disagg-config.yml <<EOF\nhostname: localhost\nEOF\n"
SERVE = "trtllm-serve deepseek-ai/DeepSeek-V3 --tp_size 8 --extra_llm_api_options"


def said(text: str) -> list[str]:
    return [each.message for judged in ask(text) for each in judged.findings if "nothing here writes" in each.message]


@pytest.mark.parametrize("name", ["disagg-config.yaml", "./disagg-config.yaml", "disagg_config.yml"])
def test_another_ending_is_another_file(name: str) -> None:
    (message,) = said(f"{WRITES}{SERVE} {name}")
    assert message.startswith("line 4: line 1 writes disagg-config.yml, and nothing here writes ")


@pytest.mark.parametrize(
    "text",
    [
        f"{WRITES}{SERVE} disagg-config.yml",
        f"{WRITES}{SERVE} ./disagg-config.yml",
        f"{WRITES}cp disagg-config.yml disagg-config.yaml\n{SERVE} disagg-config.yaml",
        f"{WRITES}{SERVE} other.yaml",
        f"{WRITES}{SERVE} /etc/disagg-config.yaml",
        f"{WRITES}{SERVE} $DIR/disagg-config.yaml",
        "cat > a.yml <<EOF\ninclude: b.yaml\nEOF\n" + SERVE + " a.yml",
        WRITES + "cat > disagg-config.yaml <<EOF\nx: 1\nEOF\n" + SERVE + " disagg-config.yaml",
    ],
)
def test_files_that_are_there_or_elsewhere(text: str) -> None:
    assert not said(text)


@pytest.mark.parametrize(
    "found", ['command -v vllm || echo "/usr/local/bin/vllm"', "which vllm", "command -v vllm 2>/dev/null"]
)
def test_a_program_that_the_script_looks_for_is_that_program(found: str) -> None:
    judged = only_server(f'ENTRY=$({found})\nexec "$ENTRY" serve moonshotai/Kimi-K2-Instruct -tp 8\n')
    assert judged.engine == "vllm"
    assert judged.layout is not None
    assert judged.layout.tp == 8
