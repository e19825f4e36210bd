"""Volumes against the folder that the engine reads."""

from __future__ import annotations

import pytest

from moonpad.explain.checks.containers.mounted_places import HOME
from tests.unit.explain.judging import ask

RUN = "docker run --gpus all --ipc host {options} {image} --model {model} -tp 8\n"
VLLM = "vllm/vllm-openai:v0.20.0"
K2 = "moonshotai/Kimi-K2.5"
POD = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: k2}}
spec:
  selector: {{matchLabels: {{app: k2}}}}
  template:
    metadata: {{labels: {{app: k2}}}}
    spec:
      containers:
      - name: server
        image: vllm/vllm-openai:v0.20.0
        args: [--model, {model}, -tp, '8']
        env: [{env}]
        volumeMounts:
        - {{name: shm, mountPath: /dev/shm}}
        - {{name: {name}, mountPath: {path}}}
        resources: {{limits: {{nvidia.com/gpu: '8'}}}}
      volumes:
      - {{name: shm, emptyDir: {{medium: Memory}}}}
      - {{name: weights, persistentVolumeClaim: {{claimName: weights}}}}
"""


def told(text: str, words: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.where for finding in findings if words in finding.message]


def run(options: str, model: str = K2, image: str = VLLM) -> str:
    return RUN.format(options=options, model=model, image=image)


def pod(path: str = "/models", model: str = "/models/k2", name: str = "weights", env: str = "") -> str:
    return POD.format(path=path, model=model, name=name, env=env)


@pytest.mark.parametrize(
    "text",
    [
        run("-v /srv/models:/models", "/data/models/Kimi-K2.5"),
        run(f"-v /srv/hf:{HOME}/.cache/huggingface -v ./x.jinja:/x.jinja", "/models/Kimi-K2.5"),
        run("", "/models/Kimi-K2.5"),
        pod(model="/model/k2"),
        pod(path="/mnt/models", model="/models/k2"),
        run("-v /srv/Kimi-K2.5:/data/Kimi-K2.5", "/checkpoints/Kimi-K2.5"),
    ],
)
def test_a_path_that_nothing_is_mounted_at(text: str) -> None:
    assert told(text, "the image has no weights") == ["model"]


@pytest.mark.parametrize(
    "text",
    [
        run("-v /srv/models:/models", "/models/Kimi-K2.5"),
        run("-v /srv/models/Kimi-K2.5:/models/Kimi-K2.5", "/models/Kimi-K2.5"),
        run("--mount type=bind,src=/srv,target=/models", "/models/Kimi-K2.5"),
        run("-v /srv:/models", "/weights", "registry.example.com/k2:1"),
        run("-v $MODELS:$MODELS", "/models/Kimi-K2.5"),
        run("-v weights:/models --volumes-from other", "/weights"),
        run("$VOLUMES", "/models/Kimi-K2.5"),
        run('"${VOLUMES[@]}"', "/models/Kimi-K2.5"),
        pod(),
        pod(path="/models/k2"),
    ],
)
def test_a_path_that_may_be_there(text: str) -> None:
    assert told(text, "the image has no weights") == []


@pytest.mark.parametrize(
    "text",
    [
        run("-v ./data:/data"),
        run("-v ./hf_cache:/hf_cache"),
        pod(path="/models", model=K2),
        pod(path="/models", model=K2, env="{name: HF_HOME, value: /cache}"),
    ],
)
def test_a_cache_that_nothing_is_mounted_at(text: str) -> None:
    assert len(told(text, "is downloaded to")) == 1


@pytest.mark.parametrize(
    "text",
    [
        run(f"-v ~/.cache/huggingface:{HOME}/.cache/huggingface"),
        run(f"-v ~/.cache:{HOME}/.cache"),
        run(f"-v ./hf:{HOME}/.cache/huggingface/hub -e HF_HOME=/models"),
        run("-v ./data:/data -e HF_HOME=/data/hf"),
        run("-v ./data:/data -e HF_HUB_CACHE=/data"),
        run("-v ./data:/data -e HF_HOME=$HF_HOME"),
        run(f"-v ./templates:/templates -v ./vllm:{HOME}/.cache/vllm"),
        run("-v ./data:/data").replace("-tp 8", "-tp 8 --download-dir /data"),
        run("-v ./data:/home/me/.cache/huggingface"),
        run("-v ./data:/data", image="registry.example.com/k2:1"),
        run("-v ./data:/data --user 1000"),
        pod(path=f"{HOME}/.cache/huggingface", model=K2),
        pod(path="/cache", model=K2, env="{name: HF_HOME, value: /cache}"),
    ],
)
def test_a_cache_that_is_mounted_or_not_known(text: str) -> None:
    assert told(text, "is downloaded to") == []


def test_a_volume_that_the_pod_does_not_have() -> None:
    assert told(pod(name="model-storage"), "has no volume") == ["volumeMounts"]
    assert told(pod(), "has no volume") == []
    patch = pod(name="model-storage").replace("  selector: {matchLabels: {app: k2}}\n", "")
    assert told(patch, "has no volume") == []


OFFLINE = "is not found"
READ_ONLY = "mounted read-only"


@pytest.mark.parametrize(
    "text",
    [
        run("-e HF_HUB_OFFLINE=1"),
        run("-e HF_HUB_OFFLINE=true -v /srv/logs:/logs"),
        run("-e HF_HUB_OFFLINE=1 -e HF_HOME=/hf -v /srv/logs:/logs"),
        pod(path="/logs", model=K2, env="{name: HF_HUB_OFFLINE, value: '1'}"),
    ],
)
def test_offline_without_any_weights(text: str) -> None:
    assert told(text, OFFLINE) == ["HF_HUB_OFFLINE"]


@pytest.mark.parametrize(
    "text",
    [
        run("-e HF_HUB_OFFLINE=0"),
        run(f"-e HF_HUB_OFFLINE=1 -v /srv/hf:{HOME}/.cache/huggingface"),
        run(f"-e HF_HUB_OFFLINE=1 -v /srv/hf:{HOME}/.cache"),
        run("-e HF_HUB_OFFLINE=1 -e HF_HOME=/hf -v /srv/hf:/hf"),
        run("-e HF_HUB_OFFLINE=1 -v /srv/k2:/models/k2", "/models/k2"),
        run("-e HF_HUB_OFFLINE=1", image="registry.example.com/own/vllm-with-k2:1"),
        pod(path="/hf", model=K2, env="{name: HF_HUB_OFFLINE, value: '1'}, {name: HF_HOME, value: /hf}"),
    ],
)
def test_offline_with_weights_or_an_image_that_may_have_them(text: str) -> None:
    assert told(text, OFFLINE) == []


@pytest.mark.parametrize(
    ("options", "model", "expected"),
    [
        ("-v /srv/models:/models:ro", K2, ["--download-dir"]),
        ("-v /srv/models:/models:z,ro", K2, ["--download-dir"]),
        ("-v /srv/models:/models", K2, []),
        ("-v /srv/models:/models:ro", "/models/Kimi-K2.5", []),
        ("-v /srv/models:/models:ro -v /srv/hf:/models/hub", K2, []),
    ],
)
def test_a_download_into_a_folder_for_reading_alone(options: str, model: str, expected: list[str]) -> None:
    text = run(options, model).replace("-tp 8", "-tp 8 --download-dir /models/hub")
    assert told(text, READ_ONLY) == expected


@pytest.mark.parametrize(
    ("mounted", "read", "count"),
    [
        ("/data/bge-reranker-v2-m3", "/data/bge-m3", 1),
        ("/data/Kimi-K2-Thinking", "/data/Kimi-K2.5", 1),
        ("/data/Kimi-K2.5", "/data/Kimi-K2.5/", 0),
        ("/data/outputs", "/data/Kimi-K2.5", 0),
        ("/workspace/run-7", "/data/Kimi-K2.5", 0),
    ],
)
def test_the_folder_of_other_weights_is_mounted(mounted: str, read: str, count: int) -> None:
    """Of `docker run`, whose other volumes do not hold the weights."""
    text = RUN.format(options=f"-v /srv{mounted}:{mounted}", image=VLLM, model=read)
    assert len(told(text, f"the volumes are at {mounted}")) == count
