"""The workspace of MLA prefill where layers of linear attention lengthen the blocks, before and after
https://github.com/vllm-project/vllm/pull/51733."""

from __future__ import annotations

import pytest

from moonpad.catalog.models import find_model
from moonpad.engines import ENGINES
from moonpad.plan.activations import workspace_tokens
from moonpad.plan.effective_settings import limits_of
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.values.cluster import Cluster, Device, Host
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Layout, Platform, Settings
from moonpad.values.units import GIB, MIB

H200 = Device("h200", "h200", "h200", Platform.CUDA, "", "9.0", 143771 * MIB, int(139.81 * GIB), False, False, 8, 8)


def start(
    version: str, sequences: int | None = None, engine: str = "vllm", model: str = "kimi-linear"
) -> Configuration:
    """As a runbook of 2026 has it for one H200 and a build from between 0.19.1 and 0.20.0."""
    known = find_model(model)
    assert known is not None
    settings = Settings(
        max_model_len=524288,
        max_num_seqs=sequences,
        gpu_memory_utilization=0.95,
        kv_cache_dtype="fp8",
        enforce_eager=True,
        prefix_caching=True,
    )
    cluster = Cluster("some", 1, 1, H200, Host())
    return Configuration(catalog_checkpoint(known), cluster, ENGINES[engine].facts, version, Layout(), settings)


def rows(version: str, sequences: int | None = None) -> int:
    of = start(version, sequences)
    return workspace_tokens(of, limits_of(of))


@pytest.mark.parametrize("version", ["0.19.1", "0.26.0", "0.27.1"])
def test_a_block_for_each_sequence(version: str) -> None:
    """The runbook's log: blocks of 3776 tokens, 1024 sequences, 59.00 GiB, that is 32 heads of 128 + 128 values."""
    assert rows(version, 1024) == 1024 * 3776
    assert rows(version, 1024) * 32 * 256 * 2 / GIB == pytest.approx(59.00)


@pytest.mark.parametrize("version", ["0.28.0", "0.33.0"])
def test_whole_contexts_alone_since(version: str) -> None:
    assert rows(version, 1024) == rows(version, 16) == 64 * 1024


def test_fewer_sequences_take_less() -> None:
    assert rows("0.26.0", 16) == 64 * 1024
    assert rows("0.26.0", 64) == 64 * 3776


def test_blocks_that_nothing_lengthens_stay() -> None:
    of = start("0.26.0", 1024, model="kimi-k2")
    assert workspace_tokens(of, limits_of(of)) == 64 * 1024
