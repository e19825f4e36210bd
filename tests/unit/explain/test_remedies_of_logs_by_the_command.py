"""What is advised for a line of a log fits the command: no part for an option or a library that it does not have, and
where a report of the release explains that very line, the report's remedy alone."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

ILLEGAL = "torch.AcceleratorError: CUDA error: an illegal memory access was encountered"
SHARED = (
    "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 165888, Hardware limit: 163840."
)


def remedies(command: str, log: str, on: str = "8xH200") -> list[str]:
    judged = ask(f"```bash\n{command}\n```\n\nIt fails:\n\n```\n{log}\n```\n", on)
    found = [finding for each in judged for finding in each.findings]
    return [finding.remedy for finding in found if finding.code is Code.LOGGED_FAILURE]


K2T = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --enable-expert-parallel --trust-remote-code {}"


@pytest.mark.parametrize(
    ("more", "expected"),
    [("", False), ("--all2all-backend deepep_low_latency", True), ("--all2all-backend pplx", False)],
)
def test_a_library_that_is_not_asked_for_is_not_advised_against(more: str, expected: bool) -> None:
    (remedy,) = remedies(K2T.format(more), ILLEGAL)
    assert ("DeepEP" in remedy) is expected
    assert remedy.startswith("where DeepEP is asked for" if expected else "take a newer release; ")
    assert remedy.endswith("CUDA_LAUNCH_BLOCKING=1 names the kernel")


def test_a_library_that_a_variable_asks_for_counts() -> None:
    (remedy,) = remedies(f"VLLM_ALL2ALL_BACKEND=deepep_low_latency {K2T.format('')}", ILLEGAL)
    assert "DeepEP" in remedy


@pytest.mark.parametrize(("more", "expected"), [("", False), ("--kv-cache-dtype fp8", True)])
def test_an_option_that_is_not_given_is_not_to_be_left_out(more: str, expected: bool) -> None:
    (remedy,) = remedies(f"vllm serve openai/gpt-oss-120b --tensor-parallel-size 4 {more}", SHARED, "4xMI355X")
    assert ("--kv-cache-dtype" in remedy) is expected
    assert remedy.startswith("take another attention or MoE backend")


NCCL = "/usr/lib/libnccl.so.2(+0x5c2a0) addProxyOpIfNeeded() Segmentation fault: signal 11"
NODES = "vllm serve deepseek-ai/DeepSeek-R1 --tensor-parallel-size 16 --trust-remote-code"


@pytest.mark.xfail(strict=True, reason="the general remedy stands beside the report's since both are told")
def test_a_report_that_names_what_the_log_names_has_the_remedy() -> None:
    text = f"vLLM 0.7.3 on two nodes of 8 H800\n\n```bash\n{NODES}\n```\n\nIt crashes:\n\n```\n{NCCL}\n```\n"
    found = [finding for each in ask(text, "2x8xH800") for finding in each.findings]
    (failure,) = [each for each in found if each.code is Code.LOGGED_FAILURE]
    (report,) = [each for each in found if each.code is Code.KNOWN_REPORT and "addProxyOpIfNeeded" in each.message]
    assert failure.remedy == report.remedy


def test_without_such_a_report_the_general_remedy_stays() -> None:
    text = f"vLLM 0.11.0\n\n```bash\n{NODES}\n```\n\nIt crashes:\n\n```\n{NCCL}\n```\n"
    found = [finding for each in ask(text, "2x8xH800") for finding in each.findings]
    (failure,) = [each for each in found if each.code is Code.LOGGED_FAILURE]
    assert failure.remedy.startswith("look at NCCL_DEBUG=INFO")


SINKS = (
    "NotImplementedError: FlashInfer backend currently does not support attention sinks, "
    "please use trtllm on blackwell or flash attention on earlier GPUs."
)


def test_an_error_that_asks_for_something_is_its_own_remedy() -> None:
    (remedy,) = remedies("vllm serve openai/gpt-oss-120b --tensor-parallel-size 8", SINKS, "8xB200")
    assert remedy == "do what it asks for: use trtllm on blackwell or flash attention on earlier GPUs"


def test_an_error_that_asks_for_nothing_keeps_the_general_remedy() -> None:
    (remedy,) = remedies("vllm serve openai/gpt-oss-120b --tensor-parallel-size 8", SINKS.partition(", please")[0])
    assert remedy.startswith("change the setting that it is about")


BUDGET = """Image `quay.io/ascend/vllm-ascend:v0.26.0rc1-a3`.

```bash
vllm serve deepseek-ai/DeepSeek-V4-Flash-0731 --tensor-parallel-size 8 \\
  --max-num-batched-tokens {batch} --max-num-seqs 60 \\
  --speculative-config '{{"method": "dspark", "num_speculative_tokens": 7}}'
```

On Ascend it stops:

```
ValueError: max_num_scheduled_tokens = -240 must be greater than 0
```
"""


@pytest.mark.parametrize(("batch", "expected"), [(120, 0), (960, 1)])
def test_what_an_error_has_reckoned_as_the_log_shows_it_is_not_said_again(batch: int, expected: int) -> None:
    found = [finding for each in ask(BUDGET.format(batch=batch), "8xA3") for finding in each.findings]
    assert len([finding for finding in found if finding.code is Code.LOGGED_FAILURE]) == expected
    assert any("-240 are left" in finding.message for finding in found) is not bool(expected)
