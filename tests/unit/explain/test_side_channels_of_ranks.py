"""Servers of one machine whose data-parallel ranks wait for handshakes at neighbouring ports."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVER = (
    "CUDA_VISIBLE_DEVICES={devices} VLLM_NIXL_SIDE_CHANNEL_PORT={channel} vllm serve Qwen/Qwen3-30B-A3B --port {port} "
    """{more} --kv-transfer-config '{{"kv_connector":"NixlConnector","kv_role":"kv_both"}}' &\n"""
)


def told(first: tuple[int, str], second: tuple[int, str]) -> list[str]:
    text = SERVER.format(devices="0,1", channel=first[0], port=8100, more=first[1])
    text += SERVER.format(devices="2,3", channel=second[0], port=8200, more=second[1])
    return [x.message for one in ask(text, on="4xH100") for x in one.findings if "address already in use" in x.message]


@pytest.mark.parametrize(
    ("first", "second"),
    [((5600, "-dp 2"), (5601, "-tp 2")), ((5601, "-tp 2"), (5600, "--data-parallel-size 2"))],
)
def test_the_second_rank_has_the_port_of_the_other_server(first: tuple[int, str], second: tuple[int, str]) -> None:
    (message,) = told(first, second)
    assert "5600 to 5601" in message


@pytest.mark.parametrize(
    ("first", "second"),
    [((5600, "-dp 2"), (5602, "-dp 2")), ((5600, "-tp 2"), (5601, "-tp 2")), ((5601, "-dp 2"), (5600, "-tp 2"))],
)
def test_ports_apart_do(first: tuple[int, str], second: tuple[int, str]) -> None:
    assert told(first, second) == []
