"""The kind and the number of devices as two keys of YAML."""

from __future__ import annotations

import pytest

from .judging import ask

WORKLOAD = """\
gpu: {kind}
{key}: {count}
vllm:
  model: moonshotai/Kimi-K2.5
  serve_args: >-
    --tensor-parallel-size {count}
    --trust-remote-code
"""


@pytest.mark.parametrize(("kind", "key", "count"), [("MI355X", "num_gpus", 8), ("B300", "gpu_count", 4)])
def test_both_together_are_a_machine(kind: str, key: str, count: int) -> None:
    (judged,) = ask(WORKLOAD.format(kind=kind, key=key, count=count))
    assert judged.cluster is not None
    assert judged.cluster.name == f"{count}x{kind}"
    assert judged.cluster_because == f"the text names {count}x{kind}"


def test_other_keys_count_something_else() -> None:
    (judged,) = ask(WORKLOAD.format(kind="MI355X", key="num_prompts", count=8))
    assert judged.cluster_because == "the text names MI355X, the command uses 8"
