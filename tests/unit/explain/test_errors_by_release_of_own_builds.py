"""What a table says of a release by its number is a warning where the image is a build of a branch or of a day; what
the parser of the releases around it refuses stays an error."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask

AITER = """docker run --device /dev/kfd {image} \\
  vllm serve {model} --trust-remote-code --tensor-parallel-size 8 {more}
"""
K3 = "moonshotai/Kimi-K3"
OF_BRANCH = "vllm/vllm-openai-rocm:kimi-k3"


def findings(image: str, *, model: str = K3, more: str = "", version: str = "") -> list[Finding]:
    text = AITER.format(image=f"-e VLLM_ROCM_USE_AITER=1 {image}", model=model, more=more)
    return [finding for judged in ask(text, "8xMI325X", version) for finding in judged.findings]


def of_heads(found: list[Finding]) -> list[Finding]:
    """12 heads a rank, for which AITER's MLA of these releases has no kernel on this device."""
    return [finding for finding in found if finding.code is Code.CONFLICT and "12 heads a rank" in finding.message]


def test_a_build_of_the_models_own_branch_may_do_what_the_release_before_it_does_not() -> None:
    (finding,) = of_heads(findings(OF_BRANCH))
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("; that is of 0.26.0, and this image is a build of its own")


@pytest.mark.parametrize("image", ["vllm/vllm-openai-rocm:v0.26.0", "vllm/vllm-openai-rocm:v0.27.0"])
def test_of_an_image_of_the_release_it_stays_an_error(image: str) -> None:
    (finding,) = of_heads(findings(image))
    assert finding.severity is Severity.ERROR
    assert "build of its own" not in finding.message


def test_a_release_that_is_asked_for_stands_above_the_tag() -> None:
    (finding,) = of_heads(findings(OF_BRANCH, version="0.26.0"))
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize("tag", ["nightly-20260725", "nightly-2026-07-25"])
def test_a_build_of_a_day_is_of_no_release_either(tag: str) -> None:
    (finding,) = of_heads(findings(f"vllm/vllm-openai-rocm:{tag}"))
    assert finding.severity is Severity.WARNING
    assert "build of its own" in finding.message


@pytest.mark.parametrize("more", ["--max-modle-len 8192", "--gpu-memory-utilization much", "--tensor-parallel-size"])
def test_what_the_parser_of_all_refuses_stays_an_error(more: str) -> None:
    assert any(finding.severity is Severity.ERROR for finding in findings(OF_BRANCH, more=more))


def test_a_layout_that_no_release_can_have_stays_an_error() -> None:
    text = AITER.format(image=OF_BRANCH, model=K3, more="").replace("--tensor-parallel-size 8", "-tp 7")
    judged = ask(text, "8xMI325X", "")
    errors = [finding for each in judged for finding in each.findings if finding.severity is Severity.ERROR]
    assert any(finding.code is Code.ILLEGAL_LAYOUT for finding in errors)
