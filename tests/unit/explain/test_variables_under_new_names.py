"""Variables that a release reads under another name, or not at all: Corrected has what the finding says."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

GPT = "vllm serve openai/gpt-oss-120b --tensor-parallel-size 8 --block-size 64"
R1 = "vllm serve nvidia/DeepSeek-R1-FP4 --trust-remote-code --tensor-parallel-size 4"


def _mended(text: str, version: str = "") -> tuple[dict[str, str], tuple[str, ...]]:
    (one,) = ask(text, version=version)
    assert one.corrected is not None
    return dict(one.corrected[0].env), one.corrected[0].argv


def test_a_variable_gets_the_word_that_is_in_it_today() -> None:
    env, _ = _mended(f"VLLM_USE_AITER_UNIFIED_ATTENTION=1 VLLM_ROCM_USE_AITER=1 {GPT}", "0.14.1")
    assert env == {"VLLM_ROCM_USE_AITER": "1", "VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION": "1"}


def test_a_value_that_is_set_already_stays() -> None:
    names = "VLLM_USE_AITER_UNIFIED_ATTENTION=1 VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION=0"
    env, _ = _mended(f"{names} {GPT}", "0.14.1")
    assert env == {"VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION": "0"}


def test_the_release_that_reads_the_former_name_keeps_it() -> None:
    (one,) = ask(f"VLLM_USE_AITER_UNIFIED_ATTENTION=1 {GPT}", version="0.11.0")
    assert not [each for each in one.findings if each.where == "VLLM_USE_AITER_UNIFIED_ATTENTION"]


def test_what_no_release_reads_is_left_out() -> None:
    env, _ = _mended(f"VLLM_ROCM_USE_AITER_FUSED_MOE_A16W4=1 VLLM_ROCM_USE_AITER=1 {GPT}", "0.14.1")
    assert env == {"VLLM_ROCM_USE_AITER": "1"}


@pytest.mark.parametrize(
    ("written", "name"),
    [("CUTLASS_MLA_VLLM_V1", "CUTLASS_MLA"), ("CUTLASS_MLA", "CUTLASS_MLA"), ("FLASHINFER_MLA", "FLASHINFER_MLA")],
)
def test_the_option_takes_the_place_of_the_variable(written: str, name: str) -> None:
    env, argv = _mended(f"VLLM_ATTENTION_BACKEND={written} {R1}", "0.33.0")
    assert env == {}
    assert argv[argv.index("--attention-backend") + 1] == name


def test_a_name_that_no_release_has_is_not_handed_on() -> None:
    (one,) = ask(f"VLLM_ATTENTION_BACKEND=NO_SUCH_BACKEND {R1}", version="0.33.0")
    assert not [line for line in one.corrected or () if "--attention-backend" in line.argv]


def test_an_option_that_the_model_is_refused_with_does_not_take_the_variables_place() -> None:
    kimi = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code"
    env, argv = _mended(f"VLLM_ATTENTION_BACKEND=FLASHINFER {kimi}", "0.33.0")
    assert env == {}
    assert "--attention-backend" not in argv
