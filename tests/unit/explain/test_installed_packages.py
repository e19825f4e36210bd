"""A package that the log shows as installed does not lack."""

from __future__ import annotations

import pytest

from .judging import ask

SERVE = "vllm serve moonshotai/Kimi-VL-A3B-Thinking-2506 --trust-remote-code\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", True),
        ("Successfully installed einops-0.8.1 flash_attn-2.7.4.post1 vllm-0.8.5.post1\n", False),
        ("Requirement already satisfied: flash-attn in /env/lib/python3.12/site-packages (2.7.4)\n", False),
        ("Successfully installed vllm-flash-attn-2.6 xformers-0.0.29\n", True),
        ("# flash-attn is not there\n", True),
    ],
)
def test_flash_attn_of_a_vision_tower(line: str, told: bool) -> None:
    judged = ask(f"{line}{SERVE}", "1xH100", "0.10.0")
    findings = [finding for each in judged for finding in each.findings]
    assert any("where the package flash-attn is not installed" in each.message for each in findings) is told
