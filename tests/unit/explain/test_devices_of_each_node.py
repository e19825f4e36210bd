"""Machines of a kind with fewer devices than they are sold with: `4 H100 nodes with 4 GPUs per node`. Of whole ones
only those that the 16 ranks use are taken."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import only_server

COMMAND = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 4 --pipeline-parallel-size 4"


@pytest.mark.parametrize(
    ("said", "cluster"),
    [
        ("on 4 H100 nodes with 4 GPUs per node", "4x4xH100"),
        ("on 4 H100 nodes with 4 Gpus each", "4x4xH100"),
        ("on four NVIDIA H100 nodes, each with 4 GPUs", "4x4xH100"),
        ("on 4 H100 servers of 4 cards", "4x4xH100"),
        ("on 4 H100 nodes", "2x8xH100"),
        ("on 4 H100 nodes with 4 network cards each", "2x8xH100"),
        ("on 4 nodes of 4x H100", "4x4xH100"),
    ],
)
def test_what_each_node_has_is_counted(said: str, cluster: str) -> None:
    judged = only_server(f"We serve it {said}:\n\n```bash\n{COMMAND}\n```\n")
    assert judged.cluster is not None
    assert judged.cluster.name == cluster
