"""Kernels against devices, weights and kinds of attention: data/kernel_refusals.toml."""

from __future__ import annotations

import pytest

from moonpad.catalog.start_refusals import start_refusals
from moonpad.catalog.toml_rows import rows
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask
from tests.unit.explain.refused import said, samples

SAMPLES = samples("kernel_refusal_samples.toml")


def test_each_row_has_a_sample() -> None:
    assert {key for key, _ in rows("kernel_refusals.toml", "refusals")} == {*SAMPLES}


def test_a_folder_may_hold_other_weights() -> None:
    told = SAMPLES["sgl-cutedsl-experts-others"]["told"].replace("deepseek-ai/", "/models/")
    assert not said("sgl-cutedsl-experts-others", told, "0.5.12", "8xB200")


def test_devices_that_the_text_names_are_less_sure() -> None:
    command = SAMPLES["sgl-mha-decode-device"]["told"]
    text = f"SGLang 0.5.9 on 8xH200:\n\n```bash\n{command}\n```\n"
    assert said("sgl-mha-decode-device", text, "") == [Severity.WARNING]


RECIPES = (
    "sglang serve --model-path nvidia/DeepSeek-R1-0528-FP4-v2 --tp 8 --quantization modelopt_fp4 "
    "--attention-backend trtllm_mla --moe-runner-backend flashinfer_trtllm --kv-cache-dtype fp8_e4m3",
    "sglang serve --model-path openai/gpt-oss-120b --tp 8 --attention-backend trtllm_mha",
    "sglang serve --model-path deepseek-ai/DeepSeek-R1 --tp 8 --attention-backend trtllm_mla "
    "--moe-runner-backend flashinfer_trtllm --fp8-gemm-backend flashinfer_trtllm",
    "sglang serve --model-path deepseek-ai/DeepSeek-R1-Distill-Qwen-32B --tp 8 --attention-backend trtllm_mha",
    "sglang serve --model-path zai-org/GLM-4.7-Flash --tp 4 --attention-backend trtllm_mla",
)


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_are_quiet(recipe: str) -> None:
    ours = {row.message for key, row in start_refusals().items() if key in SAMPLES}
    found = [finding for judgement in ask(recipe, "8xB200", "0.5.12") for finding in judgement.findings]
    assert not [finding for finding in found if finding.message in ours]
