"""What is said of the engine's own packages is not said of a vendor's build, and an option of a branch is none that is
misspelt."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity

from .judging import ask

GLM = "vllm serve zai-org/GLM-5-FP8 -tp 8 --trust-remote-code"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"# vllm 0.18.1\n{GLM}\n", True),
        (f"docker run --gpus all vllm/vllm-openai:v0.18.1 {GLM}\n", True),
        (f"# vllm 0.18.1\nexport VLLM_HCU_USE_FLASHMLA=1\n{GLM}\n", False),
        (f"docker run --gpus all registry.example.com/team/vllm:0.18.1 {GLM}\n", False),
    ],
)
def test_packages_of_the_engine_itself(text: str, told: bool) -> None:
    judged = ask(text, version="0.18.1")
    assert any("asks for transformers" in finding.message for each in judged for finding in each.findings) is told


def test_an_option_of_a_branch() -> None:
    text = (
        "python -m sglang.launch_server --model-path /m/DeepSeek-V3.2-Exp-W8A8 --tp-size 32 --device npu --cp-size 32\n"
    )
    (judged,) = ask(text)
    assert all(finding.severity is not Severity.ERROR for finding in judged.findings)
    (finding,) = [each for each in judged.findings if each.where == "--cp-size"]
    assert "--attn-cp-size" in finding.remedy
    assert "--dcp-size" not in finding.remedy


@pytest.mark.parametrize(
    ("command", "written", "hint"),
    [
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8", "--cp-size", ""),
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8", "--sequence-parallel-size", ""),
        ("vllm serve moonshotai/Kimi-K2.5", "--tensor-paralel-size", "did you mean --tensor-parallel-size?"),
    ],
)
def test_a_size_is_not_taken_for_another_one(command: str, written: str, hint: str) -> None:
    (judged,) = ask(f"{command} {written} 8\n", version="0.33.0")
    (finding,) = [each for each in judged.findings if each.where == written]
    assert (finding.remedy == hint) if hint else ("did you mean" not in finding.remedy)


@pytest.mark.parametrize(
    ("name", "severity"),
    [("hygon/DeepSeek-R1-W4A8", Severity.NOTE), ("someone/DeepSeek-R1-W4A8", Severity.WARNING)],
)
def test_a_method_of_a_vendors_weights_may_be_one_of_its_build(name: str, severity: Severity) -> None:
    (judged,) = ask(f"vllm serve {name} -tp 8 -q slimquant_w4a8_marlin\n", version="0.15.1")
    (finding,) = [each for each in judged.findings if each.where == "--quantization"]
    assert finding.severity is severity
    assert ("leave it out" in finding.remedy) is (severity is Severity.WARNING)
