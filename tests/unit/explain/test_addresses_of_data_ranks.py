"""Machines of one data-parallel server that each name themselves as the place where all meet."""

from __future__ import annotations

from tests.unit.explain.judging import ask

HEAD = (
    "vllm serve moonshotai/Kimi-K2.5 -tp 8 -dp 2 --data-parallel-size-local 1 --data-parallel-address {address} "
    "--data-parallel-rpc-port 13345 --enable-expert-parallel --trust-remote-code"
)
OTHER = f"{HEAD} --headless --data-parallel-start-rank 1"


def head(address: str) -> str:
    return HEAD.format(address=address)


def other(address: str) -> str:
    return OTHER.format(address=address)


def test_each_with_its_own_address_is_one_server_that_does_not_meet() -> None:
    (judged,) = ask(f"# node 0\n{head('10.0.0.1')}\n# node 1\n{other('10.0.0.2')}\n", on="2x8xH200")
    (message,) = [each.message for each in judged.findings if "they do not find each other" in each.message]
    assert message == "this node waits at 10.0.0.2, the first at 10.0.0.1: they do not find each other"
    assert not [each for each in judged.findings if "the commands here start" in each.message]


def test_one_address_meets() -> None:
    (judged,) = ask(f"# node 0\n{head('10.0.0.1')}\n# node 1\n{other('10.0.0.1')}\n", on="2x8xH200")
    assert not [each for each in judged.findings if "find each other" in each.message]


def test_two_servers_stay_apart() -> None:
    """In whichever order a text has their machines."""
    addresses = ("10.0.0.1", "10.0.0.2")
    heads, others = [*map(head, addresses)], [*map(other, addresses)]
    for commands in ([heads[0], others[0], heads[1], others[1]], [*heads, *others]):
        judged = ask("\n".join(commands) + "\n", on="2x8xH200")
        assert not [each for one in judged for each in one.findings if "find each other" in each.message]
