"""A model in a folder that is mounted, or whose name says nothing."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

RUN = "docker run --gpus all {mount} vllm/vllm-openai:v0.12.0 --model {path} -tp 8\n"


def model(text: str) -> str:
    (judged,) = judge(read_script(text), Question())
    return judged.checkpoint.name if judged.checkpoint is not None else ""


@pytest.mark.parametrize(
    ("mount", "path", "expected"),
    [
        ("-v /data/Kimi-K2-Thinking:/weights", "/weights", "moonshotai/Kimi-K2-Thinking"),
        ("-v /data:/weights", "/weights/Kimi-K2-Thinking", "moonshotai/Kimi-K2-Thinking"),
        (
            "--mount type=bind,source=/data/Kimi-K2-Thinking,target=/llm_model",
            "/llm_model",
            "moonshotai/Kimi-K2-Thinking",
        ),
        ("-v /data/Qwen3-235B-A22B:/weights", "/weights", ""),
        ("-v /data/ssd1:/weights", "/weights", ""),
    ],
)
def test_the_folder_of_the_host(mount: str, path: str, expected: str) -> None:
    assert model(RUN.format(mount=mount, path=path)) == expected


@pytest.mark.parametrize(("folder", "expected"), [("/model_weights", True), ("/llm_models", True), ("/zebra", False)])
def test_folders_that_say_nothing(folder: str, *, expected: bool) -> None:
    text = f"# Kimi-K2-Thinking\n\n```bash\nvllm serve {folder} -tp 8\n```\n"
    assert (model(text) == "moonshotai/Kimi-K2-Thinking") is expected


def test_another_model_is_mounted_than_the_text_is_about() -> None:
    run = RUN.format(mount="-v /data/Qwen3-235B-A22B:/weights", path="/weights")
    assert model(f"# Like Kimi-K2-Thinking\n\n```bash\n{run}```\n") != "moonshotai/Kimi-K2-Thinking"
