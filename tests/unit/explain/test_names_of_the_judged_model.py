"""What the answer calls the model: by the repository of a publisher, by a short name, or by a file not counted."""

from __future__ import annotations

import pytest

from moonpad.explain.missing_engine import missing_engine
from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask


def head(text: str) -> str:
    script = read_script(text)
    shown = explain_view(ask(script), script, 200).plain
    return next(line for line in shown.splitlines() if line.startswith(("vllm ", "llama-cpp ")))


SERVE = "vllm serve {} --tensor-parallel-size 8 --served-model-name Kimi-K2.6-NVFP4\n"
COUNTED = "RedHatAI/Kimi-K2.6-NVFP4 (counted as nvidia/Kimi-K2.6-NVFP4)"


@pytest.mark.parametrize(
    "text",
    [
        SERVE.format("RedHatAI/Kimi-K2.6-NVFP4"),
        "# serves RedHatAI/Kimi-K2.6-NVFP4\n" + SERVE.format("/mnt"),
        "# of RedHatAI/Kimi-K2.6-NVFP4 and redhatai/Kimi-K2.6-NVFP4\n" + SERVE.format("/mnt"),
    ],
)
def test_another_publisher_is_named(text: str) -> None:
    assert COUNTED.casefold() in head(text).casefold()


@pytest.mark.parametrize(
    "text",
    [
        SERVE.format("nvidia/Kimi-K2.6-NVFP4"),
        SERVE.format("/mnt"),
        "# RedHatAI/Kimi-K2.6-NVFP4 beside nvidia/Kimi-K2.6-NVFP4\n" + SERVE.format("/mnt"),
        "# a/Kimi-K2.6-NVFP4 or b/Kimi-K2.6-NVFP4\n" + SERVE.format("/mnt"),
        "# models/Kimi-K2.6-NVFP4\n" + SERVE.format("/mnt/models/Kimi-K2.6-NVFP4"),
        "# RedHatAI/Kimi-K2.6\n" + SERVE.format("/mnt"),
    ],
)
def test_the_checkpoint_itself_is_not(text: str) -> None:
    assert "Kimi-K2.6-NVFP4 " in head(text)
    assert "counted as" not in head(text)


@pytest.mark.parametrize(
    ("served", "model"),
    [
        ("kimi-vl-thinking-2506", "moonshotai/Kimi-VL-A3B-Thinking-2506"),
        ("Kimi-VL-Thinking", "moonshotai/Kimi-VL-A3B-Thinking"),
        ("kimi-vl-instruct", "moonshotai/Kimi-VL-A3B-Instruct"),
        ("kimi-linear-48b", "moonshotai/Kimi-Linear-48B-A3B-Instruct"),
        ("Moonlight-16B", "moonshotai/Moonlight-16B-A3B-Instruct"),
    ],
)
def test_a_name_without_the_size_is_that_model(served: str, model: str) -> None:
    (judged,) = ask(f"vllm serve /models/kimi --served-model-name {served} --trust-remote-code\n")
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == model


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        (
            "Kimi-Linear-48B-A3B-Instruct.Q4_K_M.gguf",
            "moonshotai/Kimi-Linear-48B-A3B-Instruct in Q4_K_M",
        ),
        ("Moonlight-16B-IQ4_XS.gguf", "Moonlight-16B-A3B-Instruct-GGUF:IQ4_XS"),
    ],
)
def test_a_file_of_a_known_model(file: str, shown: str) -> None:
    text = f"./llama-server -m /models/{file} --port 8084\n"
    assert shown in head(text)
    assert "not known)" not in head(text)


def test_a_file_of_another_model_is_not_known() -> None:
    assert "Other-48B.Q4_K_M.gguf (not known)" in head("./llama-server -m /models/Other-48B.Q4_K_M.gguf --port 8084\n")


@pytest.mark.parametrize("command", ["mlx-openai-server launch --model-path m --port 1", "./coli chat --model /k3"])
def test_an_engine_that_is_not_known_may_be_started_all_the_same(command: str) -> None:
    what, _ = missing_engine(read_script(f"Usage:\n\n```bash\n{command}\n```\n"))
    assert what.startswith("it starts no engine that moonpad knows:")
