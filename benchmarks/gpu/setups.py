"""What ran on the GPU, as moonpad plans it: the made-up checkpoints, laid out once in a temporary folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.gpu.slice_checkpoint import TINY, write
from moonpad.catalog.clusters import parse_cluster
from moonpad.checkpoints.read import read_checkpoint
from moonpad.engines import ENGINES
from moonpad.plan.memory import memory_of
from moonpad.predict import ServingPlan
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Layout, Settings

DEVICE, RELEASE = "H200", "0.26.0"
SHAPES = {"rank": (61, 8, 256, 2304), "slice": (6, 64, 2048, 18432)}
"""Layers, heads, width of an expert, width of the dense layer's MLP."""
BIG = {"max_model_len": 16384, "max_num_seqs": 256, "max_num_batched_tokens": 8192, "gpu_memory_utilization": 0.9}
SETTINGS = {
    "rank": BIG,
    "slice": BIG,
    "open": BIG,
    "eager": BIG | {"max_num_batched_tokens": 32768, "enforce_eager": True},
    "tiny": {"max_model_len": 8192, "max_num_seqs": 64, "gpu_memory_utilization": 0.3},
}


@contextmanager
def plans() -> Iterator[dict[str, ServingPlan]]:
    """By the name of what ran."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = {"tiny": read_checkpoint(TINY)}
        for name, (layers, heads, moe, dense) in SHAPES.items():
            write(Path(folder) / name, layers, heads, moe, dense, "int4")
            checkpoints[name] = read_checkpoint(Path(folder) / name)
        yield {name: _plan(checkpoints, name) for name in SETTINGS}


def _plan(checkpoints: dict[str, Checkpoint], name: str) -> ServingPlan:
    checkpoint = checkpoints[name if name in checkpoints else "slice"]
    configuration = Configuration(
        checkpoint, parse_cluster(DEVICE), ENGINES["vllm"].facts, RELEASE, Layout(), Settings(**SETTINGS[name])
    )
    return ServingPlan(configuration, memory_of(configuration))
