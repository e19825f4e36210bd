"""The connector that a recipe names beside the options, of which its tool makes one."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

RECIPE = """\
name: k2-two-pools
model: {{path: moonshotai/Kimi-K2-Instruct, container: "vllm/vllm-openai:v0.20.0", precision: fp8}}
resources:
  {{gpu_type: h200, gpus_per_node: 8, prefill_nodes: 2, decode_nodes: 2, prefill_workers: 1, decode_workers: 1}}
backend:
  type: vllm{connector}
  vllm_config:
    prefill: {{tensor-parallel-size: 8, pipeline-parallel-size: 2, trust-remote-code: true{more}}}
    decode: {{tensor-parallel-size: 8, pipeline-parallel-size: 2, trust-remote-code: true{more}}}
"""
OWN = """, kv-transfer-config: '{"kv_connector":"MooncakeConnector","kv_role":"kv_both"}'"""


def text_of(connector: str = "", more: str = "") -> str:
    return RECIPE.format(connector=f"\n  connector: {connector}" if connector else "", more=more)


def connectors(text: str) -> list[str]:
    found: list[str] = []
    for command in read_script(text).commands:
        words = [word.text for word in command.argv]
        found += (words[at + 1] for at, word in enumerate(words) if word == "--kv-transfer-config")
    return found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (text_of("nixl"), "NixlConnector"),
        (text_of(), "NixlConnector"),
        (text_of("LMCache"), "LMCacheConnectorV1"),
        (text_of("null", ", connector: kvbm"), "DynamoConnector"),
        (text_of("lmcache", ", connector: null"), "LMCacheConnectorV1"),
        (text_of("""'{"kv_connector": "P2pNcclConnector"}'"""), "P2pNcclConnector"),
    ],
)
def test_the_tool_makes_an_option_of_it(text: str, name: str) -> None:
    assert [f'"kv_connector": "{name}"' in value for value in connectors(text)] == [True, True]
    assert not any("no cache is handed over" in f.message for each in ask(text) for f in each.findings)


@pytest.mark.parametrize("text", [text_of("null"), text_of("none")])
def test_a_recipe_may_want_none(text: str) -> None:
    assert connectors(text) == []
    assert any("no cache is handed over" in f.message for each in ask(text) for f in each.findings)


def test_one_that_is_written_out_stays_alone() -> None:
    assert [("Mooncake" in value) for value in connectors(text_of("nixl", OWN))] == [True, True]


def test_servers_of_one_pool_get_it_only_where_it_is_named() -> None:
    text = text_of().replace("prefill:", "aggregated:", 1)
    assert len(connectors(text[: text.index("    decode")])) == 0
