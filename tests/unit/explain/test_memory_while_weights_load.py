"""Memory that runs out while weights are loaded: no setting of the run helps.

Oracle: engines size the KV cache after the weights are loaded, so that what is lowered for it changes nothing before.
"""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 588.00 MiB."
HELD = "GPU 0 has a total capacity of 139.81 GiB of which 546.94 MiB is free. 137.23 GiB is allocated by PyTorch"
SHARED = "GPU 0 has a total capacity of 139.81 GiB of which 546.94 MiB is free. 30.00 GiB is allocated by PyTorch"
COMMAND = "vllm serve moonshotai/Kimi-K3 -tp 16 --nnodes 2 --node-rank 0 --trust-remote-code --max-model-len 8192"
LOWERED = ("--gpu-memory-utilization", "--max-num-seqs", "--max-num-batched-tokens")


def traceback(function: str, held: str = HELD) -> str:
    frame = f'  File "/usr/lib/python3/vllm/layer.py", line 10, in {function}'
    return f"Traceback (most recent call last):\n{frame}\n    torch.empty(1)\n{OOM} {held}"


def remedy(text: str) -> str:
    findings = [finding for judged in ask(text, "2x8xH200", "0.33.0") for finding in judged.findings]
    (told,) = [finding.remedy for finding in findings if "the engine stopped: out of memory" in finding.message]
    return told


@pytest.mark.parametrize("function", ["create_weights", "load_model", "weight_loader"])
def test_a_traceback_of_loading_asks_for_more_devices_or_fewer_bits(function: str) -> None:
    told = remedy(f"```bash\n{COMMAND}\n```\n\n```\n{traceback(function)}\n```\n")
    assert "more devices" in told
    assert "fewer bits" in told
    assert "--cpu-offload-gb" in told
    assert not any(option in told for option in LOWERED)


@pytest.mark.parametrize("text", [traceback("profile_run"), traceback("create_weights", SHARED)], ids=["run", "shared"])
def test_memory_of_the_run_and_memory_of_other_processes_is_lowered(text: str) -> None:
    assert "--gpu-memory-utilization" in remedy(f"```bash\n{COMMAND}\n```\n\n```\n{text}\n```\n")


REPORT = f"vLLM, `moonshotai/Kimi-K3` on 8 x H200, TP8. Fails in `create_weights`:\n\n```text\n{OOM}\n```\n"


def test_a_report_without_a_command_has_model_devices_and_ranks() -> None:
    (judged,) = ask(REPORT)
    assert judged.checkpoint is not None
    assert judged.cluster is not None
    assert judged.layout is not None
    assert (judged.checkpoint.name, judged.cluster.devices) == ("moonshotai/Kimi-K3", 8)
    assert judged.layout.tp == 8
    assert any("more devices" in finding.remedy for finding in judged.findings)


@pytest.mark.parametrize(
    ("heading", "below", "told"),
    [
        ("Blocker: OOM of one node", "What unblocks (resolved)", False),
        ("OOM of one node (abandoned)", "Results", False),
        ("Blocker: OOM of one node", "What is not resolved", True),
        ("OOM of one node", "Unresolved", True),
    ],
)
def test_a_failure_told_as_past_is_not_the_present_state(heading: str, below: str, told: bool) -> None:
    error = f"vLLM fails in `create_weights`:\n\n```text\n{OOM}\n```\n"
    judged = ask(f"# Notes on vLLM\n\n## {heading}\n\n{error}\n## {below}\n\nSixteen ranks.\n")
    assert any("out of memory" in finding.message for each in judged for finding in each.findings) is told


def test_a_context_that_is_too_long_is_not_what_ended_the_loading() -> None:
    whole_context = COMMAND.removesuffix(" --max-model-len 8192")
    text = f"```bash\n{whole_context}\n```\n\n```\n{traceback('create_weights')}\n```\n"
    told = [f.remedy for each in ask(text, "2x8xH200", "0.33.0") for f in each.findings if "while the" in f.message]
    assert [remedy.startswith("take more devices") for remedy in told] == [True]
