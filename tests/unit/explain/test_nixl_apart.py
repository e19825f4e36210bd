"""Servers that hand a cache over by NIXL: on two machines, and in two containers of one."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

NIXL = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
SERVER = "vllm serve deepseek-ai/DeepSeek-V2-Lite --trust-remote-code --port "
PROXY = (
    "python toy_proxy_server.py --prefiller-hosts {} --prefiller-ports 8100 --decoder-hosts {} --decoder-ports 8200\n"
)
RUN = (
    "docker run -d --gpus '\"device={}\"' --network host --ipc=host {}vllm/vllm-openai:v0.28.0 "
    "--model deepseek-ai/DeepSeek-V2-Lite --trust-remote-code --port {} "
)


def told(text: str, part: str) -> bool:
    return any(part in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("prefill", "decode", "before", "told_of"),
    [
        ("10.4.0.1", "10.4.0.2", "", True),
        ("10.4.0.1 10.4.0.3", "10.4.0.2", "", True),
        ("10.4.0.1", "10.4.0.1", "", False),
        ("localhost", "10.4.0.2", "", False),
        ("10.4.0.1", "10.4.0.2", "export VLLM_NIXL_SIDE_CHANNEL_HOST=$(hostname -i)\n", False),
    ],
)
def test_a_proxy_names_two_machines(prefill: str, decode: str, before: str, told_of: bool) -> None:
    text = f"{before}{SERVER}8100 {NIXL}\n\n{SERVER}8200 {NIXL}\n\n{PROXY.format(prefill, decode)}"
    assert told(text, "it announces localhost") is told_of


@pytest.mark.parametrize(
    ("first", "second", "option", "told_of"),
    [("0", "1", "", True), ("0,1", "2,3", "", True), ("0", "0", "", False), ("0", "1", "--pid=host ", False)],
)
def test_two_containers_with_devices_of_their_own(first: str, second: str, option: str, told_of: bool) -> None:
    text = f"{RUN.format(first, option, 8100)}{NIXL}\n{RUN.format(second, option, 8200)}{NIXL}\n"
    assert told(text, "UCX cannot open the other's memory") is told_of


SIDE = (
    "vllm serve moonshotai/Kimi-K2.6 -tp 8 --trust-remote-code --port {} "
    """--kv-transfer-config '{{"kv_connector":"{}","kv_role":"{}"}}' {}"""
)
EAGLE = (
    """--speculative-config '{"method":"eagle3","model":"lightseekorg/kimi-k2.6-eagle3","""
    """"num_speculative_tokens":3}'"""
)
NGRAM = """--speculative-config '{"method":"ngram","num_speculative_tokens":3}'"""


@pytest.mark.parametrize(
    ("connector", "prefill", "decode", "told_of"),
    [
        ("NixlConnector", "", EAGLE, True),
        ("NixlConnector", EAGLE, "", True),
        ("NixlConnector", EAGLE, EAGLE, False),
        ("NixlConnector", "", NGRAM, False),
        ("MooncakeConnector", "", EAGLE, False),
        ("NixlConnector", "", "", False),
    ],
)
def test_drafts_are_of_both_sides(connector: str, prefill: str, decode: str, told_of: bool) -> None:
    first = SIDE.format(8100, connector, "kv_producer", prefill)
    text = f"{first}\n\n{SIDE.format(8200, connector, 'kv_consumer', decode)}\n"
    assert told(text, "hands over wrongly") is told_of
