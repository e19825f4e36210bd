"""The memory of all devices together, which tells the kind of each."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "vllm serve moonshotai/Kimi-K2.5 -tp {count} --trust-remote-code\n"


@pytest.mark.parametrize(
    ("told", "count", "kind"),
    [
        ("2x H100 (188GB VRAM)", 2, "2xH100-NVL"),
        ("8x H100, 752 GB in all", 8, "8xH100-NVL"),
        ("8x H20 (1128 GB)", 8, "8xH20-141G"),
        ("8x H100 (640GB VRAM)", 8, "8xH100"),
        ("2x A100 (80 GB VRAM)", 2, "2xA100"),
        ("2x H100 (190GB VRAM)", 2, "2xH100"),
    ],
)
def test_its_part_is_one_devices(told: str, count: int, kind: str) -> None:
    (judged,) = ask(f"# {told}\n# H{'20' if '20' in kind else '100'} it is\n{START.format(count=count)}")
    assert judged.cluster is not None
    assert judged.cluster.name == kind
