"""What goes wrong with a KV cache in the host's memory is not told of a connector that only sends it elsewhere."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask_one

START = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code"
OF_THE_HOST = ("#54014)", "#52596)", "#59862)", "#56621)")


def told(options: str) -> set[str]:
    found = ask_one(f"{START} {options}\n", on="8xB300", version="0.28.0").findings
    texts = [finding.message for finding in found if finding.code is Code.MENDED_LATER]
    return {number for number in OF_THE_HOST if any(number in text for text in texts)}


@pytest.mark.parametrize("name", ["NixlConnector", "MooncakeConnector"])
def test_a_connector_between_servers_has_none_of_them(name: str) -> None:
    assert not told(f'--kv-transfer-config \'{{"kv_connector":"{name}","kv_role":"kv_both"}}\'')


@pytest.mark.parametrize(
    "options",
    [
        "--kv-offloading-size 1799",
        "--kv-offloading-size 64.5 --kv-offloading-backend native",
        '--kv-transfer-config \'{"kv_connector":"OffloadingConnector","kv_role":"kv_both"}\'',
    ],
)
def test_offload_has_them(options: str) -> None:
    assert told(options) == set(OF_THE_HOST)
