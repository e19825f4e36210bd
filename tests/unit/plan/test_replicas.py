"""Copies behind a router: what each has of the machine, and that nothing of one names another."""

from __future__ import annotations

from typing import Any

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.options import option_set
from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import parse
from moonpad.engines.base import installed_runtime
from moonpad.engines.option_grammar import Grammar
from moonpad.engines.router_programs import ROUTERS
from moonpad.engines.routers import is_routed
from moonpad.plan.from_spec import unjudged_plan
from moonpad.plan.replicas import replica_spec, routed, shared
from moonpad.report.plan_commands import commands_of
from moonpad.spec.loader import parse_spec
from moonpad.spec.schema import Spec
from moonpad.values.deployment import Deployment
from moonpad.values.errors import PreflightRefused
from moonpad.values.records import replace

SPEC = """\
name = "k2"
model = "/models/Kimi-K2"

[engine]
name = "{engine}"

[hardware]
cluster = "{cluster}"

[layout]
tp = {tp}

[endpoint]
port = 8000

[router]
name = "{router}"
replicas = {replicas}
{more}
"""


def spec_of(**given: Any) -> Spec:
    values = {"engine": "vllm", "cluster": "8xH200", "tp": 4, "router": "vllm-router", "replicas": 2, "more": ""}
    return parse_spec(SPEC.format(**{**values, **given}), name="k2")


def deployment(spec: Spec) -> Deployment:
    assert spec.router is not None
    assert spec.hardware.cluster is not None
    engine = ENGINES[spec.engine.name]
    plan = unjudged_plan(spec, shared(parse_cluster(spec.hardware.cluster), spec))
    router = ROUTERS[spec.router.name].installed()
    return routed(spec, engine, plan, installed_runtime(engine.command), router)


def test_two_copies_of_four_devices() -> None:
    made = deployment(spec_of())
    first, second, router = commands_of(made, "/models/Kimi-K2")
    assert [process.name for process in made.processes] == ["replica-0", "replica-1", "router"]
    assert [gang.name for gang in made.gangs] == ["k2-replica-0", "k2-replica-1", "k2"]
    assert first.env["CUDA_VISIBLE_DEVICES"] == "0,1,2,3"
    assert second.env["CUDA_VISIBLE_DEVICES"] == "4,5,6,7"
    assert "8002" in first.argv
    assert "8003" in second.argv
    assert is_routed(made)
    assert made.endpoint.process == "router"
    assert router.argv[:8] == (
        *("ROUTER_FOLDER/bin/vllm-router", "--host", "127.0.0.1", "--port", "8000", "--worker-urls"),
        *("http://127.0.0.1:8002", "http://127.0.0.1:8003"),
    )
    assert [after.process for after in made.process("router").after] == ["replica-0", "replica-1"]


@pytest.mark.parametrize("name", ROUTERS)
@pytest.mark.parametrize("number", range(5))
def test_every_router_takes_its_arguments(name: str, number: int) -> None:
    """Judged by the options that its own parser has, as they were recorded; each policy is one of its choices."""
    router = ROUTERS[name]
    policy = router.policies[number % len(router.policies)]
    made = deployment(spec_of(router=name, more=f'policy = "{policy}"'))
    options = option_set(router.program, router.recipe.version)
    assert options is not None
    assert options.exact
    argv = commands_of(made, "/models/Kimi-K2")[-1].argv[1 + len(router.subcommand) :]
    parsed = parse(argv, Grammar(options))
    assert not [each for each in parsed.occurrences if each.problem], parsed
    assert not parsed.positionals
    assert parsed.values["policy"] == policy


@pytest.mark.parametrize(
    ("cluster", "replicas", "share"),
    [("8xH200", 2, "4xH200"), ("8xH200", 8, "1xH200"), ("4x8xH200", 2, "2x8xH200"), ("2x8xH200", 2, "8xH200")],
)
def test_the_share_of_a_copy(cluster: str, replicas: int, share: str) -> None:
    """Whole machines where they divide, else devices of each."""
    found = shared(parse_cluster(cluster), spec_of(cluster=cluster, replicas=replicas))
    assert found.name == share
    assert found.devices * replicas == parse_cluster(cluster).devices


def test_devices_that_do_not_divide() -> None:
    with pytest.raises(PreflightRefused, match="share") as refused:
        shared(parse_cluster("8xH200"), spec_of(replicas=3))
    assert "8 devices do not divide among 3 copies" in refused.value.findings[0].message


def test_host_memory_is_shared_too() -> None:
    cluster = parse_cluster("8xH200")
    cluster = replace(cluster, host=replace(cluster.host, memory_bytes=1000))
    assert shared(cluster, spec_of()).host.memory_bytes == 500


def test_the_spec_of_a_copy() -> None:
    copy = replica_spec(spec_of(more="replica_port = 9100"), 1)
    assert (copy.name, copy.endpoint.port, copy.endpoint.expose) == ("k2-replica-1", 9101, False)
