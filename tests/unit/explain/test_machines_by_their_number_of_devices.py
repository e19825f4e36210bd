"""`an 8-GPU H200 node` is one machine, and no eight of them."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.device_mentions import machines_of
from moonpad.explain.input_limits import Budget


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("For a single 8-GPU H200 node (tp=8):", "8xH200"),
        ("an 8-GPU MI300X server", "8xMI300X"),
        ("one 4-GPU H100 80GB machine", "4xH100"),
        ("an 8 GPU H200 node", "8xH200"),
        ("two 8-GPU H200 nodes", "2x8xH200"),
        ("2x 8-GPU H200 nodes", "2x8xH200"),
        ("8 H200 nodes", "8x8xH200"),
    ],
)
def test_machines(text: str, machine: str) -> None:
    assert [found for _, found in machines_of(text, Budget())] == [machine]
