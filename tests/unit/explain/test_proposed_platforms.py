"""The devices that are proposed for a command which names none: of the platform that the command is for."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code

from .judging import ask

SGLANG = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp-size 16 --trust-remote-code"
VLLM = "vllm serve moonshotai/Kimi-K2-Instruct -tp 16 --trust-remote-code"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{SGLANG} --device npu\n", "A3"),
        (f"{SGLANG} --attention-backend=ascend\n", "A3"),
        (f"export HCCL_BUFFSIZE=1024\n{SGLANG}\n", "A3"),
        (f"export VLLM_HCU_USE_FLASHMLA=1\n{VLLM}\n", "DEVICES"),
        (f"{SGLANG}\n", "H200"),
        (f"export NCCL_DEBUG=INFO\n{VLLM}\n", "H200"),
    ],
)
def test_they_are_of_its_platform(text: str, kind: str) -> None:
    (judged,) = ask(text)
    assert judged.cluster is None
    assert judged.unjudged.endswith(kind) or (kind == "DEVICES" and "--on" not in judged.unjudged)


@pytest.mark.parametrize(("more", "told"), [("", True), (" --dp-size 8", False), (" --attn-dp-size 8", False)])
def test_attention_that_is_shared_out_to_no_groups(more: str, told: bool) -> None:
    (judged,) = ask(f"{SGLANG} --enable-dp-attention{more}\n", version="0.5.23")
    found = [each for each in judged.findings if each.where == "--enable-dp-attention"]
    assert any("does nothing without --dp-size" in each.message for each in found) is told
    assert not (told and any("--dp-size had" in each.remedy for each in found))


@pytest.mark.parametrize(
    ("on", "network", "layout", "told"),
    [
        ("2x8xB200", "EFA", "-tp 16", True),
        ("2x8xB200", "EFA", "-tp 8 -pp 2", True),
        ("2x8xB200", "InfiniBand", "-tp 16", False),
        ("2x8xB200", "InfiniBand", "-tp 8 -pp 2", False),
        ("4x4xGB200", "EFA", "-tp 16", False),
        ("2x8xH200", "EFA", "-tp 16", False),
    ],
)
def test_wrong_answers_over_two_machines(on: str, network: str, layout: str, told: bool) -> None:
    """https://github.com/vllm-project/vllm/issues/52531, of machines that meet over EFA"""
    (judged,) = ask(f"# over {network}\nvllm serve moonshotai/Kimi-K3 {layout} --trust-remote-code\n", on)
    reports = [each.message for each in judged.findings if each.code is Code.KNOWN_REPORT]
    assert any("every kind of CUDA graph gave wrong answers" in message for message in reports) is told
