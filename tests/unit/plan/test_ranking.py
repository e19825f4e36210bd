"""Which plan comes first. The memories are made up: only what the order looks at differs."""

from __future__ import annotations

from itertools import permutations

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import find_model
from moonpad.plan.ranking import network_hops, rank, tensor_group_spans_nodes
from moonpad.values.checkpoint import Architecture, Component
from moonpad.values.estimate import Estimate
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Plan, Platform, Serving, Settings
from moonpad.values.plan_answer import Choice, Confidence, Goal


def architecture() -> Architecture:
    model = find_model("moonshotai/Kimi-K2-Instruct")
    assert model is not None
    assert model.architecture is not None
    return model.architecture


def exactly(value: float) -> Estimate:
    return Estimate.exact(value, "made up")


def choice(
    layout: Layout,
    *,
    kv_tokens: float = 1_000_000,
    max_context: float = 131_072,
    engine: str = "vllm",
    confidence: Confidence = "likely",
    **settings: object,
) -> Choice:
    memory = Memory(
        device_bytes=80,
        budget_bytes=72,
        weights={Component.ROUTED_EXPERTS: 40},
        overhead=exactly(5),
        kv_bytes_per_token=70_272,
        kv_bytes=exactly(27),
        kv_tokens=exactly(kv_tokens),
        max_context=exactly(max_context),
        context=int(max_context),
        concurrency_at_context=exactly(kv_tokens * layout.dp / max_context),
    )
    plan = Plan(
        name="made-up",
        engine=engine,
        platform=Platform.CUDA,
        layout=layout,
        settings=Settings(**settings),  # type: ignore[arg-type]
        serving=Serving("made-up"),
        weights_bytes=1,
    )
    return Choice(plan, memory, confidence)


@pytest.mark.parametrize(
    ("goal", "on", "best_first"),
    [
        # One step between two machines is less than two all-reduces in each of 61 layers over the same network.
        ("latency", "2x8xH200", [choice(Layout(tp=8, pp=2)), choice(Layout(dp=16, ep=16)), choice(Layout(tp=16))]),
        ("latency", "8xH200", [choice(Layout(tp=8)), choice(Layout(tp=4, dp=2, ep=8)), choice(Layout(tp=2, pp=4))]),
        ("latency", "8xH200", [choice(Layout(tp=8)), choice(Layout(tp=8, dcp=8)), choice(Layout(tp=8, dcp=2))]),
        ("latency", "8xH200", [choice(Layout(tp=8)), choice(Layout(tp=8), engine="sglang")]),
        (
            "throughput",
            "8xH200",
            [
                choice(Layout(tp=8, dcp=8), kv_tokens=8_000_000),
                choice(Layout(tp=1, dp=8, ep=8), kv_tokens=500_000),
                choice(Layout(tp=8), kv_tokens=9_000_000),
            ],
        ),
        ("throughput", "2x8xH200", [choice(Layout(dp=16, ep=16), kv_tokens=100), choice(Layout(tp=16, dcp=16))]),
        ("throughput", "8xH200", [choice(Layout(tp=8, dcp=8)), choice(Layout(tp=4, pp=2, dcp=4), kv_tokens=1e9)]),
        (
            "context",
            "8xH200",
            [
                choice(Layout(tp=8, dcp=8), max_context=262_144),
                choice(Layout(tp=8), max_context=262_144, kv_cache_dtype="fp8"),
                choice(Layout(tp=8), max_context=100_000),
            ],
        ),
        # Within a quarter of each other capacities are equal, and the preference decides.
        (
            "throughput",
            "8xH200",
            [
                choice(Layout(tp=8, dcp=8), kv_tokens=1_000_000),
                choice(Layout(tp=8, dcp=8), kv_tokens=1_010_000, engine="sglang"),
            ],
        ),
    ],
)
def test_by_goal(goal: Goal, on: str, best_first: list[Choice]) -> None:
    cluster = parse_cluster(on)
    for shuffled in permutations(best_first):
        assert sorted(shuffled, key=lambda candidate: rank(candidate, goal, cluster, architecture())) == best_first


@pytest.mark.parametrize("goal", ["latency", "throughput", "context"])
def test_tight_ones_and_host_ram_come_last(goal: Goal) -> None:
    cluster = parse_cluster("8xH200")
    worst = choice(Layout(tp=2, pp=4), kv_tokens=1000, max_context=1000)
    in_ram = choice(Layout(tp=8), kv_tokens=1e9, max_context=262_144, engine="ktransformers", gpu_experts=80)
    tight = choice(Layout(tp=8), kv_tokens=1e9, max_context=262_144, confidence="tight")
    ordered = sorted((tight, in_ram, worst), key=lambda candidate: rank(candidate, goal, cluster, architecture()))
    assert ordered == [worst, in_ram, tight]


# 61 layers, 60 of them with experts: an all-reduce after attention and one after the MLP, or tokens there and back.
@pytest.mark.parametrize(
    ("on", "layout", "hops"),
    [
        ("8xH200", Layout(tp=8), 0),
        ("8xH200", Layout(dp=8, ep=8), 0),
        ("2x8xH200", Layout(tp=16), 2 * 61),
        ("2x8xH200", Layout(tp=8, pp=2), 1),
        ("2x8xH200", Layout(tp=4, pp=4), 1),
        ("4x8xH200", Layout(tp=8, pp=4), 3),
        ("2x8xH200", Layout(tp=8, dp=2), 2 * 60),
        ("2x8xH200", Layout(dp=16, ep=16), 2 * 60),
        ("4x8xH200", Layout(tp=16, pp=2), 2 * 61 + 1),
        ("2x8xH200", Layout(tp=16, dcp=16), 4 * 61),
        ("2x8xH200", Layout(tp=16, dcp=8), 2 * 61),
        # The links of an NVL72 rack join its 18 trays.
        ("72xGB200", Layout(tp=8, dp=9, ep=72), 0),
    ],
)
def test_network_hops(on: str, layout: Layout, hops: int) -> None:
    assert network_hops(layout, parse_cluster(on), architecture()) == hops


def test_a_tensor_group_that_does_not_divide_the_machine_spans_two() -> None:
    assert tensor_group_spans_nodes(Layout(tp=16), parse_cluster("2x8xH200"))
    assert not tensor_group_spans_nodes(Layout(tp=8), parse_cluster("2x8xH200"))
    assert not tensor_group_spans_nodes(Layout(tp=8), parse_cluster("8xH200"))


def test_a_tensor_group_inside_of_one_rack_spans_none() -> None:
    """Four trays of four devices: 16 do not divide the 72 of the rack, and lie in it all the same."""
    assert not tensor_group_spans_nodes(Layout(tp=16), parse_cluster("4x4xGB200"))
    assert tensor_group_spans_nodes(Layout(tp=16, dp=9), parse_cluster("36x4xGB200"))
