"""Parsers of tool calls and of reasoning that are not the model's, and those that only look like it."""

from __future__ import annotations

import pytest

from moonpad.explain.checks.models.parser_families import family_of, own_parser
from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

AUTO = "--enable-auto-tool-choice"


def answers(text: str, name: str = "run.sh") -> tuple[list[str], str]:
    """What is said of parsers, and the corrected lines."""
    judged = judge(read_files([(name, text)]), Question())
    found = [finding for each in judged for finding in each.findings if "parser" in finding.where]
    assert not [finding for finding in found if finding.severity is Severity.ERROR]
    corrected = [word for each in judged for line in each.corrected for word in line.argv]
    return [f"{finding.where}: {finding.message} ({finding.remedy})" for finding in found], " ".join(corrected)


@pytest.mark.parametrize(
    ("command", "right"),
    [
        (f"vllm serve moonshotai/Kimi-K3 {AUTO} --tool-call-parser kimi_k2", "--tool-call-parser kimi_k3"),
        (f"vllm serve /models/Kimi-K3 {AUTO} --tool-call-parser=kimi_k2", "--tool-call-parser kimi_k3"),
        (f"vllm serve moonshotai/Kimi-K3 {AUTO} --tool-call-parser kimi_k3 --reasoning-parser kimi_k2", "kimi_k3"),
        (f"vllm serve moonshotai/Kimi-K2-Instruct {AUTO} --tool-call-parser hermes", "--tool-call-parser kimi_k2"),
        (f"vllm serve moonshotai/Kimi-K2.6 {AUTO} --tool-call-parser deepseek_v3", "--tool-call-parser kimi_k2"),
        (f"vllm serve deepseek-ai/DeepSeek-V3 {AUTO} --tool-call-parser hermes", "--tool-call-parser deepseek_v3"),
        (f"vllm serve /models/DeepSeek-R1-0528 {AUTO} --tool-call-parser kimi_k2", "--tool-call-parser deepseek_v3"),
        ("sglang serve --model-path deepseek-ai/DeepSeek-V3.1 --tool-call-parser kimi_k2", "deepseekv31"),
        (f"vllm serve meta-llama/Llama-3.1-70B-Instruct {AUTO} --tool-call-parser kimi_k2", "take the parser"),
        (f"vllm serve moonshotai/Kimi-Dev-72B {AUTO} --tool-call-parser kimi_k2", "take the parser"),
        ("sglang serve --model-path moonshotai/Kimi-K3 --tool-call-parser kimi_k2", "--tool-call-parser kimi_k3"),
        ("sglang serve --model-path /model --served-model-name Kimi-K3 --tool-call-parser kimi_k2", "kimi_k3"),
        ("python -m dynamo.vllm --model moonshotai/Kimi-K2.5 --dyn-tool-call-parser hermes", "kimi_k2"),
        ("trtllm-serve serve deepseek-ai/DeepSeek-R1 --tool_parser kimi_k2", "write --tool_parser deepseek_v3"),
    ],
)
def test_is_of_another_family(command: str, right: str) -> None:
    said, _ = answers(command)
    assert [message for message in said if "is not the parser of" in message and right in message], said


@pytest.mark.parametrize(
    "command",
    [
        f"vllm serve moonshotai/Kimi-K2.6 {AUTO} --tool-call-parser kimi_k2 --reasoning-parser deepseek_r1",
        "sglang serve --model-path moonshotai/Kimi-K2-Thinking --tool-call-parser auto --reasoning-parser kimi",
        f"vllm serve moonshotai/Kimi-K2-Instruct {AUTO} --tool-call-parser mine --tool-parser-plugin /p/mine.py",
        f"vllm serve deepseek-ai/DeepSeek-V3 {AUTO} --tool-call-parser hermes --chat-template /t/hermes.jinja",
        f"vllm serve deepseek-ai/DeepSeek-R1-Distill-Qwen-32B {AUTO} --tool-call-parser hermes",
        f"vllm serve deepseek-ai/DeepSeek-R1-0528-Qwen3-8B {AUTO} --tool-call-parser hermes",
        f"vllm serve Team-ACE/ToolACE-8B {AUTO} --tool-call-parser pythonic",
        f"vllm serve /model {AUTO} --tool-call-parser hermes",
        f"vllm serve $MODEL {AUTO} --tool-call-parser hermes",
        f"vllm serve meta-llama/Llama-3.1-70B-Instruct {AUTO} --tool-call-parser hermes",
        f"vllm serve Qwen/Qwen3-235B-A22B {AUTO} --tool-call-parser hermes",
        f"vllm serve deepseek-ai/DeepSeek-V3.2-Exp {AUTO} --tool-call-parser deepseek_v31",
        "python -m dynamo.vllm --model moonshotai/Kimi-K2.5 --dyn-tool-call-parser kimi_k2 "
        "--dyn-reasoning-parser kimi_k25",
    ],
)
def test_may_be_right(command: str) -> None:
    said, _ = answers(command)
    assert not [message for message in said if "is not the parser of" in message or "has no parser" in message]


@pytest.mark.parametrize(
    "command",
    [
        "vllm serve DeepSeek-V3 -tp 8",
        "vllm serve //model -tp 8",
        "sglang serve --model-path /data/models--deepseek-ai--DeepSeek-V3.1-Terminus/snapshots/19510d6d --tp-size 8",
        "vllm serve Qwen3-235B -tp 8",
        "python -m dynamo.vllm --model moonshotai/Kimi-K2.5 --tensor-parallel-size 8",
    ],
)
def test_never_adds_a_parser_of_ours_to_another_model(command: str) -> None:
    said, corrected = answers(command)
    assert "kimi_k2" not in corrected
    assert not said


