"""A KV cache whose size the engine is told: in bytes of a device, or as the most tokens of a rank.

By hand: a token of Kimi-K2 takes 61 layers × 576 values × 2 bytes on each device, 70,272 bytes.
"""

from __future__ import annotations

import re

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.values.finding import Code, Severity
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.units import GIB
from tests.configurations import memory_of
from tests.unit.explain.judging import ask_one
from tests.unit.plan.test_search import THINKING, checkpoint

TOKEN_BYTES = 61 * 576 * 2
BLOCK = 64
"""No engine's block is larger."""


def held(settings: Settings, engine: str = "vllm", version: str = "0.20.0", on: str = "8xH200") -> Memory:
    return memory_of(checkpoint(THINKING), parse_cluster(on), engine, version, Layout(tp=8), settings)


@pytest.mark.parametrize("size_gib", [1, 5, 50])
def test_so_many_bytes_are_the_kv_cache_whatever_the_fraction_leaves(size_gib: int) -> None:
    for fraction in (0.6, 0.95):
        told = held(Settings(kv_cache_bytes=size_gib * GIB, gpu_memory_utilization=fraction, max_model_len=4096))
        assert told.kv_bytes.low == told.kv_bytes.value == told.kv_bytes.high == size_gib * GIB
        assert 0 <= size_gib * GIB // TOKEN_BYTES - told.kv_tokens.value < 4096
        assert told.fits
        assert not told.tight


def test_more_than_the_device_has_beside_the_weights() -> None:
    plain = held(Settings(max_model_len=4096))
    room = plain.device_bytes - plain.weights_bytes
    assert not held(Settings(kv_cache_bytes=room, max_model_len=4096)).fits
    assert held(Settings(kv_cache_bytes=room - 6 * GIB, max_model_len=4096)).tight
    assert not held(Settings(kv_cache_bytes=room - 20 * GIB, max_model_len=4096)).tight


def test_a_context_that_is_longer_than_the_told_cache() -> None:
    told = held(Settings(kv_cache_bytes=5 * GIB, max_model_len=131_072))
    assert not told.fits
    assert told.max_context.value <= 5 * GIB // TOKEN_BYTES < told.max_context.value + BLOCK


def test_releases_that_do_not_read_it() -> None:
    """vLLM has it since 0.10.2; the plugin for Ascend reads it since vllm-project/vllm-ascend#8289."""
    told, plain = Settings(kv_cache_bytes=GIB), Settings()
    assert held(told, version="0.10.1").kv_tokens == held(plain, version="0.10.1").kv_tokens
    for version, reads in (("0.13.0", False), ("0.22.1rc1", True)):
        one, other = (held(each, "vllm-ascend", version, "16xA3") for each in (told, plain))
        assert (one.kv_tokens != other.kv_tokens) == reads


def test_at_most_so_many_tokens() -> None:
    plain = held(Settings(), "sglang", "0.5.10")
    capped = held(Settings(kv_cache_tokens=50_000), "sglang", "0.5.10")
    assert 50_000 - BLOCK < capped.kv_tokens.value <= 50_000
    assert capped.kv_bytes.value == capped.kv_tokens.value * TOKEN_BYTES
    roomy = held(Settings(kv_cache_tokens=10 * int(plain.kv_tokens.value)), "sglang", "0.5.10")
    assert (roomy.kv_tokens, roomy.kv_bytes) == (plain.kv_tokens, plain.kv_bytes)


def test_explain_reads_it_with_its_unit() -> None:
    command = f"vllm serve {THINKING} -tp 8 --max-model-len 32768 --kv-cache-memory-bytes"
    small = ask_one(f"{command} 20G", version="0.20.0").memory
    decimal = ask_one(f"{command} 20g", version="0.20.0").memory
    assert small is not None
    assert decimal is not None
    assert (small.kv_bytes.value, decimal.kv_bytes.value) == (20 * GIB, 20 * 10**9)


def test_explain_says_what_is_too_large_and_what_would_do() -> None:
    judged = ask_one(f"vllm serve {THINKING} -tp 8 --max-model-len 32768 --kv-cache-memory-bytes 90G", version="0.20.0")
    (finding,) = [each for each in judged.findings if each.code is Code.DOES_NOT_FIT]
    assert finding.severity is Severity.ERROR
    assert finding.where == "--kv-cache-memory-bytes"
    (corrected,) = judged.corrected
    told = corrected.argv[corrected.argv.index("--kv-cache-memory-bytes") + 1]
    assert 40 * GIB < int(told) < 90 * GIB


def test_a_cap_below_the_context_does_not_keep_the_server_from_starting() -> None:
    command = f"python -m sglang.launch_server --model-path {THINKING} --tp-size 8 --max-total-tokens 50000"
    judged = ask_one(f"{command} --context-length 131072 --trust-remote-code", version="0.5.10")
    assert not any(finding.severity is Severity.ERROR for finding in judged.findings)
    assert any(finding.where == "--context-length" for finding in judged.findings)


EXPERTS = (
    "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --kt-method RAWINT4 --kt-weight-path /w "
    "--kt-cpuinfer 64 --context-length 8192 --tensor-parallel-size 1 --trust-remote-code --kt-num-gpu-experts"
)


def test_experts_that_do_not_fit_stay_in_host_ram() -> None:
    """384 experts a layer, so many of them on a device of 95 GiB as fit: one more does not."""
    judged = ask_one(f"{EXPERTS} 120", on="1xRTX-PRO-6000")
    (finding,) = [each for each in judged.findings if each.code is Code.DOES_NOT_FIT]
    fitting = re.search(r"(\d+) instead of 120 experts", finding.remedy)
    assert fitting is not None
    (corrected,) = judged.corrected
    assert corrected.argv[corrected.argv.index("--kt-num-gpu-experts") + 1] == fitting[1]
    most = ask_one(f"{EXPERTS} {fitting[1]}", on="1xRTX-PRO-6000").memory
    more = ask_one(f"{EXPERTS} {int(fitting[1]) + 1}", on="1xRTX-PRO-6000").memory
    assert most is not None
    assert more is not None
    assert most.fits
    assert not most.tight
    assert more.tight or not more.fits
