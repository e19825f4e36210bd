"""The plugins that engines need on a processor travel with the process, and with no other."""

from __future__ import annotations

import ast

import pytest

from moonpad.engines.vllm import CPU_PLUGIN, VLLM, VLLM_CPU
from moonpad.values.deployment import Executable, Process
from moonpad.values.plan import Layout, Plan, Platform, Serving, Settings
from moonpad.values.records import replace
from moonpad.values.references import PathRef

MODULE, GROUP = CPU_PLUGIN
PLAN = Plan("tiny", "vllm-cpu", Platform.CPU, Layout(dp=2), Settings(), Serving("tiny"), 0)


def processes(plan: Plan) -> tuple[Process, ...]:
    engine = VLLM_CPU if plan.platform is Platform.CPU else VLLM
    return tuple(engine.processes(plan, Executable(("vllm",))).processes)


@pytest.mark.parametrize("nodes", [1, 2])
def test_every_node_has_it(nodes: int) -> None:
    launched = processes(replace(PLAN, nodes=nodes))
    assert len(launched) == nodes
    for process in launched:
        assert process.env["PYTHONPATH"] == (PathRef("run"), "/plugin")
        paths = [file.path for file in process.files]
        assert paths == [
            f"plugin/{MODULE}.py",
            f"plugin/{MODULE}-1.0.dist-info/METADATA",
            f"plugin/{MODULE}-1.0.dist-info/entry_points.txt",
        ]


def test_its_entry_point_is_there() -> None:
    """https://packaging.python.org/en/latest/specifications/entry-points/"""
    module, _, entry = (str(file.content[0]) for file in processes(PLAN)[0].files)
    assert entry == f"[{GROUP}]\n{MODULE} = {MODULE}:register\n"
    tree = ast.parse(module)
    assert [node.name for node in tree.body if isinstance(node, ast.FunctionDef)] == ["register"]


@pytest.mark.parametrize(
    "plan",
    [
        replace(PLAN, layout=Layout(tp=2)),
        replace(PLAN, engine="vllm", platform=Platform.CUDA, layout=Layout(tp=1, dp=2)),
    ],
)
def test_nobody_else_has(plan: Plan) -> None:
    assert all(not process.files and "PYTHONPATH" not in process.env for process in processes(plan))
