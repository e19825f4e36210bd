"""Machines of which a task may get any: the judgement says for which it holds, and what differs on the others."""

from __future__ import annotations

from itertools import permutations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

KINDS = ("A100-80GB", "H100", "H200")
"""A100 has no attention backend for the checkpoint's FP8 cache; H100 has less memory than H200."""
CLUSTERS = {"A100-80GB": "8xA100", "H100": "8xH100", "H200": "8xH200"}
RUN = (
    "run: |\n  vllm serve nvidia/Kimi-K2.5-NVFP4 --tensor-parallel-size $SKYPILOT_NUM_GPUS_PER_NODE \\\n"
    "    --trust-remote-code --max-model-len 32768 --gpu-memory-utilization 0.95\n"
)


def as_mapping(kinds: tuple[str, ...]) -> str:
    return f"resources:\n  accelerators: {{{', '.join(f'{kind}:8' for kind in kinds)}}}\n{RUN}"


def as_list(kinds: tuple[str, ...]) -> str:
    return f"resources:\n  accelerators: [{', '.join(f'{kind}:8' for kind in kinds)}]\n{RUN}"


def as_any_of(kinds: tuple[str, ...]) -> str:
    choices = "".join(f"    - accelerators: {kind}:8\n" for kind in kinds)
    return f"resources:\n  any_of:\n{choices}{RUN}"


WAYS = {"mapping": as_mapping, "list": as_list, "any_of": as_any_of}


def judged_on(way: str, kinds: tuple[str, ...]) -> Judged:
    (judged,) = ask(WAYS[way](kinds))
    return judged


def about_format(judged: Judged) -> list[str]:
    return [finding.message for finding in judged.findings if "no attention backend" in finding.message]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kinds", list(permutations(KINDS)))
def test_the_order_does_not_decide_what_is_an_error(way: str, kinds: tuple[str, ...]) -> None:
    judged = judged_on(way, kinds)
    assert not [finding for finding in judged.findings if finding.severity is Severity.ERROR]
    (message,) = about_format(judged)
    assert "A100" in message
    assert judged.cluster is not None
    assert judged.cluster.name == CLUSTERS[kinds[0]]
    assert all(CLUSTERS[kind] in judged.cluster_because for kind in kinds)


@pytest.mark.parametrize("way", WAYS)
def test_what_differs_in_memory_is_one_line_for_each(way: str) -> None:
    judged = judged_on(way, ("H200", "H100", "A100-80GB"))
    said = [finding.message for finding in judged.findings if finding.where == "accelerators"]
    assert sum("8xH100" in message for message in said) == 1
    assert sum("8xA100" in message for message in said) == 1
    assert len(said) == 2


def test_what_holds_on_all_stays_an_error() -> None:
    text = as_mapping(("A100-80GB",))
    (judged,) = ask(text)
    assert any(finding.severity is Severity.ERROR and "no attention" in finding.message for finding in judged.findings)
    assert "may get" not in judged.cluster_because


def test_devices_that_are_asked_for_are_judged_alone() -> None:
    (judged,) = ask(as_mapping(KINDS), on="8xA100")
    assert judged.cluster_because == "as asked"
    assert any(finding.severity is Severity.ERROR for finding in judged.findings)


def test_machines_of_a_comment_are_not_offered() -> None:
    text = "# 8x A100-80GB\nvllm serve nvidia/Kimi-K2.5-NVFP4 --tensor-parallel-size 8 --trust-remote-code\n"
    assert all("may get" not in judged.cluster_because for judged in ask(text))


@pytest.mark.parametrize(
    ("kinds", "told"), [(("H100", "H200"), ["8xH200"]), (("H200", "H100"), ["8xH100"]), (("H200", "B200"), [])]
)
def test_more_room_is_told_where_there_is_little(kinds: tuple[str, ...], told: list[str]) -> None:
    judged = judged_on("mapping", kinds)
    said = [finding.message for finding in judged.findings if finding.where == "accelerators"]
    assert [message.split(",")[0].removeprefix("on ") for message in said] == told
