"""What the user of a script may set from outside stays a variable in the corrected command: bash fills in the default,
or what is set."""

from __future__ import annotations

import subprocess

import pytest

from moonpad.report.shell_line import typed_lines
from tests.unit.explain.judging import ask

SERVE = (
    "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code -tp 8 --reasoning-parser kimi_k2 --tool-call-parser kimi_k2"
)


def corrected(text: str) -> str:
    (judged,) = ask(text, "8xB300")
    (line,) = judged.corrected
    return "\n".join(typed_lines(line))


def value(command: str, flag: str, given: dict[str, str]) -> str:
    script = f"vllm() {{ printf '%s\\n' \"$@\"; }}\n{command}"
    env = {"PATH": "/usr/bin:/bin", **given}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, check=True)
    words = done.stdout.replace(f"{flag}=", f"{flag}\n").split("\n")
    return words[words.index(flag) + 1]


@pytest.mark.parametrize(
    "text",
    [
        f'PORT="${{PORT:-8010}}"\n{SERVE} --port "${{PORT}}"\n',
        f"export PORT=${{PORT:-8010}}\n{SERVE} --port $PORT\n",
        f': "${{PORT:=8010}}"\n{SERVE} --port ${{PORT}}\n',
        f'{SERVE} --port "${{PORT:-8010}}"\n',
        f"{SERVE} --port=${{PORT:-8010}}\n",
        f"```bash\nPORT=${{PORT-8010}}\n{SERVE} --port $PORT\n```\n",
    ],
)
def test_it_may_be_set(text: str) -> None:
    command = corrected(text)
    assert "--enable-auto-tool-choice" in command
    assert value(command, "--port", {}) == "8010"
    assert value(command, "--port", {"PORT": "9000"}) == "9000"


def test_the_model_too() -> None:
    command = corrected(f"MODEL=${{MODEL:-moonshotai/Kimi-K2.5}}\n{SERVE.replace('moonshotai/Kimi-K2.5', '$MODEL')}\n")
    assert value(command, "serve", {}) == "moonshotai/Kimi-K2.5"
    assert value(command, "serve", {"MODEL": "/models/k25"}) == "/models/k25"


@pytest.mark.parametrize(
    "text",
    [
        f"PORT=8010\n{SERVE} --port $PORT\n",  # the script's own
        f"PORT=${{PORT:-8009}}\nPORT=8010\n{SERVE} --port $PORT\n",  # set anew
        f"PORT=${{1:-8010}}\n{SERVE} --port $PORT\n",  # its first argument, which a pasted line has none of
        f"PORT=${{OTHER:-8010}}\n{SERVE} --port $PORT\n",
    ],
)
def test_what_the_script_sets_is_written_out(text: str) -> None:
    assert "--port 8010" in corrected(text)


def test_a_value_that_is_corrected_is_that_of_the_correction() -> None:
    parser = "--trust-remote-code -tp 8 --reasoning-parser kimi_k2 --enable-auto-tool-choice --tool-call-parser"
    text = f"PARSER=${{PARSER:-hermes}}\nvllm serve moonshotai/Kimi-K2.5 {parser} $PARSER\n"
    assert value(corrected(text), "--tool-call-parser", {"PARSER": "hermes"}) == "kimi_k2"
