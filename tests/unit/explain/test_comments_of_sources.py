"""Programs in other languages that build a command: their comments start nothing, and pieces leave it open."""

from __future__ import annotations

import pytest

from moonpad.explain.programs import is_server
from moonpad.explain.script import read_script
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

HEAD = 'import { useState } from "react";\n\n'
SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size {}"


def starts(text: str) -> list[list[str]]:
    return [[word.text for word in each.words] for each in read_script(text).commands if is_server(each.program)]


@pytest.mark.parametrize(
    "comment",
    [
        f"// To try it: {SERVE.format(3)}",
        f"/* {SERVE.format(3)} */",
        f"/*\n * Example:\n *   {SERVE.format(3)}\n */",
        f'// {{ cmd: "{SERVE.format(3)}" }},',
        f"const tp = 3; // {SERVE.format(3)} --nope",
    ],
)
def test_comments_start_nothing(comment: str) -> None:
    assert starts(f"{HEAD}{comment}\nexport const a = 1;\n") == []
    code = f'const cmd = "{SERVE.format(8)} --port 8000"; // see http://example.org/a\n'
    (words,) = starts(f"{HEAD}{comment}\n{code}")
    assert words[-4:] == ["--tensor-parallel-size", "8", "--port", "8000"]


@pytest.mark.parametrize(
    "code",
    [
        "const parts = [`vllm serve ${model}`];\nparts.push(`--tensor-parallel-size ${tp}`);\n",
        "const parts: string[] = [\n  'vllm serve moonshotai/Kimi-K2-Thinking',\n];\nif (tp) parts.push('-tp 8');\n",
        'const cmd = "vllm serve moonshotai/Kimi-K2-Thinking" + flags.join(" ");\n',
    ],
)
def test_pieces_leave_the_layout_open(code: str) -> None:
    for judged in ask(f"{HEAD}// moonshotai/Kimi-K2-Thinking\n{code}"):
        assert [each.message for each in judged.findings if each.severity is not Severity.NOTE] == []


def test_a_text_with_a_client_is_read_as_a_shell_does() -> None:
    text = f"{HEAD}// const client = new OpenAI();\n\nIt is started by\n\n{SERVE.format(8)}\n"
    assert len(starts(text)) == 1


@pytest.mark.parametrize(
    "line", ["The server exits with status 0 after Ctrl-C.", "kimi exited with code 0", "code=exited, status=0/SUCCESS"]
)
def test_an_end_with_status_0_is_no_failure(line: str) -> None:
    (judged,) = ask(f"{SERVE.format(8)} --trust-remote-code --reasoning-parser kimi_k2\n\n{line}\n")
    assert not [each for each in judged.findings if str(each.code) == "logged-failure"]