def test_adds_it_to_a_model_of_ours() -> None:
    assert "--tool-call-parser kimi_k2" in answers("vllm serve /models/Kimi-K2-Instruct -tp 16")[1]
    assert "--tool-call-parser kimi_k3" in answers("vllm serve /models/Kimi-K3 -tp 16")[1]
    assert "kimi_k2" in answers("vllm serve /model --served-model-name kimi-k2-instruct -tp 16")[1]


def test_the_switch_is_missing_for_any_model() -> None:
    text = "vllm serve deepseek-ai/DeepSeek-V3 -tp 8 --tool-call-parser deepseek_v3"
    (judged,) = judge(read_files([("run.sh", text)]), Question())
    assert AUTO in [finding.where for finding in judged.findings]


def test_a_worker_of_dynamo_has_options_of_its_own() -> None:
    said, corrected = answers(
        f"python -m dynamo.vllm --model moonshotai/Kimi-K2.5 {AUTO} --tool-call-parser kimi_k2 -tp 8"
    )
    assert [message for message in said if "Dynamo's worker refuses it" in message]
    assert "--dyn-tool-call-parser kimi_k2 -tp 8" in corrected
    recipe = """
frontend:
  type: {}
backend:
  type: vllm
  vllm_config:
    aggregated:
      served-model-name: moonshotai/Kimi-K3
      tensor-parallel-size: 8
      enable-auto-tool-choice: true
      tool-call-parser: kimi_k3
"""
    assert [message for message in answers(recipe.format("dynamo"), "r.yaml")[0] if "worker refuses" in message]
    assert not [message for message in answers(recipe.format("vllm"), "r.yaml")[0] if "worker refuses" in message]


@pytest.mark.parametrize(
    ("name", "parser"),
    [
        ("moonshotai/Kimi-K3", "kimi_k3"),
        ("<KIMI_K3_MODEL_PATH>", "kimi_k3"),
        ("/data/hub/models--moonshotai--Kimi-K2.5/snapshots/abc", "kimi_k2"),
        ("Kimi-Linear-48B-A3B-Instruct", "kimi_k2"),
    ],
)
def test_name_of_ours(name: str, parser: str) -> None:
    assert own_parser(name) == parser


def test_no_family() -> None:
    assert not any(family_of(name) for name in ("/model", "model", "moonshotai/Kimi-VL-A3B", "kimi-k2-tiny", ""))


OPTIONS = (
    "I serve {} by these parameters of the backend:\n\n```\n--enable-auto-tool-choice\n--tool-call-parser={}\n```\n"
)


@pytest.mark.parametrize(
    ("named", "given", "right"),
    [
        ("Qwen3-Coder-30B-A3B-Instruct", "hermes", "qwen3_coder"),
        ("GLM-4.6-FP8", "llama3_json", "glm45"),
        ("gpt-oss-20b", "hermes", "openai"),
    ],
)
def test_options_alone_are_those_of_the_model_that_the_text_names(named: str, given: str, right: str) -> None:
    said, _ = answers(OPTIONS.format(named, given), "input.md")
    assert [each for each in said if f"{given} is not the parser of {named}" in each and right in each]


@pytest.mark.parametrize(
    ("named", "given"),
    [("gpt-oss-20b", "openai"), ("gpt-oss-20b and Qwen3-32B", "hermes"), ("a model of ours", "hermes")],
)
def test_options_alone_of_the_right_model_or_of_several_are_silent(named: str, given: str) -> None:
    assert not answers(OPTIONS.format(named, given), "input.md")[0]


@pytest.mark.parametrize(
    ("model", "option", "given", "said"),
    [
        ("meta-llama/Llama-3.1-70B-Instruct", "--tool-call-parser", "openai", 1),
        ("mistralai/Mistral-Small-24B", "--tool-call-parser", "glm45", 1),
        ("meta-llama/Llama-3.1-70B-Instruct", "--tool-call-parser", "llama3_json", 0),
        ("mistralai/Mistral-Small-24B", "--tool-call-parser", "hermes", 0),
        ("Qwen/Qwen3-32B", "--reasoning-parser", "openai_gptoss", 1),
        ("openai/gpt-oss-120b", "--reasoning-parser", "openai_gptoss", 0),
        ("LGAI-EXAONE/EXAONE-4.0-32B", "--reasoning-parser", "qwen3", 1),
        ("LGAI-EXAONE/EXAONE-4.0-32B", "--reasoning-parser", "deepseek_r1", 0),
    ],
)
def test_marks_that_only_one_family_writes(model: str, option: str, given: str, said: int) -> None:
    found = answers(f"vllm serve {model} {AUTO} {option} {given}")[0]
    assert len([each for each in found if "is not the parser of" in each]) == said


def test_the_parser_that_a_start_lacks_is_named() -> None:
    (judged,) = ask("vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 16 --enable-auto-tool-choice\n")
    (finding,) = [each for each in judged.findings if "it needs --tool-call-parser" in each.message]
    assert finding.remedy == "add --tool-call-parser kimi_k2, or leave it out"


def test_of_a_model_that_is_not_known_it_is_not() -> None:
    (judged,) = ask("vllm serve some/unheard-model -tp 16 --enable-auto-tool-choice\n")
    (finding,) = [each for each in judged.findings if "it needs --tool-call-parser" in each.message]
    assert "of the model's family" in finding.remedy
