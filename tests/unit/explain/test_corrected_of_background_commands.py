"""A corrected command has no `nohup` without the `&` and the file that belong to it."""

from __future__ import annotations

import pytest

from moonpad.report.shell_line import typed_lines
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --host 127.0.0.1 -tp 8 --trust-remote-code --enable-auto-tool-choice"


def corrected(text: str) -> list[str]:
    (judged,) = ask(text, "8xB300")
    (line,) = judged.corrected
    return " ".join(typed_lines(line)).replace("\\", " ").split()


@pytest.mark.parametrize(
    ("front", "behind", "left"),
    [
        ("nohup ", "> serve.log 2>&1 &", "vllm serve"),
        ("sudo -E nohup ", "&> serve.log &", "sudo -E vllm serve"),
        ("A=1 nohup env B=2 ", "> serve.log &", "A=1 env B=2 vllm serve"),
        ("nohup numactl -N 0 ", "&", "numactl -N 0 vllm serve"),
        ("numactl -N 0 ", "", "numactl -N 0 vllm serve"),
    ],
)
def test_it_stands_in_the_foreground(front: str, behind: str, left: str) -> None:
    words = corrected(f"{front}{SERVE} --tool-call-parser kimi {behind}\n")
    assert words[: len(left.split())] == left.split()
    assert not {"nohup", "&", "serve.log"} & {*words}
    assert words[words.index("--tool-call-parser") + 1] == "kimi_k2"
