"""A text that runs a commit of somebody's own repository: what no release has is that build's, and stays."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

KEYS = """--attention-config '{"hisparse_config":{"host_pool_gib":256}}'"""
SERVE = f"vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 {KEYS}"
COMMIT = "530c874d64f1e3bcb1eefac57313b78b6db67929"


def of_the_key(text: str) -> tuple[list[Severity], bool]:
    """How it is told of the option, and whether the corrected command, if there is one, has the key."""
    (judged,) = ask(f"{text}\n```bash\n{SERVE}\n```\n")
    told = [finding.severity for finding in judged.findings if "--attention-config" in finding.where + finding.message]
    words = [word for line in judged.corrected for word in line.argv]
    return told, not words or any("host_pool_gib" in word for word in words)


@pytest.mark.parametrize(
    "text",
    [
        f"vLLM built from `neuralmagic/vllm@{COMMIT}`.",
        f"- vLLM built from\n  `neuralmagic/vllm@{COMMIT}`.",
        f"uv pip install git+https://github.com/neuralmagic/vllm.git@{COMMIT}",
        "Verified with:\n\n    vllm  someone/vllm-k3 @ amd/kimi-k3 533bff471\n",
    ],
)
def test_a_build_that_is_run(text: str) -> None:
    assert of_the_key(text) == ([Severity.NOTE], True)


@pytest.mark.parametrize(
    "text",
    [
        "vLLM.",
        f"vLLM built from vllm-project/vllm@{COMMIT}.",
        f"It was mended in neuralmagic/vllm@{COMMIT}.",
        f"The image was built as someone/vllm@sha256:{COMMIT}.",
        f"SGLang built from someone/sglang@{COMMIT}.",
    ],
)
def test_no_build_of_vllm_is_run(text: str) -> None:
    assert of_the_key(text) == ([Severity.WARNING], False)


def test_a_short_form_is_told_as_such_of_a_build_too() -> None:
    serve = "sglang serve --model-path moonshotai/Kimi-K2.5 --tp 8"
    text = f"SGLang built from someone/sglang@530c874d64.\n```sh\n{serve}\n```\n"
    (judged,) = ask(text)
    assert not any("not recorded" in finding.message for finding in judged.findings)


def test_no_empty_table_is_left() -> None:
    (judged,) = ask(SERVE)
    assert not any("hisparse" in word for line in judged.corrected for word in line.argv)


def test_a_variable_that_selects_kernels_stays() -> None:
    """https://github.com/sgl-project/sglang/pull/32548: the recipe of Kimi-K3 for MI355X sets it."""
    text = "# 8x MI355X\nAITER_FLYDSL_FORCE=1 sglang serve --model-path moonshotai/Kimi-K3 --tp-size 8\n"
    (judged,) = ask(text)
    told = [finding for finding in judged.findings if finding.where == "AITER_FLYDSL_FORCE"]
    assert [finding.severity for finding in told] == [Severity.NOTE]
    assert judged.corrected
    assert all("AITER_FLYDSL_FORCE" in line.env for line in judged.corrected)
