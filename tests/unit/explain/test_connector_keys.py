"""Keys of a connector's settings that are nearly right."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def said(key: str, connector: str = "NixlConnector") -> int:
    config = f'{{"kv_connector":"{connector}","kv_role":"kv_both","kv_connector_extra_config":{{{key}}}}}'
    text = f"vllm serve Qwen/Qwen3-32B -tp 4 --kv-transfer-config '{config}'"
    return sum("passes over" in each.message for judged in ask(text) for each in judged.findings)


def test_nearly_a_key() -> None:
    assert said('"backend":["UCX","GDS"]') == 1


@pytest.mark.parametrize("key", ['"backends":["UCX"]', '"something_else":1', '"backend":1,"backends":["UCX"]', ""])
def test_a_key_or_none_at_all(key: str) -> None:
    assert said(key) == 0


def test_another_connector() -> None:
    assert said('"backend":["UCX"]', "LMCacheConnectorV1") == 0
