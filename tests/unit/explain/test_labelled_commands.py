"""What a person calls a command in front of it, in bold print or with a colon, is no part of the corrected command."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, ask_one

SERVE = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code"


@pytest.mark.parametrize(
    "label",
    [
        "**command line**:",
        "**Command:**",
        "__cmd__",
        "- **Launch command** :",
        "command line:",
        "my launch command:",
        "启动命令：",
        "**启动命令**：",
        "decode node:",
        "node1:",
        "- second box:",
        "my start command is:",
        "1) On the head:",
        "-",
    ],
)
@pytest.mark.parametrize("command", [SERVE, f"VLLM_LOGGING_LEVEL=DEBUG {SERVE}", f"nohup {SERVE}"])
def test_the_label_is_left_out(label: str, command: str) -> None:
    (line,) = ask_one(f"It is slow.\n\n{label} {command}\n\n**issue**: slow\n").corrected
    words = [word for word in line.argv if word != "nohup"]
    assert words[:3] == ["vllm", "serve", "moonshotai/Kimi-K2.5"]


def test_a_program_of_an_archived_server() -> None:
    judged = ask_one("**command line**: ktransformers --model_path ./DeepSeek-R1 --gguf_path ./GGUF --cpu_infer 60\n")
    assert all(line.argv[0] == "python" for line in judged.corrected)
    assert judged.corrected


@pytest.mark.parametrize("line", ['  command: ["vllm", "serve", "moonshotai/Kimi-K2.5", "-tp", "8"]'])
def test_a_key_of_a_manifest_stays_one(line: str) -> None:
    judged = ask_one(f"services:\n  kimi:\n    image: vllm/vllm-openai:v0.20.0\n  {line}\n")
    assert judged.layout is not None
    assert judged.layout.tp == 8


@pytest.mark.parametrize("value", ["--model moonshotai/Kimi-K2.5 -tp 8", "vllm serve moonshotai/Kimi-K2.5 -tp 8"])
def test_a_key_of_a_manifest_that_a_script_writes(value: str) -> None:
    written = f"services:\n  kimi:\n    image: vllm/vllm-openai:v0.20.0\n    command: {value}\n"
    (judged,) = [
        each for each in ask(f"cat > compose.yml <<'EOF'\n{written}EOF\ndocker compose up -d\n") if each.layout
    ]
    assert judged.layout is not None
    assert judged.layout.tp == 8
