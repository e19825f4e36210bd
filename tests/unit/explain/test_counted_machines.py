"""So many machines with so many devices each, as people put it in a sentence."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.device_mentions import machines_of, mentions
from moonpad.explain.input_limits import Budget
from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 16"


def cluster_of(written: str) -> str:
    return " ".join(machine for _, machine in machines_of(f"We serve {written}", Budget()))


@pytest.mark.parametrize(
    ("written", "cluster"),
    [
        ("it across two 8× B200 nodes (EFA).", "2x8xB200"),
        ("it on two nodes of 8x B200.", "2x8xB200"),
        ("it on 2 × 8xH200 machines.", "2x8xH200"),
        ("it with a pair of 8-GPU H100 boxes.", "2x8xH100"),
        ("it on two of our 8xH200 servers.", "2x8xH200"),
        ("it on 4 8xH100 nodes.", "4x8xH100"),
        ("it on three 8-way H100 nodes.", "3x8xH100"),
        ("it on two 8-GPU nodes (H100).", "2x8xH100"),
        ("it on two **8x B200** nodes.", "2x8xB200"),
        ("it on 2x (8x B200) nodes.", "2x8xB200"),
        ("it on both of our 8xH200 servers.", "2x8xH200"),
        ("it on a pair of H200 nodes.", "2x8xH200"),
        ("it on two DGX B200.", "2x8xB200"),
        ("it on two H200 SXM nodes.", "2x8xH200"),
        ("it on two GB200 trays.", "2x4xGB200"),
        ("it on 4 compute trays of GB300.", "4x4xGB300"),
        ("it on 2 x (8 x A100 SM80).", "2x8xA100"),
        ("it on two H200 nodes: TP4 in each, PP2 between them.", "2x4xH200"),
        ("it on two H200 nodes with TP8 and PP2.", "2x8xH200"),
        ("it on a 16×B200 TEP16 slice of a P6e-GB200.", "16xGB200"),
        ("it on 16×B200 multi-node (P6e-GB200).", "16xGB200"),
        ("it on eight 4x GB200 nodes.", "8x4xGB200"),
        ("it, 两个8卡H200节点.", "2x8xH200"),
        ("it, 2台8xH800机器.", "2x8xH800"),
    ],
)
def test_machines_are_counted(written: str, cluster: str) -> None:
    assert cluster_of(written) == cluster


@pytest.mark.parametrize(
    ("written", "cluster"),
    [
        ("it on one of our 8xH200 servers.", "8xH200"),
        ("it on 8x B200 nodes.", "8xB200"),
        ("two models on an 8x B200 node.", "8xB200"),
        ("it with vLLM 0.28 8xH200 machines.", "8xH200"),
        ("it with tp 16 8xH200 nodes.", "8xH200"),
        ("2 GPUs of an 8xH100 node.", "8xH100"),
        ("two 8xH200 replicas.", "8xH200"),
        ("it on one RTX PRO 6000 Blackwell node: TP8.", ""),
        ("it on one RTX PRO 6000 Blackwell Server Edition machine.", ""),
        ("it on one RTX PRO 6000 Blackwell card.", "1xRTX-PRO-6000"),
        ("it on 16xB200 or 16xGB200.", "16xB200 16xGB200"),
        ("it since 2025 8xH100 nodes.", "8xH100"),
    ],
)
def test_other_numbers_count_no_machines(written: str, cluster: str) -> None:
    assert cluster_of(written) == cluster


def test_what_fits_on_both_machines_is_said_to_fit() -> None:
    (judged,) = ask(f"TP16 across two 8x B300 nodes.\n\n```sh\n{SERVE}\n```\n")
    assert not verdict(judged)[0].startswith("Does not fit")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Dual RTX 4090 (48GB total) and 128 GB of RAM", "RTX4090"),
        ("two RTX 4090 (48 GB combined)", "RTX4090"),
        ("a modified RTX 4090 (48GB)", "RTX4090-48G"),
    ],
)
def test_size_of_all_cards_together_is_not_that_of_one(said: str, kind: str) -> None:
    assert {each.kind for each in mentions((said,), ())} == {kind}


LAYOUT = "--tensor-parallel-size 4 --pipeline-parallel-size 2 --distributed-executor-backend ray"


@pytest.mark.parametrize(
    ("said", "options", "cluster"),
    [
        ("across two H200 nodes", LAYOUT, "2x4xH200"),
        ("on two nodes of 8x H200", LAYOUT, "2x4xH200"),
        ("on two H200 nodes", "--tensor-parallel-size 8", "8xH200"),
        ("on one H200 node", LAYOUT, "8xH200"),
        ("on four H200 nodes", LAYOUT, "8xH200"),
    ],
)
def test_a_stage_of_rays_is_on_each_machine(said: str, options: str, cluster: str) -> None:
    (judged,) = ask(f"# Kimi-K2.5 {said}\nvllm serve moonshotai/Kimi-K2.5 {options}\n")
    assert judged.cluster is not None
    assert judged.cluster.name == cluster
