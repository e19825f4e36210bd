"""Releases that a text names for another tag are not those of the image that runs, and advice of another time."""

from __future__ import annotations

import pytest

from .judging import ask

START = "```bash\ndocker run --gpus all -p 8000:8000 acme/our-vllm:latest --model Qwen/Qwen3-8B\n```\n\n"
PUBLISHED = START.replace("acme/our-vllm", "vllm/vllm-openai")
BY_VARIABLES = """\
# Image

```bash
docker run --gpus all -p 8000:8000 -e MODEL_NAME=Qwen/Qwen3-8B \\
  -e TENSOR_PARALLEL_SIZE=2 ghcr.io/acme/our-vllm:latest
```

"""


def because(text: str) -> str:
    (judged,) = [each for each in ask(text) if each.engine == "vllm"]
    return judged.version_because


@pytest.mark.parametrize("start", [PUBLISHED, f"# Guide\n\n{PUBLISHED}"], ids=["plain", "headed"])
def test_another_tag_of_the_image_is_not_run(start: str) -> None:
    assert "judged by the newest" in because(f"{start}For V0 take `vllm/vllm-openai:v0.10.2`.\n")


@pytest.mark.parametrize("start", [START, BY_VARIABLES], ids=["options", "variables"])
def test_what_another_variant_is_based_on(start: str) -> None:
    variants = "- our-vllm:latest: based on vllm/vllm-openai:latest\n- our-vllm:old: on vllm/vllm-openai:v0.10.2\n"
    assert "judged by the newest" in because(f"{start}{variants}")


@pytest.mark.parametrize("start", [START, BY_VARIABLES], ids=["options", "variables"])
def test_what_the_own_tag_is_based_on(start: str) -> None:
    variants = "- our-vllm:old is based on vLLM 0.10.2\n- our-vllm:latest is based on vLLM 0.12.0\n"
    assert because(f"{start}{variants}") == "the text names vllm 0.12.0"


@pytest.mark.parametrize(
    "more",
    ["Tested with vLLM 0.11.0.\n", "INFO: vLLM API server version 0.11.0\n"],
    ids=["said", "logged"],
)
def test_a_release_that_is_for_no_other_tag(more: str) -> None:
    assert "0.11.0" in because(f"{START}{more}")


ADVICE = "If you see that FP8 is not supported on Blackwell, set `VLLM_USE_V1=0` to use the V0 engine.\n"


def advised(text: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.message for finding in findings if " advises VLLM_" in finding.message]


def test_a_variable_that_nothing_reads_any_more_is_advised() -> None:
    (message,) = advised(f"{PUBLISHED}{ADVICE}")
    assert "Nothing in vLLM reads VLLM_USE_V1" in message


@pytest.mark.parametrize(
    "text",
    [
        PUBLISHED.replace("latest", "v0.10.2") + ADVICE,
        f"{PUBLISHED}With releases before 0.11, set `VLLM_USE_V1=0`.\n",
        f"{PUBLISHED}Do not set `VLLM_USE_V1=0`.\n",
        f"{PUBLISHED}Older images: set `VLLM_USE_V1=0`.\n",
        f"{PUBLISHED}If you see errors, set `VLLM_USE_DEEP_GEMM=0`.\n",
    ],
    ids=["read then", "some releases", "against it", "old images", "still read"],
)
def test_advice_that_is_right(text: str) -> None:
    assert advised(text) == []
