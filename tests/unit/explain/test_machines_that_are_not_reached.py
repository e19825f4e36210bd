"""A cluster that an executor does not use, an address of a pool that leads back, and a service in which a server
starts."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def told(text: str, words: str) -> list[str]:
    return [each.message for one in ask(text) for each in one.all_findings if words in each.message]


START = "vllm serve deepseek-ai/DeepSeek-R1 --host 127.0.0.1 --tensor-parallel-size"


@pytest.mark.parametrize(
    ("text", "is_left"),
    [
        (f"ray start --head --port 6379\n{START} 16 --distributed-executor-backend mp\n", True),
        (f"$ ray status\n$ {START} 16 --distributed-executor-backend mp\n", True),
        (f"ray start --head --port 6379\n{START} 16 --distributed-executor-backend ray\n", False),
        (f"ray start --head --port 6379\n{START} 8 --distributed-executor-backend mp\n", False),
        (f"{START} 16 --distributed-executor-backend mp\n", False),
        (f"ray status\n{START} 16 --distributed-executor-backend mp --nnodes 2 --node-rank 0\n", False),
    ],
)
def test_an_executor_that_does_not_use_the_cluster(text: str, is_left: bool) -> None:
    assert bool(told(text, "the cluster of Ray that the text speaks of")) is is_left


SIDE = """VLLM_NIXL_SIDE_CHANNEL_HOST={} vllm serve Qwen/Qwen3-8B --port {} \
--kv-transfer-config '{{"kv_connector":"NixlConnector","kv_role":"kv_both"}}'
"""


@pytest.mark.parametrize(
    ("mine", "decode", "is_lost"),
    [("127.0.0.1", "10.0.0.2", True), ("localhost", "10.0.0.2", True), ("10.0.0.1", "10.0.0.2", False)],
)
def test_an_address_that_leads_the_other_side_back_to_itself(mine: str, decode: str, is_lost: bool) -> None:
    proxy = f"python3 proxy.py --prefiller-hosts 10.0.0.1 --decoder-hosts {decode}\n"
    assert bool(told(SIDE.format(mine, 81) + SIDE.format(decode, 82) + proxy, "on its own machine")) is is_lost


def test_two_sides_of_one_machine_may_meet_at_its_loopback() -> None:
    proxy = "python3 proxy.py --prefiller-hosts 10.0.0.1 --decoder-hosts 10.0.0.1\n"
    assert told(SIDE.format("127.0.0.1", 81) + SIDE.format("127.0.0.1", 82) + proxy, "on its own machine") == []


@pytest.mark.parametrize("options", ["", "-T ", "-u root -e A=1 "])
def test_a_server_that_is_started_in_a_service_of_compose_is_judged(options: str) -> None:
    inside = "vllm serve moonshotai/Kimi-K2-Instruct-0905 --enable-auto-tool-choice --tool-call-parser kimi-k2"
    (judged,) = ask(f'docker compose exec {options}llm bash -lc "{inside}"\n')
    assert any("kimi-k2" in each.message for each in judged.findings)
