"""Nodes of one pool of ranks that call themselves two engines."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

START = (
    "python launch_online_dp.py --dp-size {size} --tp-size 1 --dp-size-local 16 --dp-rank-start {first} "
    "--dp-address {host} --dp-rpc-port 1 --vllm-start-port 2"
)


def node(number: int, engine: str, port: str, role: str = "kv_consumer", size: int = 32) -> str:
    config = (
        f'{{"kv_connector": "MooncakeConnectorV1", "kv_role": "{role}", "kv_port": "{port}", "engine_id": "{engine}", '
        f'"kv_connector_extra_config": {{"prefill": {{"dp_size": 2, "tp_size": 8}}, '
        f'"decode": {{"dp_size": {size}, "tp_size": 1}}}}}}'
    )
    return (
        f"Node {number}\n\n```shell\nvllm serve /weights/Mine-w8a8 --port $2 --data-parallel-size $3 "
        f"--data-parallel-rank $4 --quantization ascend --kv-transfer-config '{config}'\n```\n\n"
    )


def lines(*starts: tuple[int, int, str]) -> str:
    return (
        "```shell\n"
        + "\n".join(START.format(size=size, first=first, host=host) for size, first, host in starts)
        + "\n```\n"
    )


def found(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if "nodes of one engine" in each.message]


ONE = lines((32, 0, "10.0.0.3"), (32, 16, "10.0.0.3"))


def test_two_names() -> None:
    (finding,) = found(node(0, "2", "30200") + node(1, "3", "30300") + ONE)
    assert finding.severity is Severity.WARNING
    assert "engine_id 3, kv_port 30300 here, engine_id 2, kv_port 30200" in finding.message


@pytest.mark.parametrize(
    "text",
    [
        node(0, "2", "30200") + node(1, "2", "30200") + ONE,
        node(0, "2", "30200") + node(1, "3", "30300", role="kv_producer") + ONE,
        node(0, "2", "30200") + node(1, "3", "30300"),
        node(0, "2", "30200") + node(1, "$ID", "30300") + ONE,
        node(0, "2", "30200") + node(1, "3", "30300") + lines((32, 0, "10.0.0.3"), (32, 16, "10.0.0.4")),
        node(0, "2", "3", size=16) + node(1, "3", "4", size=16) + lines((16, 0, "10.0.0.3"), (16, 0, "10.0.0.4")),
    ],
)
def test_one_name_or_two_engines(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (node(0, "2", "3", size=16) + node(1, "2", "3", size=16) + lines((16, 0, "a"), (16, 0, "b")), 1),
        (node(0, "2", "3", size=16) + node(1, "4", "3", size=16) + lines((16, 0, "a"), (16, 0, "b")), 0),
        (node(0, "2", "30200") + node(1, "2", "30200") + ONE, 0),
        (node(0, "2", "3", size=16) + node(1, "2", "3", size=16) + lines((16, 0, "a")), 0),
    ],
)
def test_two_pools_of_one_name(text: str, count: int) -> None:
    told = [each for one in ask(text) for each in one.findings if "pools, by the launch lines" in each.message]
    assert len(told) == count


def side(role: str, drafts: str, model: str = "/weights/Qwen3.5-397B-A17B-w8a8") -> str:
    return (
        f"```shell\nvllm serve {model} --tensor-parallel-size 8 --quantization ascend "
        f'--speculative-config \'{{"method": "qwen3_5_mtp", "num_speculative_tokens": {drafts}}}\' '
        f'--kv-transfer-config \'{{"kv_connector": "MooncakeConnectorV1", "kv_role": "{role}", "kv_port": "30000"}}\''
        "\n```\n\n"
    )


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (side("kv_producer", "1") + side("kv_consumer", "3"), 1),
        (side("kv_producer", "3") + side("kv_consumer", "3"), 0),
        (side("kv_producer", "1") + side("kv_consumer", "3", "/weights/Qwen3.5-35B-A3B-w8a8"), 0),
        (side("kv_producer", "1", "/weights/GLM-5-w8a8") + side("kv_consumer", "3", "/weights/GLM-5-w8a8"), 0),
        (side("kv_consumer", "3"), 0),
    ],
)
def test_drafts_of_two_sides(text: str, count: int) -> None:
    told = [each for one in ask(text) for each in one.findings if "on the prefill side and 3 in" in each.message]
    assert len(told) == count
