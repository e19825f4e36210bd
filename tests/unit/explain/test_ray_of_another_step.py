"""A server that is started in a container of a Ray cluster by another step than the cluster: what the container sees is
fewer devices than its ranks, and nothing asks for Ray."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SCRIPT = """#!/bin/bash
case "$1" in
  cluster)
    docker run -d --name head --network host --gpus all -e CUDA_VISIBLE_DEVICES={} -e NCCL_IB_DISABLE=1 \\
      vllm/vllm-openai:v{} ray start --head --port=6379 --block
    ;;
  serve)
    docker exec -d head bash -c \\
      "vllm serve /srv/Some-Model --tensor-parallel-size 4 --pipeline-parallel-size 2{} >/tmp/log 2>&1"
    ;;
esac
"""
CHOSEN = '"$([[ $2 == big ]] && echo 0,1,2,3,4,5 || echo 0,1,2,3)"'
EXECUTOR = "--distributed-executor-backend"


def _asked(devices: str, release: str = "0.24.0", more: str = "") -> list[Severity]:
    judged = ask(SCRIPT.format(devices, release, more))
    found = (each for one in judged for each in one.findings if each.where == EXECUTOR)
    return [each.severity for each in found if "in a container of" in each.message]


@pytest.mark.parametrize("devices", ["0,1,2,3", "0,1,2,3,4,5", CHOSEN])
def test_ray_has_to_be_asked_for(devices: str) -> None:
    assert _asked(devices) == [Severity.ERROR]


@pytest.mark.parametrize(
    ("devices", "more"),
    [
        ("0,1,2,3,4,5,6,7", ""),
        ("$GPUS", ""),
        (CHOSEN.replace("0,1,2,3,4,5", "0,1,2,3,4,5,6,7"), ""),
        ("0,1,2,3", f" {EXECUTOR} ray"),
    ],
)
def test_enough_devices_or_ray(devices: str, more: str) -> None:
    assert _asked(devices, more=more) == []


def test_older_releases_take_it_by_themselves() -> None:
    assert _asked("0,1,2,3", "0.10.2") == []


def test_what_the_container_was_made_with_is_not_set_again() -> None:
    (corrected,) = [line for one in ask(SCRIPT.format(CHOSEN, "0.24.0", "")) for line in one.corrected]
    assert {"CUDA_VISIBLE_DEVICES", "NCCL_IB_DISABLE"}.isdisjoint(corrected.env)
    assert corrected.argv[-2:] == (EXECUTOR, "ray")


def test_what_is_set_as_it_is_entered_is_kept() -> None:
    text = SCRIPT.format("0,1,2,3", "0.24.0", "").replace("docker exec -d", "docker exec -d -e VLLM_LOGGING_LEVEL=INFO")
    (corrected,) = [line for one in ask(text) for line in one.corrected]
    assert "VLLM_LOGGING_LEVEL" in corrected.env
