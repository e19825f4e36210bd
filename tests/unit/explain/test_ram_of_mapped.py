"""RAM that is too small for a GGUF beside a device of which nothing is known."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Finding
from tests.unit.explain.judging import ask

SERVE = "llama-server -m moonshotai_Kimi-K2-Instruct-0905-Q6_K-00001-of-00022.gguf -ngl 28 -fa on -c 14336"


def told(machine: str, serve: str = SERVE) -> list[Finding]:
    return [each for one in ask(f"{machine}\n\n{serve}\n") for each in one.findings if each.code is Code.MEMORY_LOW]


@pytest.mark.parametrize("machine", ["RTX 5070 Ti Laptop, RAM = 32 GB", "64 GB RAM and a GPU of a friend"])
def test_one_unknown_device_does_not_make_up_for_it(machine: str) -> None:
    (found,) = told(machine)
    assert "of RAM and one device" in found.message


@pytest.mark.parametrize(
    "machine",
    ["RTX 5070 Ti Laptop, 1024 GB RAM", "4x RTX 5070 Ti, 64 GB RAM", "RTX 5070 Ti Laptop", "two GPUs, 64 GB RAM"],
)
def test_enough_memory_or_several_devices_are_not_judged(machine: str) -> None:
    assert not any("one device" in each.message for each in told(machine))


def test_machines_behind_rpc_hold_a_part() -> None:
    assert told("RTX 5070 Ti Laptop, RAM = 32 GB", f"{SERVE} --rpc 10.0.0.2:50052") == []
