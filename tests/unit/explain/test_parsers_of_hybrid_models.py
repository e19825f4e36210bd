"""R1's parser on models that think only where they are asked to, and parsers by the name that another engine has."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

VLLM = "vllm serve deepseek-ai/{} -tp 8 --reasoning-parser {} --port 8000"
SGLANG = "python3 -m sglang.launch_server --model-path deepseek-ai/{} --tp 8 --reasoning-parser {}"
GPT = "vllm serve openai/gpt-oss-20b --reasoning-parser {} --max-num-seqs 4 --max-num-seqs 8"


def told(text: str, words: str) -> list[Finding]:
    return [each for judged in ask(text) for each in judged.findings if words in each.message]


def corrected(text: str) -> str:
    return "\n".join(" ".join(line.argv) for judged in ask(text) for line in judged.corrected)


@pytest.mark.parametrize("model", ["DeepSeek-V3.1", "DeepSeek-V3.1-Terminus", "DeepSeek-V3.2", "DeepSeek-V3.2-Exp"])
def test_answers_without_thoughts_are_taken_for_thoughts(model: str) -> None:
    for text, right in (
        (VLLM.format(model, "deepseek_r1"), "deepseek_v3"),
        (SGLANG.format(model, "deepseek-r1"), "deepseek-v3"),
        (VLLM.format(model, "deepseek_r1").replace("parser d", "parser=d"), "deepseek_v3"),
    ):
        (finding,) = told(text, "only where a request asks")
        assert finding.severity is Severity.WARNING
        assert right in finding.remedy
        assert right in corrected(text)


@pytest.mark.parametrize(
    "text",
    [
        VLLM.format("DeepSeek-R1-0528", "deepseek_r1"),
        VLLM.format("DeepSeek-V3.1", "deepseek_v3"),
        VLLM.format("DeepSeek-V3.2-Speciale", "deepseek_r1"),
        VLLM.format("DeepSeek-V3.1", "deepseek_r1") + " --default-chat-template-kwargs '{\"thinking\": true}'",
        VLLM.format("DeepSeek-R1-Distill-Qwen-32B", "deepseek_r1"),
    ],
)
def test_where_the_model_thinks_or_the_parser_looks(text: str) -> None:
    assert not told(text, "only where a request asks")


def test_a_release_from_before_that_parser() -> None:
    (finding,) = told("# vLLM 0.10.2\n" + VLLM.format("DeepSeek-V3.1", "deepseek_r1"), "only where a request asks")
    assert "0.11.1 or later" in finding.remedy


def test_the_name_of_another_engine_is_written_as_this_one_has_it() -> None:
    for given in ("gpt_oss", "gpt-oss"):
        (finding,) = told(GPT.format(given), "has no parser")
        assert "openai_gptoss" in finding.remedy
    assert "openai_gptoss" in corrected(GPT.format("gpt_oss"))


def test_a_name_that_several_may_mean_is_not_guessed() -> None:
    (finding,) = told(GPT.format("minimax"), "has no parser")
    assert "minimax_m" not in finding.remedy


def test_the_path_of_an_endpoint_is_not_an_answer() -> None:
    text = "# Calls over /v1/chat/completions are broken, prefer /v1/responses\nvllm serve deepseek-ai/DeepSeek-R1-0528"
    (finding,) = told(text, "one device gets all")
    assert finding.severity is Severity.WARNING
    assert "tells of answers" not in finding.message
    (finding,) = told(text + "\n# its answers are good", "one device gets all")
    assert "tells of answers" in finding.message
