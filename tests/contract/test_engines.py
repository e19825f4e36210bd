"""The same questions to every engine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.engines import ENGINES
from moonpad.engines.base import Engine, Reading, installed_runtime
from moonpad.values.binding import Bindings, BoundProcess, bind
from moonpad.values.deployment import NAME, HttpProbe
from moonpad.values.plan import Layout, Plan, Serving, Settings
from moonpad.values.refs import PortRef
from moonpad.values.secret import Secret

COUNT = st.integers(1, 2**31 - 1)
SIZE = st.integers(1, 64)
WORD = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1).filter(
    lambda text: not text.startswith("-")
)


@st.composite
def plans(draw: st.DrawFn, engine: Engine) -> Plan:
    tp, dp = draw(SIZE), draw(SIZE)
    return Plan(
        name="a",
        engine=engine.name,
        platform=engine.platform,
        layout=Layout(tp=tp, pp=draw(SIZE), dp=dp, ep=draw(st.sampled_from([1, tp * dp])), dcp=draw(SIZE)),
        settings=Settings(
            max_model_len=draw(st.none() | COUNT),
            max_num_seqs=draw(st.none() | COUNT),
            max_num_batched_tokens=draw(st.none() | COUNT),
            gpu_memory_utilization=draw(st.none() | st.floats(0, 1, exclude_min=True, exclude_max=True)),
            kv_cache_dtype=draw(st.none() | st.sampled_from(["auto", "fp8", "bfloat16"])),
            kv_cache_gib=draw(st.none() | COUNT),
            enforce_eager=draw(st.booleans()),
        ),
        serving=Serving(
            served_name=draw(WORD),
            port=draw(st.integers(1, 65535)),
            reach=draw(st.sampled_from(["loopback", "public"])),
            keyed=draw(st.booleans()),
            tool_parser=draw(st.sampled_from([None, "kimi_k2"])),
            reasoning_parser=draw(st.sampled_from([None, "kimi_k2"])),
        ),
        weights_bytes=draw(st.integers(0, 2**40)),
    )


def bound(engine: Engine, plan: Plan) -> tuple[BoundProcess, ...]:
    deployment = engine.processes(plan, installed_runtime(engine.command))
    return bind(
        deployment,
        Bindings(
            hosts={process.node: "127.0.0.1" for process in deployment.processes},
            ports={
                PortRef(process.name, port.name): 1234 for process in deployment.processes for port in process.ports
            },
            ranks={process.node: process.rank for process in deployment.processes},
            paths={"checkpoint": "/models/a", "engine": "/engine", "cache": "/cache", "run": "/run"},
            secrets={"api_key": Secret("sk-canary")},
        ),
    )


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
@given(data=st.data())
def test_reading_what_was_written_gives_the_plan_back(engine: Engine, data: st.DataObject) -> None:
    plan = data.draw(plans(engine))
    process = bound(engine, plan)[0]
    assert process.argv[0] == f"/engine/bin/{engine.command}"
    assert engine.read(process.argv[1:], process.env) == Reading(
        model="/models/a", served_name=plan.serving.served_name, layout=plan.layout, settings=plan.settings, unknown=()
    )


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
@given(data=st.data())
def test_what_every_deployment_keeps(engine: Engine, data: st.DataObject) -> None:
    plan = data.draw(plans(engine))
    deployment = engine.processes(plan, installed_runtime(engine.command))
    assert engine.processes(plan, installed_runtime(engine.command)) == deployment
    head = deployment.process(deployment.endpoint.process)
    # Health is no readiness: the probe of what serves is HTTP, followed by one token.
    assert isinstance(head.ready, HttpProbe)
    assert deployment.port_spec(deployment.endpoint).preferred == plan.serving.port
    assert deployment.served_name == plan.serving.served_name
    for process, its in zip(deployment.processes, bound(engine, plan), strict=True):
        assert NAME.match(process.name)
        assert "canary" not in " ".join(its.argv) + " ".join(its.env.values())  # fault 59
        assert ("0.0.0.0" in its.argv) == (plan.serving.reach == "public")  # fault 61
        assert bool(its.secret_env) == plan.serving.keyed


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_extra_arguments_stand_last_and_are_read_as_unknown(engine: Engine) -> None:
    serving = Serving("kimi")
    plan = Plan(
        "a", engine.name, engine.platform, Layout(), Settings(), serving, 0, extra_args=("--some-new-flag", "7")
    )
    process = bound(engine, plan)[0]
    assert process.argv[-2:] == ("--some-new-flag", "7")
    assert engine.read(process.argv[1:], process.env).unknown == ("--some-new-flag", "7")


@pytest.mark.parametrize(("name", "engine"), ENGINES.items())
def test_names(name: str, engine: Engine) -> None:
    assert engine.name == name
    assert NAME.match(name)
