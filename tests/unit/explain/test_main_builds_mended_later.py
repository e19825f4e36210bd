"""A build of main, many commits behind a candidate, has what the release of its number mended."""

from __future__ import annotations

import pytest

from moonpad.values.versions import reached
from tests.unit.explain.judging import ask_one


@pytest.mark.parametrize(
    ("version", "told"),
    [("0.10.2rc3.dev371+gb215ed849.cu129", False), ("0.10.2rc3.dev20", True), ("0.10.1.1", True), ("0.10.2", False)],
)
def test_what_the_release_mended_is_told_of_builds_before_it(version: str, told: bool) -> None:
    judged = ask_one("VLLM_USE_DEEP_GEMM=0 vllm serve deepseek-ai/DeepSeek-V3.1 -tp 8", version=version)
    assert any("DeepGEMM is used whenever it is installed" in each.message for each in judged.findings) == told


@pytest.mark.parametrize(
    ("build", "release"),
    [
        ("0.10.2rc3.dev371", "0.10.2"),
        ("0.11.1rc6.dev211", "0.11.1rc6.dev211"),  # too few commits behind its candidate
        ("0.22.1rc1.dev490", "0.22.1rc1.dev490"),  # counted up from 0.22.0, not behind a candidate
        ("0.10.2", "0.10.2"),
        ("nightly", "nightly"),
    ],
)
def test_which_builds_count_as_their_release(build: str, release: str) -> None:
    assert reached(build) == release
