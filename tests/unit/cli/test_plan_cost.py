"""What a plan costs, in modules and in calculations: seconds depend on what else the machine does (benchmarks/plan.py
measures them)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from moonpad.catalog import clusters, overhead
from moonpad.plan import weights
from moonpad.values import versions
from tests.unit.plan.test_search import INSTRUCT, plan

LOADED = """
import contextlib, io, sys
from moonpad.cli.command_line import run
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    assert run(["plan", "--model", "moonshotai/Kimi-K2.6", "--on", "8xH20"]) == 0
print("\\n".join(sys.modules))
"""


def test_a_plan_by_name_loads_nothing_that_reads_checkpoints_or_machines() -> None:
    shown = subprocess.run((sys.executable, "-c", LOADED), capture_output=True, text=True, check=True)
    modules = shown.stdout.split()
    folders = {name.split(".")[1] for name in modules if name.startswith("moonpad.")}
    assert folders.isdisjoint({"checkpoints", "explain", "environments", "load", "render"})
    assert {"moonpad.facts.devices", "subprocess", "pydantic", "importlib.resources"}.isdisjoint(modules)


@pytest.mark.parametrize("on", ["2x8xH200", "GB200-NVL72"])
def test_what_many_layouts_share_is_calculated_once(on: str) -> None:
    for cached in (weights._stage_weights, overhead.defaults_of, overhead.batches_of, clusters.parse_cluster):
        cached.cache_clear()
    answer = plan(INSTRUCT, on, every_layout=True)
    layouts = len(answer.choices) + len(answer.refused)
    assert layouts > 100
    # Decode context parallelism and settings leave the weights as they are.
    assert weights._stage_weights.cache_info().misses < layouts
    assert weights._stage_weights.cache_info().hits > layouts
    assert overhead.defaults_of.cache_info().misses <= 8
    assert overhead.batches_of.cache_info().misses <= 8
    assert clusters.parse_cluster.cache_info().misses <= 20
    assert versions.since.cache_info().hits > 10 * layouts
