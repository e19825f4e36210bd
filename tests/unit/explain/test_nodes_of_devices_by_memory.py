"""Devices that a text counts by their memory, in so many nodes."""

from __future__ import annotations

import pytest

from moonpad.explain.proposed_devices import by_memory
from moonpad.values.platform import Platform


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("An 8-node cluster of 8x80GB GPUs serves it.", "--on 8x8xH100 names"),
        ("We have 2 nodes of 8×80GB GPUs", "--on 2x8xH100 names"),
        ("It wants 8x80GB GPUs.", "--on 8xH100 names"),
        ("Our 3 servers share 8x80GB GPUs.", "--on 8xH100 names"),
    ],
)
def test_nodes_are_counted(line: str, named: str) -> None:
    assert named in by_memory([line], (Platform.CUDA,))
