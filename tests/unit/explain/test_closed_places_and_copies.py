"""Users, names and ports of containers and pods that exclude each other; images of another maker."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def told(text: str, words: str) -> list[str]:
    return [each.message for one in ask(text) for each in one.all_findings if words in each.message]


def deployment(
    pod: str = "", spec: str = "", image: str = "vllm/vllm-openai:v0.11.2", gpus: str = "nvidia.com/gpu: 2"
) -> str:
    return f"""apiVersion: apps/v1
kind: Deployment
metadata: {{name: q}}
spec:
{spec}  selector: {{matchLabels: {{app: q}}}}
  template:
    metadata: {{labels: {{app: q}}}}
    spec:
{pod}      containers:
        - name: vllm
          image: {image}
          args: ["--model", "Qwen/Qwen3-8B", "--tensor-parallel-size", "2"]
          resources: {{limits: {{{gpus}}}}}
          volumeMounts: [{{name: c, mountPath: /root/.cache/huggingface}}]
      volumes: [{{name: c, hostPath: {{path: /c}}}}]
"""


@pytest.mark.parametrize(
    ("image", "gpus", "is_other"),
    [
        ("rocm/vllm:latest", "nvidia.com/gpu: 2", True),
        ("vllm/vllm-openai-rocm:v0.15.0", "nvidia.com/gpu: 2", True),
        ("vllm/vllm-openai:v0.11.2", "amd.com/gpu: 2", True),
        ("rocm/vllm:latest", "amd.com/gpu: 2", False),
        ("vllm/vllm-openai:v0.11.2", "nvidia.com/gpu: 2", False),
        ("registry.local/vllm:7", "amd.com/gpu: 2", False),
    ],
)
def test_devices_of_one_maker_and_an_image_for_the_other(image: str, gpus: str, is_other: bool) -> None:
    text = deployment(image=image, gpus=gpus)
    assert bool(told(text, "finds none of") + told(text, "the pod stays pending")) is is_other


@pytest.mark.parametrize(
    ("context", "is_closed"),
    [
        ("      securityContext: {runAsUser: 1000}\n", True),
        ("      securityContext: {runAsUser: 0}\n", False),
        ("", False),
        ("      securityContext: {runAsUser: 1000}\n      initContainers: [{name: a, image: b}]\n", False),
    ],
)
def test_the_home_of_root_is_closed_to_others(context: str, is_closed: bool) -> None:
    assert bool(told(deployment(pod=context), "may not enter /root")) is is_closed


def test_the_home_of_root_is_closed_to_the_user_of_docker_run() -> None:
    run = "docker run --gpus all --user 1000:1000 {} vllm/vllm-openai:v0.11.2 --model Qwen/Qwen3-8B\n"
    assert told(run.format("-v /c:/root/.cache/huggingface"), "may not enter /root") != []
    assert told(run.format("-v /c:/cache -e HF_HOME=/cache"), "may not enter /root") == []


@pytest.mark.parametrize(
    ("above", "pod", "severity"),
    [
        ("One node with 8 GPUs:\n\n", "      hostNetwork: true\n", ["warning"]),
        ("", "      hostNetwork: true\n", ["note"]),
        ("", "      hostNetwork: true\n      affinity: {podAntiAffinity: {}}\n", []),
        ("One node with 8 GPUs:\n\n", "", []),
    ],
)
def test_replicas_that_want_the_same_port_of_a_node(above: str, pod: str, severity: list[str]) -> None:
    text = above + deployment(pod=pod, spec="  replicas: 2\n")
    found = [each for one in ask(text) for each in one.findings if "hostNetwork" in each.message]
    assert [each.severity.value for each in found] == severity


SHORT = "Each upgrade of the image hangs: the new pod says 1 Insufficient nvidia.com/gpu.\n\n"


@pytest.mark.parametrize(
    ("above", "spec", "has_no_room"),
    [
        (SHORT, "", True),
        ("We have a single GPU node. When I change a flag the new pod stays Pending.\n\n", "", True),
        (SHORT, "  strategy: {type: Recreate}\n", False),
        (SHORT, "  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}\n", False),
        ("The first start says 1 Insufficient nvidia.com/gpu.\n\n", "", False),
        ("", "", False),
    ],
)
def test_a_rollout_that_waits_for_devices_of_the_old_pod(above: str, spec: str, has_no_room: bool) -> None:
    assert bool(told(above + deployment(spec=spec), "a rollout starts")) is has_no_room


@pytest.mark.parametrize(
    ("who", "option", "is_kept"),
    [
        ("rootless podman", "-p 80:8000", True),
        ("rootless podman", "-p 127.0.0.1:443:8000", True),
        ("rootless podman", "-p 8080:8000", False),
        ("podman", "-p 80:8000", False),
        ("rootless podman with net.ipv4.ip_unprivileged_port_start=80", "-p 80:8000", False),
    ],
)
def test_ports_that_a_user_without_root_may_not_bind(who: str, option: str, is_kept: bool) -> None:
    text = f"We run {who}:\n\npodman run {option} docker.io/vllm/vllm-openai:v0.11.2 --model Qwen/Qwen3-8B\n"
    assert bool(told(text, "who may not bind")) is is_kept


def runs(second: str, between: str = "", first: str = "-d --name llm -p 8000:8000") -> str:
    run = "docker run --gpus all {} vllm/vllm-openai:v0.11.2 --model Qwen/Qwen3-{}B\n"
    return run.format(first, 8) + between + run.format(second, 4)


@pytest.mark.parametrize(
    ("text", "is_in_use"),
    [
        (runs("-d --name llm -p 8001:8000"), True),
        (runs("-d --name other -p 8001:8000"), False),
        (runs("-d --name llm -p 8000:8000"), False),
        (runs("-d --name llm -p 8001:8000", "docker rm -f llm\n"), False),
        (runs("-d --name llm -p 8001:8000", "# on the second machine\n"), False),
    ],
)
def test_one_name_of_two_containers(text: str, is_in_use: bool) -> None:
    assert bool(told(text, "name is already in use")) is is_in_use


def job(to: int, port: str = "") -> str:
    return f"""job "q" {{
  group "g" {{
    network {{
      port "http" {{
        static = 9000
        to     = {to}
      }}
    }}
    task "t" {{
      driver = "docker"
      config {{
        image = "vllm/vllm-openai:v0.11.2"
        ports = ["http"]
        args  = ["--model", "Qwen/Qwen3-8B"{port}]
      }}
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        (job(8080), True),
        (job(8000), False),
        (job(8080, ', "--port", "8080"'), False),
        (job(8000, ', "--port", "1"'), True),
    ],
)
def test_the_port_of_a_job_of_nomad(text: str, is_wrong: bool) -> None:
    assert bool(told(text, "of the container, and vLLM listens on")) is is_wrong


INGRESS = """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: q
  annotations:
    nginx.ingress.kubernetes.io/proxy-body-size: 64m
spec:
  ingressClassName: nginx
"""


@pytest.mark.parametrize(
    ("manifest", "said", "is_short"),
    [
        (INGRESS, "504 Gateway Time-out", True),
        (INGRESS, "it works", False),
        (INGRESS.replace("proxy-body-size: 64m", 'proxy-read-timeout: "3600"'), "504 Gateway Time-out", False),
        (INGRESS.replace("nginx", "traefik"), "504 Gateway Time-out", False),
    ],
)
def test_an_ingress_that_ends_long_answers(manifest: str, said: str, is_short: bool) -> None:
    text = f"{manifest}\nThe server (vllm serve Qwen/Qwen3-8B --port 8000) says nothing.\n\n{said}\n"
    assert bool(told(text, "no proxy-read-timeout")) is is_short


@pytest.mark.parametrize(
    ("entry", "run", "is_kept"),
    [
        ('HF_TOKEN="hf_a"', "docker run", True),
        ("HF_TOKEN='hf_a'", "docker run", True),
        ("HF_TOKEN=hf_a", "docker run", False),
        ('HF_TOKEN="hf_a"', "docker compose run", False),
    ],
)
def test_quotes_in_a_file_of_variables(entry: str, run: str, is_kept: bool) -> None:
    text = f"# q.env\n{entry}\n\n{run} --env-file q.env --gpus all vllm/vllm-openai:v0.11.2 --model Qwen/Qwen3-8B\n"
    assert bool(told(text, "they may be part of the value")) is is_kept


def test_a_file_of_variables_may_name_the_cache() -> None:
    run = "docker run {} --gpus all -v /data/hf:/hf vllm/vllm-openai:v0.11.2 --model Qwen/Qwen3-8B\n"
    assert told(run.format("--env-file q.env"), "no volume is") == []
    assert told(run.format(""), "no volume is") != []
