"""What the user of a script may set from outside stays a variable in the corrected command: bash fills in the default,
or what is set."""

from __future__ import annotations

import subprocess

import pytest

from moonpad.report.shell_line import filled_lines, typed_lines
from moonpad.values.finding import Severity
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


LEFT_TO_THE_USER = """#!/bin/bash
CACHE="${{CACHE:-}}"
SIF=${{SIF:-}}
EXTRA="${{EXTRA:-}}"
: "${{DATA:=$CACHE/data}}"
export HF_HOME="$CACHE/hf" DATA
{start} \\
  serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code --disable-log-requests {options}
"""


def left(start: str, options: str) -> str:
    text = LEFT_TO_THE_USER.format(start=start, options=options)
    (judged,) = ask(text, "8xH200", "0.20.0")
    (line,) = judged.corrected
    assert "--disable-log-requests" not in line.argv
    return " ".join(filled_lines(line, 1_000))


def test_what_the_user_has_to_set_is_no_empty_word() -> None:
    start = 'apptainer exec --nv --bind "$CACHE":"$CACHE" --env HF_TOKEN="${HF_TOKEN:-}" "$SIF" vllm'
    line = left(start, '--download-dir "$CACHE/x" --api-key "${KEY:-}"')
    assert '--bind "$CACHE:$CACHE" --env "HF_TOKEN=${HF_TOKEN:-}" "$SIF" vllm' in line
    assert '--download-dir "$CACHE/x" --api-key "${KEY:-}"' in line
    assert 'HF_HOME="$CACHE/hf"' in line
    assert 'DATA="$CACHE/data"' in line


@pytest.mark.parametrize(
    ("options", "kept"),
    [("$EXTRA", " $EXTRA"), ("> $EXTRA", ""), ('> "$EXTRA"', "")],
)
def test_words_that_come_with_a_variable_stay(options: str, kept: str) -> None:
    line = left("vllm", options)
    assert kept in line
    assert ("$EXTRA" in line) == bool(kept)


@pytest.mark.parametrize(
    ("before", "value", "severity"),
    [
        ('PORT="${PORT:-}"', "$PORT", Severity.WARNING),
        ("PORT=${PORT:-''}", "${PORT}", Severity.WARNING),
        ('PORT=""', "$PORT", Severity.ERROR),
    ],
)
def test_a_value_that_the_user_has_to_set(before: str, value: str, severity: Severity) -> None:
    (judged,) = ask(f"#!/bin/bash\n{before}\n{SERVE} --port {value} --seed 1\n", "8xB300")
    assert [each.severity for each in judged.findings if "needs a value" in each.message] == [severity]
