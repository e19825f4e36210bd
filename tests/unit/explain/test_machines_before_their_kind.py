"""`2x H100 nodes` are two machines: a number before a device and a word for machines counts the machines."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.device_mentions import machines_of
from moonpad.explain.input_limits import Budget
from tests.unit.explain.judging import ask

SERVE = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --trust-remote-code --tp-size"


def machines_in(written: str) -> list[str]:
    return [machine for _, machine in machines_of(written, Budget())]


@pytest.mark.parametrize(
    ("written", "cluster"),
    [
        ("Kimi-K2 on 2x H100 nodes with TP=16.", "2x8xH100"),
        ("It runs on 2 x H100 80GB nodes.", "2x8xH100"),
        ("It runs on 3x H20 machines.", "3x8xH20"),
        ("It runs on 2x H100 GPU nodes.", "2x8xH100"),
        ("It runs on 2 H100 GPU nodes.", "2x8xH100"),
        ("It runs on 2x DGX H100 systems.", "2x8xH100"),
        ("It runs on 2x DGX H100.", "2x8xH100"),
        ("16x H100 servers", "16x8xH100"),
        ("It runs on 2x nodes of H100.", "2x8xH100"),
        ("It runs on 2x H100 nodes (4 GPUs each).", "2x4xH100"),
        ("It runs on 2x H100 nodes with 4 GPUs.", "2x4xH100"),
        ("It runs on H100 x 2 nodes.", "2x8xH100"),
        ("It runs on 4 nodes of L40S, 8 GPUs in each.", "4x8xL40S"),
        ("It runs on 2 nodes of H100 (4 GPUs per node).", "2x4xH100"),
        ("2 台 H800", "2x8xH800"),
        ("两台H800", "2x8xH800"),
        ("2 个 H800 节点", "2x8xH800"),
        ("2 * H800 服务器", "2x8xH800"),
        ("[Bug] timeout (2x H100, TP=16)", "2x8xH100"),
        ("4x GB200, TP=16", "4x4xGB200"),
    ],
)
def test_they_are_counted(written: str, cluster: str) -> None:
    assert machines_in(written) == [cluster]


@pytest.mark.parametrize(
    ("written", "cluster"),
    [
        ("It runs on 8x H100 nodes.", "8xH100"),
        ("It runs on 4x GB200 nodes.", "4xGB200"),
        ("It runs on 4x H100 nodes with TP=4.", "4xH100"),
        ("It runs on 2x H100 instances.", "2xH100"),
        ("It runs on a 2x H100 node.", "2xH100"),
        ("2x H100 with TP=2", "2xH100"),
        ("8x H100, TP=16", "8xH100"),
        ("2台H800，每台4卡", "2x4xH800"),
    ],
)
def test_devices_are_not_taken_for_machines(written: str, cluster: str) -> None:
    assert machines_in(written) == [cluster]


@pytest.mark.parametrize("written", ["a single RTX 4090 machine", "two RTX 4090 machines", "2x RTX 4090 machines"])
def test_cards_have_no_usual_number(written: str) -> None:
    assert not machines_in(written)


def test_a_heading_counts_as_the_text_does() -> None:
    text = "# Timeout (2x H100)\n\nIt hangs on 2x H100 nodes.\n\n2x H100 of another host hang too.\n"
    assert machines_in(text) == ["2x8xH100", "2x8xH100", "2xH100"]


@pytest.mark.parametrize("machines", ["2x H100 nodes", "two H100 boxes", "two 8xH100 systems"])
def test_no_rank_lacks_a_device(machines: str) -> None:
    (judged,) = ask(f"Kimi-K2-Instruct on {machines}.\n```\n{SERVE} 16\n```\n")
    assert not any("names 2 H100" in finding.message for finding in judged.findings)
    assert judged.cluster is not None
    assert (judged.cluster.nodes, judged.cluster.devices) == (2, 16)


def test_ranks_without_devices_are_told_still() -> None:
    (judged,) = ask(f"Kimi-K2-Instruct on two H100.\n```\n{SERVE} 16\n```\n")
    assert any("names 2 H100" in finding.message for finding in judged.findings)
