"""Blocks of a command whose lines a proxy joins (`cmd: |` under `models:`), and blocks that a shell reads."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_files, read_script
from moonpad.values.plan import Layout
from tests.unit.explain.judging import ask

JOINED = """models:
  qwen:
    cmd: |
      /app/llama-server --port ${PORT}
      --model /models/Qwen3-8B-Q4_K_M.gguf

      # the next option is of the same command
      --jinja
      --flash-attn on
    ttl: 300
"""


def problems(text: str, name: str) -> list[str]:
    script = read_files([(name, text)])
    return [problem.code for problem in script.problems]


@pytest.mark.parametrize("name", ["config.yaml", "guide.md"])
def test_joined_lines_are_one_command(name: str) -> None:
    text = JOINED if name.endswith("yaml") else f"# Models\n\n```yaml\n{JOINED}```\n"
    assert problems(text, name) == []
    script = read_files([(name, text)])
    assert [word.text for word in script.commands[0].words][-3:] == ["--jinja", "--flash-attn", "on"]


@pytest.mark.parametrize(
    "text",
    [
        JOINED.replace("models:", "services:", 1),
        JOINED.replace("cmd: |", "script: |", 1),
        JOINED.replace("/app/llama-server --port", "bash -c\n      /app/llama-server --port", 1),
    ],
)
def test_lines_that_a_shell_reads(text: str) -> None:
    assert "missing-backslash" in problems(text, "config.yaml")


def test_a_part_of_the_file() -> None:
    text = """RTX 3090
 "qwen":
    ttl: 1800
    cmd: |
      uv run vllm serve Qwen/Qwen3-8B
      --host 0.0.0.0
      --port ${PORT}
"""
    assert problems(text, "config.yaml") == []
    assert problems(text.replace("ttl:", "labels:"), "config.yaml") != []


@pytest.mark.parametrize(
    "start",
    [
        "CUDA_VISIBLE_DEVICES=0,1 VLLM_X=1 \\ vllm serve",
        "docker run --gpus all --ipc=host \\ vllm/vllm-openai:v0.20.0 --model",
        "vllm serve \\ --trust-remote-code",
    ],
)
def test_one_backslash_inside_of_a_line(start: str) -> None:
    text = f"```bash\n{start} moonshotai/Kimi-K2.5 \\\n--tensor-parallel-size 8 --disable-log-requests\n```\n"
    (judged,) = ask(text, "8xH200", "0.20.0")
    assert judged.layout == Layout(tp=8)
    assert not any(word.startswith(" ") for line in (*judged.commands, *judged.corrected) for word in line.argv)


@pytest.mark.parametrize("words", ["/data/My\\ Models/K2.5", "a\\ b", "--flag 'x \\ y'"])
def test_blanks_that_are_meant(words: str) -> None:
    script = read_script(f"vllm serve moonshotai/Kimi-K2.5 --download-dir {words}\n")
    assert "space-after-backslash" not in {each.code for each in script.problems}


def test_a_part_of_a_proxys_file_in_a_thread() -> None:
    part = '  "Qwen3-30B":\n    proxy: "http://10.0.0.1:9999"\n    cmd: |\n      /opt/llama-server\n      --port 9999\n'
    text = f"It is so.\n\nedit:\n\nmore words\n\n# server:\n```\n{part}      --ctx-size 40960\n      -ngl 0\n```\n"
    assert read_script(text).problems == ()


def test_a_command_of_llama_swap_without_its_file() -> None:
    text = "{} logs:\n\nCommand is:\n\n/opt/llama-server\n      --model /m/a.gguf\n      -fa on --port 8081\n"
    codes = [{each.code for each in read_script(text.format(name)).problems} for name in ("llama-swap", "My")]
    assert codes == [set(), {"missing-backslash"}]
