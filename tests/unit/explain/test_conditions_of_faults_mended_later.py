"""A fault mended later is told only where the command can meet it: what a row's own words name, the row asks for."""

from __future__ import annotations

import re

import pytest

from moonpad.catalog.mended_faults import ENGINES as WITH_FAULTS
from moonpad.catalog.mended_faults import MendedFault, mended_faults
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

ROWS = [(engine, row) for engine in WITH_FAULTS for row in mended_faults(engine)]

DEVICES = re.compile(
    r"\bgfx\d+\w*|\bMI\d{3}\w*|\bS[Mm]_?\d{2,3}\w*|\b(?:Hopper|Blackwell|Ampere|Turing|AMD|ROCm|Spark|Thor|RTX|H20|L40S?)\b"
    r"|\bRDNA\w*|\bCDNA\w*|\bG?[HBA]\d00\b|\bB300\b"
)
OF_ANY_DEVICE = {
    ("vllm", 13693): "seen on one device, and its cause is on all",
    ("vllm", 42930): "the path that came in is AMD's, and what it broke is not",
    ("sglang", 28942): "named as an example of machines without such a network",
    ("sglang", 8688): "the variable that it asks for switches the kernel on",
}
VARIABLES = re.compile(r"\b(?:VLLM|SGLANG|AITER|HCCL|DEEPEP|DEEP_NORMAL)_[A-Z0-9_]+\b")
WITHOUT_THE_VARIABLE = {
    ("vllm", 18915): "it happens without it too",
    ("vllm", 19057): "it happens without it too",
    ("vllm", 32836): "the variable comes with the fix",
    ("vllm", 43768): "it happens whatever the variable is",
    ("sglang", 12776): "the engine reads it by itself",
    ("vllm-ascend", 3068): "the default of it is lost twice as well",
    ("vllm-ascend", 6130): "its default is too small",
}
TOOLS = re.compile(r"quark|compressed[-_ ]?tensors|llm-?compressor|modelopt(?!_MAX)", re.IGNORECASE)
OTHER_TOOLS = {("vllm", 36321): "all but those of the tool that it names"}
FORMATS = re.compile(r"\b(?:MXFP[48]|NVFP4|AWQ|GPTQ|GGUF|INT4|W4A\w+)\b")
ANY_FORMAT = {("vllm", 31715): "of any quantised model", ("vllm", 42616): "the file is an example of several"}
_FEW = 3
AITER = re.compile(r"\baiter\b", re.IGNORECASE)
WITHOUT_AITER = re.compile(
    r"without AITER|not switched on|\bimport|does not support the card|though AITER has|Triton or AITER"
    r"|sparse|take AITER kernels|cannot be overridden|without aiter|hyper-connection|GLM-5\.1|gemm_a4w4",
    re.IGNORECASE,
)
"""It runs there unasked, or is missing."""


def key(engine: str, row: MendedFault) -> tuple[str, int]:
    return engine, row.pull


def values(row: MendedFault) -> str:
    pairs = (*row.options.items(), *row.variables.items(), *((name, "") for name in (*row.unset, *row.models)))
    return " ".join(f"{name} {words}" for name, words in pairs)


def test_a_row_that_names_a_device_asks_for_one() -> None:
    named = {key(*pair) for pair in ROWS if DEVICES.search(pair[1].fault)}
    assert len(named) > 400
    held = {key(*pair) for pair in ROWS if pair[1].devices or pair[1].other_devices}
    assert named - held == set(OF_ANY_DEVICE)


def test_a_row_that_names_a_variable_asks_for_it() -> None:
    named = {key(engine, row): VARIABLES.findall(row.fault) for engine, row in ROWS if VARIABLES.search(row.fault)}
    assert len(named) > 40
    held = {key(engine, row): values(row) for engine, row in ROWS}
    lacking = {each for each, names in named.items() if not any(name in held[each] for name in names)}
    # A backend that is named as a constant is no variable of the engine.
    assert lacking - {each for each in lacking if "CUTLASS_MLA" in "".join(named[each])} == set(WITHOUT_THE_VARIABLE)


def test_a_row_that_names_the_tool_of_the_weights_asks_for_it() -> None:
    named = {key(*pair) for pair in ROWS if TOOLS.search(pair[1].fault)}
    assert len(named) > 120
    held = {key(engine, row) for engine, row in ROWS if row.methods or "--quantization" in values(row)}
    assert named - held == set(OTHER_TOOLS)


def test_a_row_that_names_a_format_asks_for_it_or_for_models_that_have_it() -> None:
    named = {key(*pair) for pair in ROWS if FORMATS.search(pair[1].fault)}
    assert len(named) > 300
    asked = re.compile(r"quant|cache-dtype|kt-method|load-format|moe|a2a|all2all|MOE|QUANT")
    held = {
        key(engine, row)
        for engine, row in ROWS
        if row.formats or row.methods or row.models or asked.search(values(row))
    }
    assert named - held == set(ANY_FORMAT)


def test_a_row_in_aiter_is_told_where_aiter_runs() -> None:
    named = [row for _, row in ROWS if AITER.search(row.fault) and not WITHOUT_AITER.search(row.fault)]
    assert len(named) > 60
    assert [row.pull for row in named if not (row.aiter or row.attention or "aiter" in values(row).casefold())] == []


