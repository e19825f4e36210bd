"""A fault of what the command switches off, of kernels that its devices do not have, or of a second server is not
among those that later releases mended; one change is told once."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask


def faults(text: str, on: str = "8xB200", version: str = "") -> list[str]:
    findings = (finding for judged in ask(text, on, version) for finding in judged.findings)
    return [each.message for each in findings if each.code is Code.MENDED_LATER]


def told(text: str, number: int, on: str = "8xB200", version: str = "") -> int:
    return sum(f"#{number})" in message for message in faults(text, on, version))


NIXL = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
POOL = f"vllm serve nvidia/Kimi-K2.6-NVFP4 --tensor-parallel-size 8 {NIXL} --kv-cache-dtype fp8"
K3 = "vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8 --trust-remote-code"


@pytest.mark.parametrize(
    ("switch", "number"),
    [
        ("--no-enable-prefix-caching", 48860),
        ("--no-enable-prefix-caching", 56640),
        ("--max-num-batched-tokens 8192 --no-enable-flashinfer-autotune", 58165),
    ],
)
def test_a_fault_of_what_a_switch_turns_off_is_left_out(switch: str, number: int) -> None:
    assert told(f"{POOL} {switch.rpartition(' ')[0]}", number, version="0.25.1")
    assert not told(f"{POOL} {switch}", number, version="0.25.1")


@pytest.mark.parametrize("off", ["--language-model-only", """--limit-mm-per-prompt '{"image":0,"video":0}'"""])
def test_faults_of_pictures_are_left_out_where_none_are_taken(off: str) -> None:
    start = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8"
    assert told(start, 49400, version="0.25.1")
    assert not told(f"{start} {off}", 49400, version="0.25.1")


def test_pictures_that_are_granted_are_taken() -> None:
    start = """vllm serve moonshotai/Kimi-K2.6 -tp 8 --limit-mm-per-prompt '{"image":4}'"""
    assert told(start, 49400, version="0.25.1")


SGLANG = "python3 -m sglang.launch_server --model-path {} --tp-size 8 {}"


@pytest.mark.parametrize(
    ("options", "version", "number"),
    [
        ("--disaggregation-mode decode --disable-radix-cache", "0.4.7", 7217),
        ("--disable-radix-cache --mamba-scheduler-strategy extra_buffer", "0.5.13", 28151),
    ],
)
def test_a_fault_that_comes_of_the_switch_itself_is_told(options: str, version: str, number: int) -> None:
    assert told(SGLANG.format("Qwen/Qwen3-Next-80B-A3B-Instruct", options), number, "8xH200", version)


def test_a_fault_of_a_state_without_the_feature_holds_without_it() -> None:
    start = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8"
    assert told(start, 28181, "8xH200", "0.11.0")
    assert told(f"{start} --no-enable-prefix-caching", 28181, "8xH200", "0.11.0")


def test_one_change_is_told_once() -> None:
    drafts = """--speculative-config '{"method":"dspark","model":"x/Kimi-K3-DSpark","num_speculative_tokens":5}'"""
    start = f"VLLM_USE_V2_MODEL_RUNNER=1 {K3} {drafts}"
    assert told(start, 50432, "8xH200", "0.27.0") == 1


OFFLOAD = """--kv-transfer-config '{"kv_connector":"SimpleCPUOffloadConnector","kv_role":"kv_both"}'"""


@pytest.mark.parametrize(("connector", "expected"), [(OFFLOAD, 0), (NIXL, 1)])
def test_a_cache_that_goes_to_host_memory_alone_has_no_other_side(connector: str, expected: int) -> None:
    start = f"{K3} {connector} --enable-prompt-tokens-details"
    assert told(start, 54222, "8xB300", "0.27.0") == expected


TPU = """# {model} on TPU v7x

```bash
PJRT_DEVICE=TPU vllm serve {model} --tensor-parallel-size 16 --enforce-eager --kv-cache-dtype fp8
```
"""


def test_kernels_of_gpus_are_no_concern_of_a_tpu() -> None:
    model = "moonshotai/Kimi-K2.6"
    plain = f"vllm serve {model} --tensor-parallel-size 16 --enforce-eager --kv-cache-dtype fp8"
    assert any("Marlin" in each or "FlashInfer" in each for each in faults(plain, "", "0.18.0"))
    of_tpu = faults(TPU.format(model=model), "", "0.18.0")
    assert of_tpu
    assert not any("Marlin" in each or "FlashInfer" in each or "illegal memory" in each for each in of_tpu)


RUNS = "vllm serve nvidia/Kimi-K2.6-NVFP4 --tensor-parallel-size 8\n\nv0.25.1, tested ok: 30 tokens/s.\n"


@pytest.mark.parametrize(("more", "expected"), [("", 0), ("\nIt runs out of memory at start.\n", 1)])
def test_what_ends_the_start_is_not_told_of_one_that_runs(more: str, expected: int) -> None:
    plain = RUNS.partition("\n")[0]
    assert told(plain, 46276, version="0.25.1")
    text = f"```bash\n{plain}\n```\n{RUNS.partition(chr(10))[2]}"
    assert told(text, 46276, version="0.25.1") == 0 or more


@pytest.mark.parametrize(
    ("model", "expected"), [("moonshotai/Kimi-K2.5", 0), ("deepseek-ai/DeepSeek-V3.2", 1), ("zai-org/GLM-5-FP8", 1)]
)
def test_the_layout_with_eight_heads_ends_starts_with_an_indexer_alone(model: str, expected: int) -> None:
    start = f"vllm serve {model} -tp 8 --kv-offloading-size 100 --kv-offloading-backend native"
    assert told(start, 37536, "8xB200", "0.18.0") == expected


@pytest.mark.parametrize(("version", "expected"), [("0.21.0", 0), ("0.22.1", 1), ("0.23.0", 0)])
def test_the_fault_that_came_back_is_told_of_the_releases_between(version: str, expected: int) -> None:
    start = "vllm serve moonshotai/Kimi-K2.6 -tp 8 -pp 2"
    messages = [finding.message for each in ask(start, "2x8xH200", version) for finding in each.findings]
    assert sum("#43616)" in message for message in messages) == expected
