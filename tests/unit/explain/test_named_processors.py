"""Threads for the experts against the cores of the processors that a text names."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.named_processors import named_processors
from tests.unit.explain.judging import ask

CHAT = "python -m ktransformers.local_chat --model_path ./R1 --gguf_path ./R1-Q4 --cpu_infer"


@pytest.mark.parametrize(
    ("line", "cores", "count"),
    [
        ("CPU: Intel(R) Xeon(R) Gold 6430 x2", 32, 2),
        ("双路 Xeon Platinum 8480, 1T", 56, 2),
        ("2 x AMD EPYC 9654 96-Core Processor", 96, 2),
        ("dual EPYC 7742", 64, 2),
        ("AMD Ryzen Threadripper PRO 5995WX", 64, 0),
        ("e5-2680v4 两颗", 14, 2),
        ("Intel(R) Xeon(R) CPU E5-2699 v4 @ 2.20GHz (x2)", 22, 2),
        ("一颗至强 W9-3495X", 56, 1),
        ("8 Xeon Gold 6430", 32, 0),
    ],
)
def test_names_and_numbers(line: str, cores: int, count: int) -> None:
    named = named_processors([line])
    assert named is not None
    assert (named.cores_of_one, named.count) == (cores, count)


@pytest.mark.parametrize(
    "text",
    [
        "Xeon Gold 6430 on the one, EPYC 9654 on the other",
        "a Xeon with AMX",
        "EPYC 9004 series",
        "Xeon Gold 6430 x1\nXeon Gold 6430 x2",
        "RTX 5090 and H100",
    ],
)
def test_several_or_none(text: str) -> None:
    assert named_processors(text.split("\n")) is None


@pytest.mark.parametrize(
    ("machine", "threads", "told"),
    [
        ("Xeon Gold 6430 x2", 120, True),
        ("Xeon Gold 6430 x2", 65, False),  # as the guide has it
        ("Xeon Gold 6430 x2", 62, False),
        ("Xeon Gold 6430", 60, False),  # there may be two
        ("Xeon Gold 6430", 80, True),
        ("Threadripper PRO 5955WX", 30, True),
        ("EPYC 9654 x2, limited to 32 physical cores", 64, True),
        ("EPYC 9654 x2, 192 physical cores", 190, False),
    ],
)
def test_more_threads_than_cores(machine: str, threads: int, told: bool) -> None:
    judged = ask(f"Host: {machine}, 1 TB of RAM\n\n```\n{CHAT} {threads}\n```\n")
    found = [each for one in judged for each in one.findings if each.where == "--cpu_infer"]
    assert bool(found) is told
    assert not any(each.severity.value == "error" for each in found)


def test_no_number_is_written_where_the_text_has_no_number_of_processors() -> None:
    judged = ask(f"Host: Xeon Gold 6430\n\n```\n{CHAT} 80\n```\n")
    (found,) = [each for one in judged for each in one.findings if each.where == "--cpu_infer"]
    assert found.remedy is not None
    assert "lscpu" in found.remedy
