"""DeepSeek's V3 and R1, whose shapes the family has: what their names mean, and what is said of them."""

from __future__ import annotations

import pytest

from moonpad.catalog.models import find_model, models
from moonpad.explain.results import Judged
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one, codes

FULL = "vllm serve deepseek-ai/DeepSeek-R1"
FOLDER = "vllm serve /models/DeepSeek-R1"


def memory_of(one: Judged) -> list[Severity]:
    return [finding.severity for finding in one.findings if finding.code is Code.DOES_NOT_FIT]


def test_the_elements_are_those_that_the_hub_counts() -> None:
    """BF16 3,918,786,560, F8_E4M3 680,571,043,840 and F32 41,555,600, and 91,991 tensors in the index of V3."""
    model = find_model("deepseek-ai/DeepSeek-V3")
    assert model is not None
    checkpoint = catalog_checkpoint(model)
    assert checkpoint.total_bytes == 2 * 3_918_786_560 + 680_571_043_840 + 4 * 41_555_600
    assert checkpoint.tensors == 91_991
    (extra,) = [group for group in checkpoint.groups if not group.loaded]
    assert extra.layer == 61


def test_nvfp4_has_the_elements_that_the_hub_counts() -> None:
    """396.8 billion: two weights of the MLPs in a byte, their scales, and the rest in BF16."""
    checkpoint = catalog_checkpoint(models()["nvidia/DeepSeek-R1-FP4"])
    packed = {"routed_experts", "shared_experts", "dense_mlp"}
    elements = sum(group.size_bytes if group.component in packed else group.parameters for group in checkpoint.groups)
    assert elements == pytest.approx(396.8e9, rel=0.001)


@pytest.mark.parametrize(
    ("command", "on", "expected"),
    [
        (f"{FULL} -tp 8 --max-model-len 8192", "8xH100", [Severity.ERROR]),
        (f"{FULL} -tp 8 --max-model-len 8192", "8xH200", []),
        (f"{FOLDER} -tp 8 --max-model-len 8192", "8xH100", [Severity.WARNING]),
        (f"{FOLDER} -tp 8 --max-model-len 8192 --quantization awq", "8xH100", []),
        (f"{FOLDER} -tp 8 --max-model-len 8192 # INT8 weights", "8xH100", []),
        (f"{FOLDER}-BF16 -tp 16 --max-model-len 8192", "2x8xH100", [Severity.WARNING]),
        (f"{FOLDER}-AWQ -tp 8 --max-model-len 8192", "8xH100", []),
        (FULL, "", [Severity.WARNING]),
        (f"{FULL} -tp 2", "", [Severity.ERROR]),
        (f"{FOLDER} -tp 2", "", [Severity.WARNING]),
    ],
)
def test_memory(command: str, on: str, expected: list[Severity]) -> None:
    assert memory_of(ask_one(command, on)) == expected


def test_nothing_of_the_kimi_family_is_advised() -> None:
    one = ask_one(f"{FULL} -tp 8 --max-model-len 8192", "8xH200")
    assert not {"--tool-call-parser", "--trust-remote-code"} & {finding.where for finding in one.findings}
    assert one.fits
    assert all("kimi" not in word.casefold() for line in one.corrected for word in line.argv)


def test_weights_on_ascend_are_not_guessed() -> None:
    one = ask_one(f"{FOLDER} -tp 8 --quantization ascend", "8xA2")
    assert one.checkpoint is None
    assert one.memory is None
    assert str(Code.UNSUPPORTED_FORMAT) in codes([ask_one(f"{FULL} -tp 16", "2x8xA2")])


def test_another_of_the_family_is_not_suggested() -> None:
    assert "did you mean" not in ask_one("vllm serve deepseek-ai/DeepSeek-V9 -tp 8").unjudged


@pytest.mark.parametrize(
    ("file", "model"),
    [
        ("/m/DeepSeek-R1-UD-IQ1_S-00001-of-00003.gguf", "DeepSeek-R1-UD-IQ1_S"),
        ("/m/DeepSeek-V3-0324-Q4_K_M-00001-of-00009.gguf", "DeepSeek-V3-0324-Q4_K_M"),
        ("/m/DeepSeek-R1T-Chimera-Q4_K_M-00001-of-00010.gguf", ""),
        ("/m/DeepSeek-R1-Distill-Qwen-14B-Q5_K_M.gguf", ""),
    ],
)
def test_gguf_by_name(file: str, model: str) -> None:
    one = ask_one(f"llama-server -m {file} -ngl 99 -c 8192", "8xH100")
    assert (one.checkpoint.name if one.checkpoint else "") == model


@pytest.mark.parametrize(
    ("heading", "expected"), [("DeepSeek-R1 on our box", False), ("Kimi-K2.5 on our box", True), ("Our box", False)]
)
def test_a_folder_that_says_nothing_is_what_the_text_speaks_of(heading: str, expected: bool) -> None:
    one = ask_one(f"# {heading}\n\n```bash\nvllm serve /model -tp 8\n```\n", "8xH200")
    assert any(finding.where == "--tool-call-parser" for finding in one.findings) == expected


@pytest.mark.parametrize(
    ("heading", "model", "name"),
    [
        ("DeepSeek-R1 on 8xH20", "/model", "deepseek-ai/DeepSeek-R1"),
        ("DeepSeek V3-0324 on 8xH200", "/data/models", "deepseek-ai/DeepSeek-V3-0324"),
        ("DeepSeek-R1 and DeepSeek-V3 on 8xH200", "/model", ""),
        ("DeepSeek-R1-Distill-Qwen-32B on 8xH200", "/model", ""),
        ("DeepSeek-R1 AWQ on 8xH200", "/model", ""),
        ("DeepSeek-R1 or Kimi-K9 on 8xH200", "/model", ""),
        ("DeepSeek-R1 on 8xH200", "/models/ember", ""),
        ("DeepSeek-R1 on 8xH200", "xxx", ""),
    ],
)
def test_a_model_that_the_text_alone_names(heading: str, model: str, name: str) -> None:
    one = ask_one(f"# {heading}\n\n```bash\nvllm serve {model} -tp 8 --max-model-len 8192\n```\n", "")
    assert (one.checkpoint.name if one.checkpoint else "") == name
    assert all(finding.severity is not Severity.ERROR for finding in one.findings)


def test_a_model_that_was_asked_for_is_not_doubted() -> None:
    one = ask_one(f"{FOLDER} -tp 8 --max-model-len 8192", "8xH100", model="deepseek-ai/DeepSeek-R1")
    assert memory_of(one) == [Severity.ERROR]


@pytest.mark.parametrize(
    ("method", "known"),
    [("compressed-tensors", False), ("modelopt_fp4", False), ("fp8", True), ("bitsandbytes", True)],
)
def test_a_served_name_says_little_where_the_method_is_of_other_weights(method: str, known: bool) -> None:
    text = f"vllm serve /mnt/models --served-model-name kimi-k2-instruct -tp 16 --quantization {method}"
    judged = ask_one(text, "2x8xH200")
    assert (judged.checkpoint is not None) is known
