"""The script that starts Ray in the container of the server, over one line or several, as the guide of
LeaderWorkerSet has it; vLLM's images bring no Ray from 0.18.0 on."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

GROUP = """\
# H200
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: k}}
spec:
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      spec:
        containers:
        - name: leader
          image: vllm/vllm-openai:v{version}
          command: ["/bin/bash", "-c"]
          args:
          - |
{lines}
          resources: {{limits: {{nvidia.com/gpu: "{each}"}}}}
          volumeMounts: [{{name: d, mountPath: /dev/shm}}]
        volumes: [{{name: d, emptyDir: {{medium: Memory}}}}]
    workerTemplate:
      spec:
        containers:
        - name: worker
          image: vllm/vllm-openai:v{version}
          command: ["/bin/bash", "-c"]
          args:
          - {call} worker --ray_address=$(LWS_LEADER_ADDRESS)
          resources: {{limits: {{nvidia.com/gpu: "{each}"}}}}
"""
CALL = "bash /vllm-workspace/examples/online_serving/multi-node-serving.sh"
SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code --tensor-parallel-size 16"
SHAPES = {
    "one line": [f"{CALL} leader --ray_cluster_size=$(LWS_GROUP_SIZE); {SERVE}"],
    "two lines": [f"{CALL} leader --ray_cluster_size=$(LWS_GROUP_SIZE);", SERVE],
    "continued": [f"{CALL} \\", "  leader --ray_cluster_size=$(LWS_GROUP_SIZE);", SERVE],
    "continued twice": [f"{CALL} \\", "  leader \\", "  --ray_cluster_size=$(LWS_GROUP_SIZE);", "sleep 5", SERVE],
    "server continued": [f"{CALL} leader --ray_cluster_size=2;", "vllm serve \\", SERVE.removeprefix("vllm serve")],
    "ray itself": ["ray start --head --port=6379", SERVE],
}


def group(shape: str, version: str = "0.19.1", each: int = 8, more: str = "") -> str:
    lines = [*SHAPES[shape][:-1], SHAPES[shape][-1] + more]
    return GROUP.format(call=CALL, version=version, each=each, lines="\n".join(f"            {line}" for line in lines))


def messages(text: str) -> str:
    return " ".join(each.message for judged in ask(text) for each in judged.findings)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_image_brings_no_ray(shape: str) -> None:
    assert "brings no Ray" in messages(group(shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_an_older_image_does(shape: str) -> None:
    assert "brings no Ray" not in messages(group(shape, "0.14.0"))


def test_ray_that_is_started_in_another_container_is_not_of_this_one() -> None:
    text = group("continued").replace(SHAPES["continued"][1], "  --help;").replace(SHAPES["continued"][0], "echo \\")
    assert "brings no Ray" not in messages(text)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("version", ["0.12.0", "0.14.0", "0.19.1"])
def test_ray_is_not_taken_by_itself(shape: str, version: str) -> None:
    """vllm/config/parallel.py from 0.11.1 on: World size (16) is larger than the number of available GPUs (8)."""
    found = [each for one in ask(group(shape, version)) for each in one.findings if "executor" in each.where]
    assert [each.severity for each in found if "no longer taken by itself" in each.message] == [Severity.ERROR]


@pytest.mark.parametrize(
    ("version", "each", "more"),
    [
        ("0.14.0", 8, " --distributed-executor-backend ray"),
        ("0.14.0", 8, " --nnodes 2 --node-rank 0 --master-addr $(LWS_LEADER_ADDRESS)"),
        ("0.14.0", 8, " --nnodes $(LWS_GROUP_SIZE) --node-rank 0 --master-addr $(LWS_LEADER_ADDRESS)"),
        ("0.10.2", 8, ""),
        ("0.14.0", 16, ""),
    ],
)
def test_what_is_taken_by_itself_or_said(version: str, each: int, more: str) -> None:
    assert "no longer taken by itself" not in messages(group("two lines", version, each, more))


def test_a_group_whose_leader_asks_for_nobody() -> None:
    """Neither Ray nor --nnodes: the ranks of the other pods never come."""
    text = group("ray itself", "0.19.1").replace("ray start --head --port=6379", "sleep 1")
    text = text.replace(f"{CALL} worker --ray_address=$(LWS_LEADER_ADDRESS)", "sleep infinity")
    (found,) = (each for one in ask(text) for each in one.findings if "executor" in each.where)
    assert found.severity is Severity.ERROR
    assert "nothing says how the ranks reach each other" in found.message
