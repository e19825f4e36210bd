"""What releases have for the classes of models that implement it."""

from __future__ import annotations

import pytest

from moonpad.catalog.known_reports import known_reports
from moonpad.catalog.model_features import class_of, model_features, releases_read, served_classes
from moonpad.catalog.start_refusals import start_refusals
from moonpad.engines import ENGINES
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.versions import order
from tests.unit.explain.judging import ask

S = "python -m sglang.launch_server --trust-remote-code --model-path "
NEMOTRON = "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16"
V = "vllm serve --trust-remote-code "
EAGLE3 = """ --speculative-config '{"method":"eagle3","model":"me/draft","num_speculative_tokens":3}'"""
MTP = """ --speculative-config '{"method":"mtp","num_speculative_tokens":1}'"""
NEXTN = " --speculative-algorithm NEXTN --speculative-num-steps 3 --speculative-eagle-topk 1"
DFLASH = " --speculative-algorithm DFLASH --speculative-draft-model-path me/dflash"
DRAFT3 = " --speculative-algorithm EAGLE3 --speculative-draft-model-path me/eagle3"


def told(text: str, version: str = "") -> list[Finding]:
    findings = [finding for judged in ask(text, version=version) for finding in judged.findings]
    return [each for each in findings if each.code is Code.CONFLICT and ", the class of " in each.message]


