"""SGLang's prefill context parallelism sets DeepEP for models with latent attention, and INT4 experts on Marlin have no
way with its tokens (sgl-project/sglang#28412): told of the command, and of the log's line."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one, first_line

SERVE = "python3 -m sglang.launch_server --model-path {} --tp-size 8 --trust-remote-code"
K25 = f"{SERVE.format('moonshotai/Kimi-K2.5')} --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"
NOW = "--enable-prefill-cp --cp-strategy zigzag --attn-cp-size 8"
FORMERLY = "--enable-prefill-context-parallel --attn-cp-size 8"
END = (
    "NotImplementedError: Runner backend MoeRunnerBackend.{} requires a fused func for a2a backend {}, but none is "
    "registered."
)


def told(text: str, version: str) -> list[Severity]:
    return [each.severity for each in ask_one(text, version=version).findings if "tokens of DeepEP" in each.message]


@pytest.mark.parametrize(
    ("more", "version"),
    [
        (NOW, "0.5.14"),
        (NOW, "0.5.20"),
        (FORMERLY, "0.5.16"),
        ("--enable-dsa-prefill-context-parallel", "0.5.15"),
    ],
)
def test_the_releases_that_set_the_exchange(more: str, version: str) -> None:
    judged = ask_one(f"{K25} {more}\n", version=version)
    assert told(f"{K25} {more}\n", version) == [Severity.ERROR]
    (corrected,) = judged.corrected
    assert not any("cp" in word.split("-") or "context-parallel" in word for word in corrected.argv)
    assert "--tp-size" in corrected.argv


def test_without_a_release_the_newest_does_so() -> None:
    assert told(f"{K25} {NOW}\n", "") == [Severity.WARNING]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (K25, "0.5.20"),
        (f"{K25} {FORMERLY}", "0.5.12"),
        (f"{K25} --enable-dsa-prefill-context-parallel", "0.5.13"),
        (f"{SERVE.format('nvidia/Kimi-K2.5-NVFP4')} {NOW}", "0.5.20"),
        (f"{SERVE.format('deepseek-ai/DeepSeek-V3')} {NOW}", "0.5.20"),
    ],
)
def test_what_has_no_such_end(text: str, version: str) -> None:
    assert not told(f"{text}\n", version)


def test_the_line_of_a_log_names_what_set_it() -> None:
    text = f"```\n{K25} {FORMERLY}\n```\n{END.format('MARLIN', 'deepep')}\n"
    (failure,) = [each for each in ask_one(text).findings if each.code is Code.LOGGED_FAILURE]
    assert "prefill context parallelism" in failure.message
    assert "FP8" in failure.remedy
    assert first_line(text).startswith("Stopped (line 4): experts in INT4")


def test_other_kernels_and_exchanges_are_told_by_their_names() -> None:
    text = f"```\n{K25}\n```\n{END.format('FLASHINFER_TRTLLM', 'megamoe')}\n"
    (failure,) = [each for each in ask_one(text).findings if each.code is Code.LOGGED_FAILURE]
    assert "FLASHINFER_TRTLLM" in failure.message
    assert "megamoe" in failure.message
    assert "context" not in failure.message
