r"""`--port \$port`: the shell hands the letters on, unless another shell reads them. Bash itself says which it is."""

from __future__ import annotations

import subprocess

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import only_server

HEAD = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --trust-remote-code"
SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --trust-remote-code --tensor-parallel-size 8"

SLIPS = [
    f"PORT=8888\n{HEAD} --tp 8 --port \\$PORT\n",
    f"PORT=8888\n{HEAD} --tp 8 --port=\\$PORT\n",
    f'PORT=8888\n{HEAD} --tp 8 --port "\\$PORT"\n',
    f"PORT=8888\n{HEAD} --tp 8 --port \\${{PORT}}\n",
    f"PORT=8888\n{HEAD} --tp 8 --port '$PORT'\n",
    f"PORT=8888\nexport PORT\nbash -c '{SERVE} --port \\$PORT'\n",
    f"PORT=8888\nexport PORT\nbash <<'EOF'\n{SERVE} --port \\$PORT\nEOF\n",
]
MEANT = [
    f"PORT=8888\n{HEAD} --tp 8 --port $PORT\n",
    f'PORT=8888\nexport PORT\nbash -c "{SERVE} --port \\$PORT"\n',
    f"PORT=8888\nexport PORT\nbash <<EOF\n{SERVE} --port \\$PORT\nEOF\n",
    f"PORT=8888\nexport PORT\ncat > run.sh <<EOF\n{SERVE} --port \\$PORT\nEOF\nbash run.sh\n",
    f"PORT=8888\neval {SERVE} --port \\$PORT\n",
    f"PORT=8888\neval {SERVE} --port '$PORT'\n",
]
PRINTS = 'vllm() { printf "%s\\n" "$@"; }\npython3() { vllm "$@"; }\nexport -f vllm python3\n'


def handed_on(script: str, folder: object) -> list[str]:
    """The words that bash hands to the engine."""
    shell = ["bash", "--norc", "-c", PRINTS + script]
    return subprocess.run(shell, check=True, capture_output=True, text=True, cwd=str(folder)).stdout.split("\n")


def problems(script: str) -> list[str]:
    return [problem.code for problem in read_script(script).problems]


@pytest.mark.parametrize("script", SLIPS)
def test_bash_hands_on_the_letters(script: str, tmp_path: object) -> None:
    assert any("$" in word for word in handed_on(script, tmp_path))
    assert problems(script) == ["escaped-dollar"]


@pytest.mark.parametrize("script", MEANT)
def test_another_shell_puts_the_value_there(script: str, tmp_path: object) -> None:
    assert any("8888" in word for word in handed_on(script, tmp_path))
    assert problems(script) == []


@pytest.mark.parametrize(
    "line",
    [
        f"{SERVE} --served-model-name 'k2$'",
        f'{SERVE} --override-generation-config \'{{"a": "$B"}}\'',
        "echo vllm serve --port \\$PORT",
    ],
)
def test_other_dollars_are_letters_that_were_meant(line: str) -> None:
    assert "escaped-dollar" not in problems(line)


def test_what_was_meant_is_judged() -> None:
    judged = only_server(f"TP=4\n{HEAD} --tp \\$TP --port 8000\n")
    assert judged.layout is not None
    assert judged.layout.tp == 4


def test_the_corrected_command_lets_the_shell_fill_it_in() -> None:
    judged = only_server(f"{HEAD} --tp 8 --port \\$PORT\n")
    assert judged.corrected
    line = judged.corrected[0]
    assert line.argv[line.argv.index("--port") + 1] == "$PORT"
    assert "PORT" in line.unresolved
