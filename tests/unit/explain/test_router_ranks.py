"""Ranks that a router counts and the workers do not have; ports that a server takes from a master."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

ROUTER = (
    "vllm-router --policy round_robin --vllm-pd-disaggregation --prefill http://10.0.0.1:8010 "
    "--decode http://10.0.0.2:8020 --port 30000 --intra-node-data-parallel-size {}\n"
)
SERVER = "vllm serve Qwen/Qwen3-235B-A22B --port 8010 -tp 8 {}\n\n"
MEETING = "export VLLM_PORT={}\nvllm serve Qwen/Qwen3-235B-A22B -tp 16 --nnodes 2 --node-rank 0 --master-addr 10.0.0.1 "


def said(text: str, words: str) -> int:
    return sum(words in each.message for judged in ask(text) for each in judged.findings)


def test_ranks_that_no_server_has() -> None:
    assert said(SERVER.format("") + ROUTER.format(8), "ranks that are not there") == 1


@pytest.mark.parametrize(
    "text",
    [
        SERVER.format("--data-parallel-size 8") + ROUTER.format(8),
        SERVER.format("-dp 8") + ROUTER.format(8),
        SERVER.format("$MORE") + ROUTER.format(8),
        SERVER.format("") + ROUTER.format(1),
        ROUTER.format(8),
    ],
)
def test_ranks_that_they_may_have(text: str) -> None:
    assert said(text, "ranks that are not there") == 0


@pytest.mark.parametrize(("own", "master", "told"), [(25001, 25002, 1), (25001, 25100, 0), (25010, 25002, 0)])
def test_the_port_of_the_master(own: int, master: int, told: int) -> None:
    assert said(MEETING.format(own) + f"--master-port {master}", "count up from there") == told
