"""A report about an image is of the start that runs in it; an image called after its model is older than the release
that a text names for another start."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8 --trust-remote-code"
RUN = (
    "docker run --gpus all --ipc host vllm/vllm-openai:kimi-k3 --model moonshotai/Kimi-K3 --tensor-parallel-size 8 "
    "--trust-remote-code"
)
GUIDE = "# Kimi-K3 on 8x B300\n\n{above}\n\n```bash\n{first}\n```\n\n{between}\n\n```bash\n{second}\n```\n"
HANGS = "hangs in NVLS"


def told_of(text: str) -> list[bool]:
    return [any(HANGS in each.message for each in judged.findings) for judged in ask(text)]


@pytest.mark.parametrize(("first", "second", "told"), [(SERVE, RUN, [False, True]), (RUN, SERVE, [True, False])])
def test_a_start_outside_of_a_container_has_no_fault_of_the_image_of_another(
    first: str, second: str, told: list[bool]
) -> None:
    second = f"{second} --max-model-len 8192"
    text = GUIDE.format(above="", first=first, between="Or in another way:", second=second)
    assert told_of(text) == told


def test_the_image_that_a_text_names_is_that_of_its_only_start() -> None:
    assert told_of(f"# 8x B300, in the image vllm/vllm-openai:kimi-k3\n{SERVE}\n") == [True]


@pytest.mark.parametrize(
    ("above", "version"),
    [
        ("Served here with vLLM 0.28.0 from a venv.", "0.26.0"),
        ("The image vllm/vllm-openai:kimi-k3 has vLLM 0.28.0.", "0.28.0"),
        ("RUN pip install vllm==0.28.0", "0.28.0"),
    ],
)
def test_an_image_called_after_its_model_has_the_release_that_the_text_says_of_it(above: str, version: str) -> None:
    (judged,) = ask(f"# Kimi-K3 on 8x B300\n\n{above}\n\n```bash\n{RUN}\n```\n")
    assert judged.version == version