@pytest.mark.parametrize(
    ("text", "version", "parts", "severity"),
    [
        (f"{S}moonshotai/Kimi-K2.5 --tp 8 --pp-size 2", "0.5.9", ("pipeline stages", "0.5.10 has it"), Severity.ERROR),
        (f"{S}Qwen/Qwen3-Next-80B-A3B-Instruct --tp 4 --pp-size 2", "0.5.20", ("not compatible",), Severity.ERROR),
        (f"{S}baidu/ERNIE-4.5-300B-A47B-PT --tp 8 --pp-size 2", "0.5.3", ("AttributeError",), Severity.WARNING),
        (f"{S}zai-org/GLM-4.5V --tp 8 --ep 8 --enable-eplb", "0.5.12", ("ExpertLocationMetadata",), Severity.ERROR),
        (f"{S}mistralai/Mixtral-8x22B-Instruct-v0.1 --tp 8{DRAFT3}", "0.5.3", ("EAGLE-3",), Severity.ERROR),
        (f"{S}stepfun-ai/Step-3.5-Flash --tp 8{DRAFT3}", "0.5.20", ("config.json",), Severity.WARNING),
        (f"{S}MiniMaxAI/MiniMax-M2 --tp 8{DFLASH}", "0.5.17", ("DFlash",), Severity.ERROR),
        (f"{S}stepfun-ai/step3 --tp 8{NEXTN}", "0.5.3", ("get_embed_and_head",), Severity.ERROR),
        (
            f"{S}openai/gpt-oss-120b --tp 8 --enable-two-batch-overlap",
            "0.5.17",
            ("nothing overlaps",),
            Severity.WARNING,
        ),
        (f"{S}tencent/Hy3-preview --tp 8 --dp-size 8 --enable-dp-attention", "0.5.12", ("hang",), Severity.WARNING),
        (f"{V}openai/gpt-oss-120b -tp 4 -pp 2", "0.10.1.1", ("pipeline stages", "0.10.2 has it"), Severity.ERROR),
        (f"{V}moonshotai/Kimi-K2.5 -tp 8 --enable-lora", "0.20.0", ("LoRA adapters",), Severity.ERROR),
        (f"{V}moonshotai/Kimi-K2.5 -tp 8 -ep --enable-eplb", "0.18.0", ("eplb_step", "0.22.0 has it"), Severity.ERROR),
        (f"{V}MiniMaxAI/MiniMax-M1-80k -tp 8 -pp 2", "0.15.1", ("MiniMaxM1ForCausalLM",), Severity.ERROR),
        (f"{V}zai-org/GLM-4.6 -tp 8{EAGLE3}", "0.15.0", ("of a list",), Severity.ERROR),
        (f"{V}databricks/dbrx-instruct -tp 8{EAGLE3}", "0.25.0", ("EAGLE3 interface",), Severity.WARNING),
        (f"{V}{NEMOTRON} -tp 8{MTP}", "0.16.0", ("NotImplementedError", "0.17.0 has it"), Severity.ERROR),
        (f"{V}nvidia/Llama-4-Scout -tp 2 --quantization bitsandbytes", "0.9.2", ("assertion",), Severity.ERROR),
        (f"{V}unsloth/Qwen3-30B-A3B-bnb-4bit -tp 1", "0.9.2", ("0.10.0 has it",), Severity.ERROR),
        (f"{V}google/gemma-3-27b-it -tp 2 --mm-encoder-tp-mode data", "0.20.0", ("as weights",), Severity.WARNING),
    ],
)
def test_a_class_without_it_is_told(text: str, version: str, parts: tuple[str, ...], severity: Severity) -> None:
    (finding,) = told(text, version)
    assert finding.severity is severity
    assert all(part in finding.message + (finding.remedy or "") for part in parts)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (f"{S}moonshotai/Kimi-K2.5 --tp 8 --pp-size 2", "0.5.10"),
        (f"{S}moonshotai/Kimi-K2.5 --tp 8 --pp-size 1", "0.5.9"),
        (f"{S}moonshotai/Kimi-K2-Thinking --tp 8 --pp-size 2", "0.5.9"),
        (f"{S}moonshotai/Kimi-K2.5 --tp 8 --pp-size $STAGES", "0.5.9"),
        (f"{S}me/Kimi-K2.5-Eagle3 --tp 8 --pp-size 2", "0.5.9"),
        (f"{S}stepfun-ai/Step-3.5-Flash --tp 8 --ep 8 --enable-eplb", "0.5.13"),
        (f"{S}Qwen/Qwen3-Next-80B-A3B-Instruct --tp 4{DRAFT3}", "0.5.9"),
        (f"{S}moonshotai/Kimi-K2.5 --tp 8{DFLASH}", "0.5.11"),
        (f"{S}deepseek-ai/DeepSeek-V3.2 --tp 8{NEXTN}", "0.5.9"),
        (f"{S}zai-org/GLM-4.6 --tp 8 --dp-size 8 --enable-dp-attention", "0.5.12"),
        (f"{S}zai-org/GLM-4.6 --tp 8 --enable-two-batch-overlap", "0.5.17"),
        (f"{V}openai/gpt-oss-120b -tp 4 -pp 2", "0.10.2"),
        (f"{V}moonshotai/Kimi-K2-Instruct -tp 8 --enable-lora", "0.20.0"),
        (f"{V}moonshotai/Kimi-K2.5 -tp 8 -ep --enable-eplb", "0.22.0"),
        (f"{V}moonshotai/Kimi-K2.5 -tp 8 -ep --enable-eplb", "0.33.0"),
        (f"{V}moonshotai/Kimi-K2.5 -tp 8{EAGLE3}", "0.18.0"),
        (f"{V}zai-org/GLM-4.6 -tp 8{MTP}", "0.15.0"),
        (f"{V}moonshotai/Kimi-K2.5 -tp 8 --mm-encoder-tp-mode data", "0.20.0"),
        (f"{V}unsloth/Qwen3-30B-A3B-bnb-4bit -tp 1", "0.10.0"),
        (f"{V}unsloth/Qwen3-32B-bnb-4bit -tp 1", "0.9.2"),
        (f"{V}MiniMaxAI/MiniMax-M1-80k -tp 8 -pp 2 --model-impl transformers", "0.15.1"),
        (f"{V}MiniMaxAI/MiniMax-M1-80k -tp 8 -pp 2", "0.15.1rc2"),
        (f"{V}MiniMaxAI/MiniMax-M1-80k -tp 8 -pp 2", "0.40.0"),
    ],
)
def test_a_class_that_has_it_is_quiet(text: str, version: str) -> None:
    assert told(text, version) == []


