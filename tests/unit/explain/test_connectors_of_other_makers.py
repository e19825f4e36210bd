"""Decode context parallelism shares a KV cache out over ranks: it is not proposed beside a connector of somebody's own,
which copies the whole of it, and is where vLLM's own one is given or none."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

START = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code --max-num-seqs 64"


def proposes_dcp(options: str) -> bool:
    judged = ask_one(f"{START} {options}\n", on="8xH200")
    return any("dcp" in dict(better.changes) for better in judged.better)


@pytest.mark.parametrize("name", ["AnchorConnector", "MyOwnConnector"])
def test_it_is_not_proposed(name: str) -> None:
    assert not proposes_dcp(f'--kv-transfer-config \'{{"kv_connector": "{name}", "kv_role": "kv_both"}}\'')


@pytest.mark.parametrize(
    "options", ["", '--kv-transfer-config \'{"kv_connector": "NixlConnector", "kv_role": "kv_both"}\'']
)
def test_it_is_proposed(options: str) -> None:
    assert proposes_dcp(options)
