"""What a container brings for the ranks in it."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

RUN = "docker run --gpus all {} vllm/vllm-openai:{} --model moonshotai/Kimi-K2-Instruct --trust-remote-code {}"


def found(text: str, where: str, part: str) -> list[Finding]:
    return [one for judged in ask(text) for one in judged.findings if one.where == where and part in one.message]


@pytest.mark.parametrize(
    ("options", "more", "said"),
    [
        ("", "--tensor-parallel-size 8", 1),
        ("--privileged -p 8000:8000", "-tp 8 -pp 2", 1),
        ("--ipc=host", "-tp 8", 0),
        ("--shm-size 16g", "-tp 8", 0),
        ("-v /dev/shm:/dev/shm", "-tp 8", 0),
        ("", "-tp 1", 0),
        ("", '"$@"', 0),
    ],
)
def test_ranks_share_the_memory_of_their_container(options: str, more: str, said: int) -> None:
    assert len(found(RUN.format(options, "v0.20.2", more), "--ipc", "/dev/shm")) == said


def test_a_compose_file_says_it_in_words_of_its_own() -> None:
    text = """services:
  vllm:
    image: vllm/vllm-openai:v0.20.2
    command: --model moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8
"""
    assert not found(text, "--ipc", "")


BY_RAY = "-tp 8 -pp 2 --distributed-executor-backend ray"


@pytest.mark.parametrize(
    ("image", "more", "before", "said"),
    [
        ("v0.20.2", BY_RAY, "", 1),
        ("latest", BY_RAY, "", 1),
        ("v0.17.1", BY_RAY, "", 0),
        ("v0.20.2", "-tp 8", "", 0),
        ("v0.20.2", BY_RAY, "RUN pip install --no-cache-dir ray\n", 0),
    ],
)
def test_the_official_image_has_no_ray(image: str, more: str, before: str, said: int) -> None:
    text = before + RUN.format("--ipc=host", image, more)
    assert len(found(text, "--distributed-executor-backend", "brings no Ray")) == said


LEADER = """apiVersion: v1
kind: Pod
metadata: {{name: leader}}
spec:
  containers:
  - name: leader
    image: docker.io/vllm/vllm-openai:{}
    command: [sh, -c, "bash examples/multi-node-serving.sh leader --ray_cluster_size=2; vllm serve a/b -tp 8 -pp 2"]
    resources: {{limits: {{nvidia.com/gpu: "8"}}}}
"""


@pytest.mark.parametrize(("image", "said"), [("v0.20.2", 1), ("latest", 1), ("v0.17.1", 0)])
def test_the_helper_of_the_image_starts_ray_too(image: str, said: int) -> None:
    assert len(found(LEADER.format(image), "multi-node-serving.sh leader", "brings no Ray")) == said


def test_an_image_of_ones_own_may_have_it() -> None:
    text = RUN.format("--ipc=host", "v0.20.2", BY_RAY).replace("vllm/vllm-openai", "registry.local/vllm")
    assert not found(text, "--distributed-executor-backend", "brings no Ray")


GUIDE = """```bash
docker run --rm {} --net=host -it {} {}
```

```bash
vllm serve Qwen/Qwen3-235B-A22B --tensor-parallel-size {}
```
"""


@pytest.mark.parametrize(
    ("options", "image", "program", "ranks", "said"),
    [
        ("", "quay.io/ascend/vllm-ascend:v0.11.0", "bash", 8, 1),
        ("--device /dev/davinci0", "vllm/vllm-openai:v0.11.0", "/bin/bash", 8, 1),
        ("--shm-size=1g", "quay.io/ascend/vllm-ascend:v0.11.0", "bash", 8, 0),
        ("--ipc=host", "quay.io/ascend/vllm-ascend:v0.11.0", "bash", 8, 0),
        ("", "quay.io/ascend/vllm-ascend:v0.11.0", "bash", 1, 0),
        ("", "prom/prometheus", "sh", 8, 0),
        ("", "quay.io/ascend/vllm-ascend:v0.11.0", "bash -c true", 8, 0),
    ],
)
def test_a_shell_in_a_container_is_where_the_guide_goes_on(
    options: str, image: str, program: str, ranks: int, said: int
) -> None:
    assert len(found(GUIDE.format(options, image, program, ranks), "--ipc", "/dev/shm")) == said


COMPOSE = """services:
  vllm:
    image: vllm/vllm-openai:v0.20.2
    {}
    command: --model Qwen/Qwen3-235B-A22B --tensor-parallel-size {}
"""


@pytest.mark.parametrize(
    ("option", "ranks", "said"),
    [
        ("restart: always", 8, 1),
        ("shm_size: 16g", 8, 0),
        ("ipc: host", 8, 0),
        ('volumes: ["/dev/shm:/dev/shm"]', 8, 0),
        ("<<: *gpu", 8, 0),
        ("restart: always", 1, 0),
    ],
)
def test_a_service_of_a_compose_file_has_no_more(option: str, ranks: int, said: int) -> None:
    assert len(found(COMPOSE.format(option, ranks), "shm_size", "/dev/shm")) == said


def test_a_file_that_lies_over_another_may_have_it_from_there() -> None:
    text = f"cat > over.yml <<'EOF'\n{COMPOSE.format('restart: always', 8)}EOF\ndocker compose {{}} up -d\n"
    assert found(text.format("-f over.yml"), "shm_size", "/dev/shm")
    assert not found(text.format("-f base.yml -f over.yml"), "shm_size", "/dev/shm")


POD_OF_RANKS = """apiVersion: {api}
kind: {kind}
metadata: {{name: k2}}
spec:
  template:
    spec:
      containers:
      - name: server
        image: vllm/vllm-openai:v0.20.2
        args: [--model, moonshotai/Kimi-K2-Instruct, --trust-remote-code, -tp, '8']
        resources: {{limits: {{nvidia.com/gpu: '8'}}}}
"""


@pytest.mark.parametrize(
    ("api", "kind", "said"),
    [("apps/v1", "ReplicaSet", 1), ("argoproj.io/v1alpha1", "Rollout", 1), ("acme.ai/v1", "ModelDeployment", 0)],
)
def test_kinds_of_pods_that_get_64_mb(api: str, kind: str, said: int) -> None:
    assert len(found(POD_OF_RANKS.format(api=api, kind=kind), "/dev/shm", "64 MB")) == said
