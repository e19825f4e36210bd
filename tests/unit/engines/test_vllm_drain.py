"""Whether vLLM is told that it may finish what runs: only a version that is known to have the option."""

from __future__ import annotations

import pytest

from moonpad.engines.base import Engine, installed_runtime
from moonpad.engines.recorded_options import has_option, recorded
from moonpad.engines.vllm import CPU_RECIPE, DRAIN, VLLM, VLLM_CPU
from moonpad.engines.vllm_ascend import VLLM_ASCEND
from moonpad.values.deployment import Image, Process, Runtime
from moonpad.values.plan import Layout, Plan, Platform, Serving, Settings
from moonpad.values.records import replace

CPU = Plan("tiny", "vllm-cpu", Platform.CPU, Layout(), Settings(), Serving("tiny"), 1, drain_s=30.0)
NO_PARSERS = Serving("big", tool_parser=None, reasoning_parser=None)
CUDA = Plan("big", "vllm", Platform.CUDA, Layout(tp=8), Settings(), NO_PARSERS, 1, drain_s=30.0)
IMAGE = Image("vllm/vllm-openai@sha256:" + "0a" * 32, ("vllm",))
HERE = installed_runtime("vllm")


def process_of(engine: Engine, plan: Plan, runtime: Runtime = HERE) -> Process:
    return engine.processes(plan, runtime).gangs[0].processes[0]


def drain_of(engine: Engine, plan: Plan, runtime: Runtime = HERE) -> tuple[str, float]:
    """What stands behind the flag, "" without it, and what the process says of its stop."""
    process = process_of(engine, plan, runtime)
    words = [word for word in process.argv if isinstance(word, str)]
    timeout = words[words.index(DRAIN) + 1] if DRAIN in words else ""
    return timeout, process.stop.drain_s


def test_the_recipe_has_it() -> None:
    assert recorded("vllm serve", CPU_RECIPE.version) is not None
    assert has_option("vllm serve", CPU_RECIPE.version, DRAIN)
    assert drain_of(VLLM_CPU, CPU) == ("30", 30.0)


@pytest.mark.parametrize(("version", "has"), [("0.17.1", False), ("0.18.1", True), ("0.32.0", True), ("0.11.0", False)])
def test_by_the_version(version: str, has: bool) -> None:
    expected = ("30", 30.0) if has else ("", 0.0)
    assert drain_of(VLLM, replace(CUDA, engine_version=version)) == expected
    assert drain_of(VLLM, replace(CUDA, engine_version=version), IMAGE) == expected


def test_a_version_that_nobody_knows() -> None:
    assert drain_of(VLLM, CUDA) == ("", 0.0)
    assert drain_of(VLLM_CPU, CPU, IMAGE) == ("", 0.0), "an image is not the recipe"
    assert drain_of(VLLM_ASCEND, replace(CUDA, engine="vllm-ascend", platform=Platform.ASCEND)) == ("", 0.0)


@pytest.mark.parametrize(("drain_s", "timeout"), [(0.2, "1"), (1.0, "1"), (1.5, "2"), (90.0, "90")])
def test_whole_seconds_and_never_less(drain_s: float, timeout: str) -> None:
    assert drain_of(VLLM_CPU, replace(CPU, drain_s=drain_s)) == (timeout, drain_s)


def test_no_drain_no_flag() -> None:
    assert drain_of(VLLM_CPU, replace(CPU, drain_s=None)) == ("", 0.0)


@pytest.mark.parametrize("args", [(DRAIN, "7"), (f"{DRAIN}=7",), ("--shutdown_timeout", "7")])
def test_the_users_own_word_stands_alone(args: tuple[str, ...]) -> None:
    process = process_of(VLLM_CPU, replace(CPU, extra_args=args))
    assert [word for word in process.argv if "shutdown" in str(word)] == [args[0]]
    assert process.stop.drain_s == 0.0


def test_every_node_is_told() -> None:
    plan = replace(CUDA, layout=Layout(tp=8, pp=2), nodes=2, devices_per_node=8, engine_version="0.32.0")
    for process in VLLM.processes(plan, HERE).processes:
        assert DRAIN in process.argv
        assert process.stop.drain_s == 30.0
