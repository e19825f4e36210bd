"""`Unsupported connector type`: the release has none of that name."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import first_line

COMMAND = (
    "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --trust-remote-code"
    ' --kv-transfer-config \'{"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_both"}\''
)


@pytest.mark.parametrize(
    "error",
    [
        "ValueError: Unsupported connector type: LMCacheConnectorV1",
        "ERROR 05-20 10:11:12 [engine.py:571] Unsupported connector type: LMCacheConnectorV1",
    ],
)
def test_the_cause_is_the_release(error: str) -> None:
    first = first_line(f"```\n{COMMAND}\n```\n\n```\n{error}\n```\n")
    assert "this release has no KV connector called LMCacheConnectorV1" in first