def test_a_release_between_two_that_differ_is_not_judged() -> None:
    stages = model_features()["sglang-stages"]
    kimi = "KimiK25ForConditionalGeneration"
    assert stages.lacking(kimi, "0.5.9") is not None
    assert stages.lacking(kimi, "0.5.9.post1") is None
    assert stages.lacking("Qwen3NextForCausalLM", "0.5.8.post1") is not None  # between two without it


def test_without_a_release_the_last_one_without_it_is_a_note() -> None:
    (finding,) = told(f"{S}MiniMaxAI/MiniMax-M3 --tp 8{DFLASH}")
    assert finding.severity is Severity.NOTE
    assert "0.5.23 has it" in finding.message


def test_without_a_release_what_none_has_is_a_warning() -> None:
    (finding,) = told(f"{S}baidu/ERNIE-4.5-300B-A47B-PT --tp 8 --pp-size 2")
    assert finding.severity is Severity.WARNING
    assert "no release up to 0.5.23" in finding.message


def test_what_a_report_says_is_not_said_again_as_a_warning() -> None:
    text = f"{V}MiniMaxAI/MiniMax-M2 -tp 8 -ep --enable-eplb"
    assert told(text, "0.28.0") == []
    findings = [finding for judged in ask(text, version="0.28.0") for finding in judged.findings]
    assert any(finding.code is Code.KNOWN_REPORT and "balancer" in finding.message for finding in findings)


@pytest.mark.parametrize(
    ("before", "severity"),
    [
        ("Seen with the released image.", Severity.ERROR),
        ("Built on https://github.com/sgl-project/sglang at the tag.", Severity.ERROR),
        ("Built on our copy, https://github.com/me/sglang/tree/stages.", Severity.WARNING),
        ("The stages of this part are there in 0.5.5.post3 and later.", Severity.NOTE),
        ("Tested with 0.5.5.post31 of our own.", Severity.ERROR),
    ],
)
def test_what_the_text_says_of_the_build(before: str, severity: Severity) -> None:
    command = f"{S}Qwen/Qwen2.5-VL-72B-Instruct --tp 8 --pp-size 2"
    (finding,) = told(f"{before}\n\n```bash\n{command}\n```\n", "0.5.5.post2")
    assert finding.severity is severity


def test_a_build_of_ones_own_may_have_it() -> None:
    text = f"pip install -e .\n{S}moonshotai/Kimi-K2.5 --tp 8 --pp-size 2"
    assert all(finding.severity is not Severity.ERROR for finding in told(text))


@pytest.mark.parametrize(
    ("written", "served"),
    [
        ("moonshotai/Kimi-K2.6", "KimiK25ForConditionalGeneration"),
        ("/models/Kimi-K2-Thinking/", "DeepseekV3ForCausalLM"),
        ("moonshotai/Kimi_K2-Instruct-0905", "DeepseekV3ForCausalLM"),
        ("/models/kimi-k2-6", ""),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", ""),
        ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", ""),
        ("zai-org/GLM-4.6V-Flash", ""),
        ("zai-org/GLM-4.7-Flash", "Glm4MoeLiteForCausalLM"),
        ("zai-org/GLM-4.7-FP8", "Glm4MoeForCausalLM"),
        ("stepfun-ai/Step3-VL-10B", ""),
        ("nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8", "NemotronHForCausalLM"),
    ],
)
def test_a_name_stands_for_one_class(written: str, served: str) -> None:
    assert class_of(written) == served


