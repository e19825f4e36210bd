"""RAM that a text speaks of, against the weights that lie there, and memory that devices share with the processors."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask

START = "llama-server -hf unsloth/Kimi-K2.5-GGUF:UD-Q2_K_XL -ngl 99 --n-cpu-moe 60 -c 32768\n"
K2 = "llama-server -m Kimi-K2-Thinking-UD-Q4_K_XL-00001-of-00014.gguf -c 16384 -ngl 99\n"


def about(text: str, where: str) -> list[str]:
    (judged,) = ask(text)
    return [finding.message for finding in judged.findings if finding.where == where]


@pytest.mark.parametrize("ram", ["256GB DDR5", "256 GB of RAM", "RAM: 256 GB", "256 gigs of RAM"])
def test_too_little(ram: str) -> None:
    text = f"# one RTX 5090, {ram}\n{START}"
    (said,) = about(text, "host memory")
    assert "342.72 GiB" in said
    assert "256 GB" in said
    (judged,) = ask(text)
    assert verdict(judged)[0].startswith("Fits on the devices, not in RAM: each machine needs 343 GiB")


@pytest.mark.parametrize("ram", ["768GB DDR5", "1.5TB RAM", "384 GB system memory"])
def test_enough(ram: str) -> None:
    text = f"# one RTX 5090, {ram}\n{START}"
    assert about(text, "host memory") == []
    assert verdict(ask(text)[0])[0].startswith("Fits (")


@pytest.mark.parametrize(
    ("modules", "total"),
    [
        ("8x32GB DDR5", 256),
        ("8*32G DDR4-3200 RDIMM", 256),
        ("8 x 32 GB of RAM", 256),
        ("RAM: 8x 16GB", 128),
        ("内存 64G*4", 256),
        ("DDR5-5600 ECC 16G × 16", 256),
    ],
)
def test_modules_are_counted(modules: str, total: int) -> None:
    (said,) = about(f"# one RTX 5090, {modules}\n{START}", "host memory")
    assert f"{total} GB" in said


def test_a_table_of_free() -> None:
    (said,) = about(
        f"{START}\n        total   used   free\nMem:    251Gi   12Gi   230Gi\n# one RTX 5090\n", "host memory"
    )
    assert "251 GB" in said


@pytest.mark.parametrize("modules", ["12*64G DDR5", "16 x 64GB DDR5", "RAM: 64GB x 12", "24x 32G RDIMM"])
def test_enough_modules(modules: str) -> None:
    assert about(f"# one RTX 5090, {modules}\n{START}", "host memory") == []


def test_memory_of_devices_is_no_module() -> None:
    (said,) = about(f"# 8x 32GB VRAM, RTX 5090\n{START}", "host memory")
    assert "is not known" in said


def test_nothing_is_said_of_it() -> None:
    (said,) = about(f"# one RTX 5090\n{START}", "host memory")
    assert "how much it has is not known" in said


@pytest.mark.parametrize(
    "machine",
    ["Mac Studio M3 Ultra 512GB", "a 512 GB Mac Studio", "M3 Ultra with 512GB unified memory", "Strix Halo, 128 GB"],
)
def test_shared_memory_is_too_small(machine: str) -> None:
    (said,) = about(f"# on {machine}:\n{K2}", "memory")
    assert "544 GiB" in said


@pytest.mark.parametrize(
    "text",
    [
        f"# two Mac Studio M3 Ultra 512GB\n{K2}",
        f"# M3 Ultra 512GB\n{K2.rstrip()} --rpc 10.0.0.2:50052\n",
        f"# M3 Ultra 512GB\n{K2.replace('UD-Q4_K_XL', 'UD-Q2_K_XL')}",
        f"# M3 Ultra: 100 GB used\n{K2.replace('UD-Q4_K_XL', 'UD-Q2_K_XL')}",
    ],
)
def test_no_such_thing(text: str) -> None:
    assert about(text, "memory") == []
