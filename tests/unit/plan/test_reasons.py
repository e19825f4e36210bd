"""The sentences beside a plan: their numbers against published ones, and nothing said that is not so."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.published import published
from moonpad.plan.capacity_errors import larger_clusters
from moonpad.plan.nearest_results import dcp_pair, dcp_sentence, nearest_published
from moonpad.values.plan import Layout
from moonpad.values.plan_answer import Answer
from tests.unit.plan.test_search import INSTRUCT, THINKING, plan, vllm_0_11


def the_reason(reasons: Sequence[str], *words: str) -> str:
    (matching,) = [reason for reason in reasons if all(word in reason for word in words)]
    return matching


def first(answer: Answer) -> Sequence[str]:
    return answer.choices[0].reasons


def test_where_the_memory_goes() -> None:
    # The log: 71.07 GiB of weights, 0.12 of them what the allocator rounds; 125.83 of budget, 46.80 left.
    sentence = the_reason(first(vllm_0_11(THINKING, "8xH200")), "weights take")
    for figure in ("70.95 of 125.83 GiB", "8.08", "46.80 GiB are left"):
        assert figure in sentence
    assert "70,272 bytes a token that is 715,072 tokens" in the_reason(
        first(vllm_0_11(THINKING, "8xH200")), "bytes a token"
    )


def test_what_decode_context_parallelism_bought_somebody_else() -> None:
    # The recipe: 485.78 → 695.13 tokens/s (+43.1 %), 1.25 → 1.57 requests/s (+25.6 %), 390 and 442 tokens an answer.
    sentence = the_reason(first(vllm_0_11(THINKING, "8xH200", goal="throughput")), "Decode context parallel 8")
    for part in (
        "5,721,088 tokens instead of 715,072",
        "others measured +43 %",
        "13 % longer (390 and 442 tokens)",
        "in requests a second it is +26 %",
    ):
        assert part in sentence


def test_no_length_is_spoken_of_where_lengths_were_equal() -> None:
    # With --ignore-eos both gave 16,000 tokens: 254.99 → 339.38 tokens/s is +33 %.
    pair = dcp_pair(published(), INSTRUCT, parse_cluster("2x8xH200"))
    assert pair is not None
    sentence = dcp_sentence(pair)
    assert "+33 % output tokens" in sentence
    assert "longer" not in sentence


def test_no_gain_is_claimed_where_nobody_measured_one() -> None:
    assert dcp_pair(published(), THINKING, parse_cluster("8xH100")) is None
    reasons = first(plan(THINKING, "8xMI300X", goal="throughput"))
    assert "others measured" not in the_reason(reasons, "Decode context parallel")


def test_what_each_step_down_bought() -> None:
    reasons = first(plan(THINKING, "8xH100", engine="vllm"))
    # 1 % of 79.18 GiB is 0.79 GiB: from 0.92 to 0.95 it is 2.38.
    assert "2.38 GiB more" in the_reason(reasons, "gpu_memory_utilization 0.95 instead of 0.92")
    # The forward pass of 4,096 tokens against the sampler of 1,024 sequences.
    assert the_reason(reasons, "4,096 batched tokens and 256 sequences", "GiB more for the KV cache")
    # Graphs for 32 batch sizes fewer (to 128 sequences, not to 512), 22 MiB each.
    assert "0.69 GiB more" in the_reason(reasons, "With 64 sequences")


def test_the_network() -> None:
    assert the_reason(first(plan(INSTRUCT, "2x8xH200")), "crosses the network once")
    reasons = first(plan(INSTRUCT, "2x8xH200", "dp=16", "ep=16", engine="vllm"))
    assert the_reason(reasons, "waits for the network 120 times")
    assert "24 of 384 experts on each" in the_reason(reasons, "Data parallel 16")
    assert not [reason for reason in first(plan(THINKING, "8xH200")) if "network" in reason]


def test_no_guide_is_a_reason() -> None:
    for on in ("8xH200", "8xH100", "16xA3"):
        assert not [reason for reason in first(plan(THINKING, on)) if "stands before" in reason or "guide of" in reason]


def test_references_are_of_the_same_devices_and_the_nearest_first() -> None:
    near = nearest_published(published(), THINKING, parse_cluster("8xH200"), "vllm", Layout(tp=8, dcp=8))
    assert [result.layout for result in near] == [Layout(tp=8, dcp=8), Layout(tp=8)]
    assert {result.model for result in near} == {THINKING}
    assert nearest_published(published(), THINKING, parse_cluster("8xB200"), "vllm", Layout(tp=8)) == ()
    assert nearest_published(published(), "kimi-k2-tiny-like", parse_cluster("8xH200"), "vllm", Layout()) != ()
    assert nearest_published(published(), "another-model", parse_cluster("8xH200"), "vllm", Layout()) == ()


@pytest.mark.parametrize(
    ("on", "names"),
    [
        ("2xH100", ["4xH100", "8xH100", "2x8xH100", "4x8xH100", "8x8xH100", "16x8xH100"]),
        ("8xH800", ["2x8xH800", "4x8xH800", "8x8xH800", "16x8xH800"]),
        ("cpu", []),
    ],
)
def test_larger_clusters_double_and_read_back(on: str, names: list[str]) -> None:
    layouts = list(larger_clusters(parse_cluster(on)))
    assert [cluster.name for cluster in layouts] == names
    for cluster in layouts:
        again = parse_cluster(cluster.name)
        assert (again.nodes, again.per_node, again.device) == (cluster.nodes, cluster.per_node, cluster.device)