@pytest.mark.parametrize(
    ("words", "asked", "others"),
    [
        (r"\bLoRA\b|\badapters?\b", "lora|adapter", {51446}),  # its option is the revision of what is loaded besides
        (r"sleep mode", "sleep", set()),
        (r"model runner V2", "V2_MODEL_RUNNER", set()),
        (r"(?i)\blmcache\b", "lmcache|kv-transfer", set()),
        (r"(?i)\bmooncake\b", "mooncake|kv-transfer|disagg|hicache|external-linker|hier", set()),
        (r"(?i)hicache|hierarchical cache", "hier|hicache", {40263}),  # refused with another cache of the decode side
        (r"with (?:data parallel chunking|DP attention)", "data-parallel|dp-attention", {6634, 39379}),
    ],
)
def test_a_row_that_names_a_feature_asks_for_its_option(words: str, asked: str, others: set[int]) -> None:
    named = [row for _, row in ROWS if re.search(words, row.fault)]
    held = re.compile(asked, re.IGNORECASE)
    lacking = {row.pull for row in named if not held.search(f"{values(row)} {' '.join(row.at_least)}")}
    assert len(named) >= _FEW
    assert lacking <= others


def told(text: str, on: str, version: str, number: int) -> bool:
    findings = (finding for judged in ask(text, on, version) for finding in judged.findings)
    return any(each.code is Code.MENDED_LATER and f"#{number})" in each.message for each in findings)


SGLANG_K3 = "SGLANG_USE_AITER=1 {}python3 -m sglang.launch_server --model-path {} --tp-size 8 --trust-remote-code {}"


@pytest.mark.parametrize(
    ("before", "model", "after", "number", "expected"),
    [
        ("", "moonshotai/Kimi-K3", "", 39317, False),  # compressed-tensors, by its config.json
        ("", "amd/Kimi-K2.6-MXFP4", "", 39317, True),
        ("", "moonshotai/Kimi-K3", "", 39066, False),
        ("SGLANG_K3_KDA_FUSED_BACKEND=aiter ", "moonshotai/Kimi-K3", "", 39066, True),
        ("", "moonshotai/Kimi-K3", "--attention-backend triton", 39513, False),
        ("", "moonshotai/Kimi-K3", "--attention-backend aiter", 39513, True),
        ("", "moonshotai/Kimi-K3", "", 39513, True),
    ],
)
def test_a_fault_of_other_weights_or_of_a_path_that_is_not_taken_is_not_told(
    before: str, model: str, after: str, number: int, expected: bool
) -> None:
    assert told(SGLANG_K3.format(before, model, after), "8xMI355X", "0.5.20", number) is expected


def test_a_fault_of_a_later_rocm_is_not_told_of_an_image_with_an_older_one() -> None:
    image = "docker run lmsysorg/sglang-rocm:v0.5.20-rocm720-mi35x {}"
    start = SGLANG_K3.format("", "moonshotai/Kimi-K3", "--attention-backend aiter").partition(" ")[2]
    assert not told(image.format(start), "8xMI355X", "0.5.20", 39513)


GPT_OSS = "{}vllm serve openai/gpt-oss-120b --tensor-parallel-size 4 {}"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", False),
        ("VLLM_ROCM_USE_AITER=0 ", "", False),
        ("VLLM_ROCM_USE_AITER=1 ", "", True),
        ("", "--attention-backend ROCM_AITER_FA", True),
        ("VLLM_ROCM_USE_AITER=$AITER ", "", True),
    ],
)
def test_what_a_variable_switches_on_is_told_where_it_may_be_on(before: str, after: str, expected: bool) -> None:
    assert told(GPT_OSS.format(before, after), "4xMI355X", "0.22.0", 44679) is expected


@pytest.mark.parametrize(("on", "expected"), [("4xMI355X", False), ("4xMI300X", True)])
def test_a_fault_of_all_cards_but_one_is_not_told_of_that_one(on: str, expected: bool) -> None:
    assert told(GPT_OSS.format("", ""), on, "0.11.0", 29127) is expected


def test_a_card_that_the_text_alone_names_is_left_out_too() -> None:
    built = "PYTORCH_ROCM_ARCH=gfx90a;gfx942;gfx950\n\nRunning\n\n```bash\n{}\n```\n\non **gfx950** fails.\n"
    assert not told(built.format(GPT_OSS.format("", "")), "", "0.11.0", 29127)


@pytest.mark.parametrize(
    ("model", "expected"),
    [("MiniMaxAI/MiniMax-M3-MXFP8", False), ("RedHatAI/MiniMax-M3-FP8-dynamic", True), ("amd/MiniMax-M3-FP8", False)],
)
def test_another_format_or_tool_is_not_the_one_of_the_row(model: str, expected: bool) -> None:
    assert told(f"vllm serve {model} --tensor-parallel-size 8", "8xH20", "0.24.0", 46845) is expected


def test_experts_with_a_gate_do_not_meet_a_fault_of_those_without() -> None:
    assert not told("vllm serve MiniMaxAI/MiniMax-M2 --tensor-parallel-size 8", "8xH200", "0.30.0", 59031)
    nemotron = "vllm serve nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16 --tensor-parallel-size 8"
    assert told(nemotron, "8xH200", "0.30.0", 59031)


MLA = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16 --kv-cache-dtype fp8 {}"


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [("", True), ("--attention-backend FLASHMLA", True), ("--attention-backend TRITON_MLA", False)],
)
def test_a_fault_of_one_attention_backend_is_not_told_where_another_is_named(chosen: str, expected: bool) -> None:
    assert told(MLA.format(chosen), "16xH200", "0.10.1", 22668) is expected
