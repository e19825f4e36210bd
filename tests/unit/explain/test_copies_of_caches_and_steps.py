"""Copies of the KV cache from the host, and the steps that still read what they overwrite."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

CONNECTOR = """{"kv_connector":"SimpleCPUOffloadConnector","kv_role":"kv_both"}"""
RACE = f"vllm serve Qwen/Qwen3-8B --kv-transfer-config '{CONNECTOR}'"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (RACE, True),
        (f"{RACE} --async-scheduling", True),
        (f"{RACE} --no-async-scheduling", False),
        (f"CUDA_LAUNCH_BLOCKING=1 {RACE}", False),
    ],
)
def test_steps_that_wait_for_each_other_do_not_race_with_copies(text: str, told: bool) -> None:
    judged = ask_one(text, "1xRTX-5090", "0.27.0")
    assert any("come back from the host can overwrite" in each.message for each in judged.findings) is told
