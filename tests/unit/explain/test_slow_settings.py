"""Switches that make a server slow, or its answers noise, where they are left in."""

from __future__ import annotations

import pytest

from moonpad.catalog.slow_settings import slow_settings
from tests.unit.explain.judging import found

K2 = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code"
SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --trust-remote-code"
SLOW = "\n\n8x H200 with NVLink. It is much slower than we hoped: 14 tok/s.\n"


def told(text: str, where: str) -> bool:
    return any(str(each.code) == "suboptimal" and each.where == where for each in found(text, where))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"export CUDA_LAUNCH_BLOCKING=1\n{K2}\n", "CUDA_LAUNCH_BLOCKING"),
        (f"CUDA_LAUNCH_BLOCKING=1 {SGLANG}\n", "CUDA_LAUNCH_BLOCKING"),
        (f"export VLLM_TRACE_FUNCTION=1\n{K2}\n", "VLLM_TRACE_FUNCTION"),
        (f"export AMD_SERIALIZE_KERNEL=3\n{K2}\n", "AMD_SERIALIZE_KERNEL"),
        (f"{K2} --load-format dummy\n\nThe answers are strange signs.\n", "--load-format"),
        (f"{SGLANG} --load-format dummy\n", "--load-format"),
        (f"{K2} --enforce-eager{SLOW}", "--enforce-eager"),
        (f"{K2} --no-enable-prefix-caching{SLOW}", "--no-enable-prefix-caching"),
        (f"{K2} --max-num-batched-tokens 256{SLOW}", "--max-num-batched-tokens"),
        (f"{K2} --max-num-seqs 1\n\nThe second user waits until the first has his answer.\n", "--max-num-seqs"),
        (f'{K2} --compilation-config \'{{"cudagraph_mode": "NONE"}}\'{SLOW}', "--compilation-config"),
        (f"{SGLANG} --disable-cuda-graph{SLOW}", "--disable-cuda-graph"),
        (f"{SGLANG} --disable-radix-cache{SLOW}", "--disable-radix-cache"),
        (f"{SGLANG} --chunked-prefill-size 256{SLOW}", "--chunked-prefill-size"),
        (f"export NCCL_P2P_DISABLE=1\n{K2}{SLOW}", "NCCL_P2P_DISABLE"),
        (f"export NCCL_IB_DISABLE=1\n{K2}{SLOW}\nibstat shows 8 ports\n", "NCCL_IB_DISABLE"),
        (
            f"export VLLM_DISABLE_COMPILE_CACHE=1\n{K2}\n# compiles for 3 minutes at each start\n",
            "VLLM_DISABLE_COMPILE_CACHE",
        ),
    ],
)
def test_what_is_left_in_is_told(text: str, where: str) -> None:
    assert told(text, where)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"export CUDA_LAUNCH_BLOCKING=0\n{K2}\n", "CUDA_LAUNCH_BLOCKING"),
        (f"For debugging, once:\n\nCUDA_LAUNCH_BLOCKING=1 {K2}\n", "CUDA_LAUNCH_BLOCKING"),
        (f"CUDA error: an illegal memory access\n\nCUDA_LAUNCH_BLOCKING=1 {K2}\n", "CUDA_LAUNCH_BLOCKING"),
        (f"To measure the start without the weights:\n{K2} --load-format dummy\n", "--load-format"),
        (f"{K2} --load-format auto\n", "--load-format"),
        (f"{K2} --enforce-eager\n", "--enforce-eager"),
        (f"{K2} --enforce-eager{SLOW}\nWithout --enforce-eager it runs out of memory.\n", "--enforce-eager"),
        (f"{K2} --no-enable-prefix-caching\n", "--no-enable-prefix-caching"),
        (
            f"{K2} --no-enable-prefix-caching{SLOW}\nvllm bench serve --model x --random-input-len 8\n",
            "--no-enable-prefix-caching",
        ),
        (f"{K2} --max-num-batched-tokens 8192{SLOW}", "--max-num-batched-tokens"),
        (f'{K2} --compilation-config \'{{"cudagraph_mode": "FULL"}}\'{SLOW}', "--compilation-config"),
        (f"{SGLANG} --chunked-prefill-size -1{SLOW}", "--chunked-prefill-size"),
        (f"export NCCL_P2P_DISABLE=1\n{K2}\n\n2x RTX 4090. It is slow.\n", "NCCL_P2P_DISABLE"),
        (f"{K2} --enforce-eager --tokenizer-mode=slow\n", "--enforce-eager"),
        (f"{K2} --enforce-eager\n\nINFO 11-20 loading is slow\n", "--enforce-eager"),
    ],
)
def test_what_is_meant_is_not(text: str, where: str) -> None:
    assert not told(text, where)


def test_a_price_that_is_paid_on_purpose_is_a_note() -> None:
    text = f"export CUDA_LAUNCH_BLOCKING=1\n{K2}\n"
    assert [str(each.severity) for each in found(text, "waited for")] == ["note"]
    assert [str(each.severity) for each in found(text + SLOW, "waited for")] == ["warning"]


def test_each_setting_names_what_it_is_about() -> None:
    assert all(row.options or row.variables for row in slow_settings())


AGENTS = "\n\nThe load is agentic: each turn brings the whole history.\n"


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (f"{SGLANG} --disable-radix-cache{AGENTS}", "note"),
        (f"{K2} --no-enable-prefix-caching{AGENTS}", "note"),
        (f"{SGLANG} --disable-radix-cache{AGENTS}It is much slower than we hoped: 14 tok/s.\n", "warning"),
        (
            f"#   {SGLANG} \\\n#     --disable-radix-cache \\\n#     --port 1\n{SGLANG} --disable-radix-cache{AGENTS}",
            "note",
        ),
    ],
)
def test_prefixes_of_agents_are_told_once(text: str, severity: str) -> None:
    found_here = [
        each for each in found(text, "shared") + found(text, "two prompts share") if each.code == "suboptimal"
    ]
    assert [str(each.severity) for each in found_here] == [severity]


@pytest.mark.parametrize(
    "text",
    [
        f"{SGLANG} --disable-radix-cache\n",
        f"Agentic load, measured without the radix cache.\n\n{SGLANG} --disable-radix-cache\n",
        f"{K2}{AGENTS}",
    ],
)
def test_a_cache_that_is_off_on_purpose(text: str) -> None:
    assert not [each for each in found(text, "two prompts share") if each.code == "suboptimal"]