def test_rows_are_sound() -> None:
    for key, row in model_features().items():
        assert row.engine in ENGINES
        read = releases_read()[row.engine]
        assert key.startswith(f"{row.engine}-")
        assert set(row.without) <= set(served_classes())
        assert set(row.told_by) <= {*known_reports(), *start_refusals()}
        for spans in row.without.values():
            edges = [edge for span in spans for edge in span if edge]
            assert set(edges) <= set(read)
            assert edges == sorted(edges, key=order)
    assert {served for row in model_features().values() for served in row.without} == set(served_classes())


STAGES, ADAPTERS, BALANCE, STATES, EMBEDDING = (
    "vllm-stages",
    "vllm-adapters",
    "vllm-balance",
    "vllm-inner-states",
    "sglang-shared-embedding",
)
READ = {
    # The line with which each class begins, as three releases have it: what of it is told is concluded here by hand.
    "0.20.0": {
        "Glm4MoeForCausalLM": {STAGES, ADAPTERS, BALANCE},  # SupportsPP, SupportsLoRA, Glm4MixtureOfExperts
        "MiniMaxM2ForCausalLM": {STAGES, ADAPTERS, STATES},  # SupportsLoRA, SupportsPP, SupportsEagle3
        "GptOssForCausalLM": {STAGES, ADAPTERS, STATES},  # SupportsPP, SupportsEagle, SupportsEagle3, SupportsLoRA
        "MixtralForCausalLM": {STAGES, ADAPTERS, BALANCE},  # SupportsLoRA, SupportsPP, MixtureOfExperts
        "KimiVLForConditionalGeneration": {STAGES},  # SupportsMultiModal, SupportsPP
        "DeepseekV4ForCausalLM": set(),  # nn.Module alone
    },
    "0.33.0": {
        "MiniMaxM2ForCausalLM": {STAGES, ADAPTERS, STATES},  # SupportsLoRA, SupportsPP, SupportsEagle3
        "LongcatFlashForCausalLM": {STAGES, ADAPTERS},  # SupportsLoRA, SupportsPP
        "Step3p5ForCausalLM": {STAGES, BALANCE},  # SupportsPP, MixtureOfExperts
        "MiMoV2FlashForCausalLM": {STAGES, BALANCE, STATES},  # SupportsPP, MixtureOfExperts, SupportsEagle3
        "LagunaForCausalLM": {STAGES, ADAPTERS, STATES},  # SupportsPP, SupportsLoRA, SupportsEagle3
        "HYV3ForCausalLM": {STAGES, ADAPTERS},  # SupportsPP, SupportsLoRA
        "PhiMoEForCausalLM": {STAGES, ADAPTERS},  # SupportsLoRA, SupportsPP
    },
    "0.5.9": {
        # Methods of the class, and the parameters of its forward.
        "KimiK25ForConditionalGeneration": set(),
        "KimiVLForConditionalGeneration": set(),
        "MiniMaxM2ForCausalLM": {"sglang-balance", "sglang-inner-states", EMBEDDING},
        "Qwen3NextForCausalLM": {"sglang-balance", "sglang-inner-states", EMBEDDING},
        "LongcatFlashForCausalLM": {"sglang-balance", "sglang-inner-states", EMBEDDING},
        "Glm4MoeForCausalLM": {"sglang-stages", "sglang-balance", "sglang-inner-states", EMBEDDING},
        "Step3p5ForCausalLM": {"sglang-stages", EMBEDDING},
    },
}


@pytest.mark.parametrize("version", READ)
def test_three_releases_as_they_were_read_by_hand(version: str) -> None:
    features = {STAGES, ADAPTERS, BALANCE, STATES}
    listed = "vllm-inner-states-listed"
    if version == "0.5.9":
        features = {"sglang-stages", "sglang-balance", "sglang-inner-states", EMBEDDING}
    for served, had in READ[version].items():
        lacks = {key for key in features if model_features()[key].lacking(served, version) is not None}
        if version == "0.20.0" and model_features()[listed].lacking(served, version) is not None:
            lacks.add(STATES)  # refused by a list before the class is asked
        assert lacks == features - had, served
