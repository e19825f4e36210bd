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


CONFIG = (
    "INFO 08-11 04:05:51 [core.py:58] Initializing a V1 LLM engine (v0.8.5.post1) with config: model='{model}', "
    "trust_remote_code=True, dtype=torch.bfloat16, max_seq_len=131072, tensor_parallel_size=2, "
    "pipeline_parallel_size=1, enforce_eager=False, kv_cache_dtype=auto\n"
)
MODEL = "moonshotai/Kimi-VL-A3B-Thinking-2506"


@pytest.mark.parametrize(("more", "known"), [("", True), ("(EngineCore_DP1 pid=7) INFO 08-11 04:05:52 ready\n", False)])
def test_the_first_line_of_a_log_counts_its_ranks(more: str, known: bool) -> None:
    """A log of several groups that share requests out names them in its processes."""
    (judged,) = [each for each in ask(CONFIG.format(model=MODEL) + more) if each.layout is not None]
    assert judged.layout is not None
    assert judged.layout.tp == 2
    assert ("dp" not in judged.unknown) is known


def test_one_rank_alone_shares_no_experts() -> None:
    (judged,) = ask(CONFIG.format(model=MODEL).replace("tensor_parallel_size=2", "tensor_parallel_size=1"), "1xH100")
    assert not judged.unknown & {"tp", "pp", "dp", "ep", "dcp"}
