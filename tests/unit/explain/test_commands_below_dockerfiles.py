"""A post with a Dockerfile, and below it, in the same paste, how its image is started."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

BUILT = "FROM vllm/vllm-openai:v0.15.0\nRUN pip install blobfile\n"
RUN = "docker run --gpus all --ipc=host mine:latest --model moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code\n"


@pytest.mark.parametrize(
    "between", ["", "\n", "---\n", "# then\n", "docker build -t mine .\n", "\nThen I start it:\n\n"]
)
@pytest.mark.parametrize("prompt", ["", "$ ", "sudo "])
def test_the_start_below_is_read(between: str, prompt: str) -> None:
    one, *others = ask(f"{BUILT}{between}{prompt}{RUN}")
    assert not others
    assert one.engine == "vllm"
    assert one.checkpoint is not None
    assert one.checkpoint.name == "moonshotai/Kimi-K2.5"
    assert one.layout is not None
    assert one.layout.tp == 8


def test_a_bare_start_below_is_read() -> None:
    text = "FROM nvidia/cuda:12.9.1-devel-ubuntu22.04\nRUN pip install vllm\n\n"
    text += "vllm serve moonshotai/Kimi-K2-Thinking -tp 8\n"
    (one,) = ask(text)
    assert one.checkpoint is not None
    assert one.checkpoint.name == "moonshotai/Kimi-K2-Thinking"


@pytest.mark.parametrize(
    "text",
    [
        # A backslash is missing: the instructions go on behind the line that is none.
        "FROM vllm/vllm-openai:v0.15.0\nRUN apt-get update &&\n    apt-get install -y git\n"
        'CMD ["--model", "moonshotai/Kimi-K2.5", "-tp", "8"]\n',
        BUILT + 'CMD ["--model", "moonshotai/Kimi-K2.5", "-tp", "8"]\n',
    ],
)
def test_the_image_alone_starts_once(text: str) -> None:
    (one,) = ask(text)
    assert one.layout is not None
    assert one.layout.tp == 8
