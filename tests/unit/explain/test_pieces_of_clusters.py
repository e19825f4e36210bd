"""Manifests, pools and guides: names of resources, lists behind a shell, sizes of KServe, connectors, ports."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_files
from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask, found

POD = """apiVersion: v1
kind: Pod
metadata:
  name: engine
spec:
  containers:
  - name: engine
    image: vllm/vllm-openai:v0.11.0
    command: ["vllm", "serve", "someone/model-8b"]
    resources:
      limits:
        {name}: "1"
        memory: 40Gi
"""


@pytest.mark.parametrize(
    ("name", "meant"), [("gpu", "nvidia.com/gpu"), ("nvidia-gpu", "nvidia.com/gpu"), ("npu", "huawei.com/Ascend910")]
)
def test_a_resource_without_its_domain(name: str, meant: str) -> None:
    (finding,) = found(POD.format(name=name), "no resource of a container")
    assert finding.severity is Severity.WARNING
    assert meant in finding.remedy
    assert "line 12" in finding.message


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "cpu", "ephemeral-storage", "hugepages-2Mi", "amd.com/gpu"])
def test_a_resource_that_kubernetes_knows(name: str) -> None:
    assert found(POD.format(name=name), "no resource of a container") == []


GRAPH = """apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: graph
spec:
  services:
    Worker:
      componentType: worker
      replicas: 1
      {own}
      extraPodSpec:
        mainContainer:
          {inner}
          image: registry.example/engine:1
          command: [python3, -m, dynamo.vllm]
          args: [--model, someone/model-8b]
"""


def test_a_graph_has_gpu_in_its_own_resources_alone() -> None:
    resources = "resources: {limits: {gpu: '1'}}"
    (finding,) = found(GRAPH.format(own="", inner=resources), "no resource of a container")
    assert "resources of the service itself" in finding.remedy
    assert found(GRAPH.format(own=resources, inner=""), "no resource of a container") == []


LISTED = """apiVersion: v1
kind: Pod
metadata:
  name: engine
spec:
  containers:
  - name: engine
    image: vllm/vllm-openai:v0.11.0
    command: {command}
    args:
"""


@pytest.mark.parametrize(
    "items",
    [
        '    - vllm serve someone/model-8b\n    - --max-model-len=8192\n    - "--port=8000"\n',
        '    - "exec vllm serve someone/model-8b"\n    - "--max-model-len"\n    - "8192"\n',
        "    - vllm serve {{ .Values.model }}\n    {{- range .Values.extra }}\n    - {{ . | quote }}\n    {{- end }}\n",
    ],
)
def test_options_behind_the_text_of_a_shell(items: str) -> None:
    (finding,) = found(LISTED.format(command='["/bin/sh", "-c"]') + items, "first item of args alone")
    assert finding.where == "args"


@pytest.mark.parametrize(
    ("command", "items"),
    [
        ('["vllm", "serve"]', "    - someone/model-8b\n    - --max-model-len=8192\n"),
        ('["/bin/sh", "-c"]', "    - vllm serve someone/model-8b --max-model-len=8192\n"),
        ('["/bin/sh", "-c"]', '    - vllm serve someone/model-8b "$@"\n    - --\n    - --max-model-len=8192\n'),
        ('["/bin/sh", "-c"]', "    - |\n      vllm serve someone/model-8b \\\n        --max-model-len=8192\n"),
    ],
)
def test_options_that_reach_the_program(command: str, items: str) -> None:
    assert found(LISTED.format(command=command) + items, "first item of args alone") == []


RUNTIME = """apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata:
  name: nodes
spec:
  containers:
  - name: kserve-container
    image: vllm/vllm-openai:v0.11.0
    command: [bash, -c]
    args:
    - |
      ray start --head
      exec vllm serve /mnt/models --port=8080 --distributed-executor-backend ray{options}
  workerSpec:
    pipelineParallelSize: {pp}
    tensorParallelSize: 1
    containers: []
"""


def test_the_size_of_a_worker_spec_is_not_read() -> None:
    (finding,) = found(RUNTIME.format(options="", pp=2), "becomes the variable PIPELINE_PARALLEL_SIZE")
    assert finding.where == "--pipeline-parallel-size"


@pytest.mark.parametrize(
    ("options", "pp"),
    [
        (" --pipeline-parallel-size ${PIPELINE_PARALLEL_SIZE}", 2),
        (" --pipeline_parallel_size=2", 2),
        (" -pp 2", 2),
        (" $ENGINE_ARGS", 2),
        ("", 1),
    ],
)
def test_the_size_of_a_worker_spec_is_read(options: str, pp: int) -> None:
    assert found(RUNTIME.format(options=options, pp=pp), "of workerSpec becomes") == []


POOL = """{kind}:
  create: true
  containers:
  - name: vllm
    image: vllm/vllm-openai:v0.11.0
    modelCommand: custom
    command: [/bin/sh, -c]
    args:
    - |
      exec vllm serve someone/model-8b \\
        --port {port}{more}
"""
POOLS = POOL.format(kind="decode", port=8200, more="{decode}") + POOL.format(
    kind="prefill", port=8000, more="{prefill}"
)
CONNECTOR = """ --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""


def test_pools_without_a_connector() -> None:
    (finding,) = found(POOLS.format(decode="", prefill=""), "compute the prompts again")
    assert finding.where == "--kv-transfer-config"
    assert finding.severity is Severity.WARNING


def test_pools_with_a_connector() -> None:
    assert found(POOLS.format(decode=CONNECTOR, prefill=CONNECTOR), "and those for prefill") == []
    assert found(POOLS.format(decode="", prefill="") + "# KV_TRANSFER comes later\n", "and those for prefill") == []


COMPOSE = """services:
  engine:
    image: vllm/vllm-openai:v0.11.0
    command: --model someone/model-8b --port 8000
    ports:
    - "{published}"
  gateway:
    image: ghcr.io/example/gateway:1
    {network}
"""
ASKS = "model_list:\n- litellm_params:\n    api_base: http://host.docker.internal:8001/v1\n"
GATEWAY = 'extra_hosts: ["host.docker.internal:host-gateway"]'


def asked(published: str, network: str) -> list[Finding]:
    files = (("compose.yaml", COMPOSE.format(published=published, network=network)), ("config.yaml", ASKS))
    judged = ask(read_files(files))
    return [each for one in judged for each in one.findings if "host.docker.internal is the gateway" in each.message]


def test_a_port_of_the_loopback_asked_through_the_gateway() -> None:
    (finding,) = asked("127.0.0.1:8001:8000", GATEWAY)
    assert "config.yaml" in finding.message
    assert "8001" in finding.where


@pytest.mark.parametrize(
    ("published", "network"),
    [
        ("8001:8000", GATEWAY),
        ("127.0.0.1:8002:8000", GATEWAY),
        ("127.0.0.1:8001:8000", "network_mode: host"),
        ("127.0.0.1:8001:8000", "restart: always"),
    ],
)
def test_a_port_that_is_reached(published: str, network: str) -> None:
    assert asked(published, network) == []


GUIDE = """# One

```bash
vllm serve someone/model-8b --port 8089
```

```bash
curl http://<node_ip>:{first}/v1/chat/completions \\
  -H "Content-Type: application/json" -d '{{}}'
```

# Two
{between}

```bash
vllm serve someone/model-70b --host 0.0.0.0 --port $2
```
"""


def test_a_request_below_its_server() -> None:
    (finding,) = found(GUIDE.format(first=8088, between=""), "goes to port 8088")
    assert finding.where == "--port"
    assert "8089" in finding.message


def test_requests_to_what_listens() -> None:
    assert found(GUIDE.format(first=8089, between=""), "goes to port") == []
    assert found(GUIDE.format(first=8088, between="The balancer listens on 8088."), "goes to port") == []


BENCH = """#!/bin/bash
python -m sglang.launch_server --model-path someone/model-8b &
python -m sglang.bench_serving --backend sglang {option} someone/model-8b --num-prompts 10
"""


def test_an_option_of_the_server_for_a_measurement() -> None:
    (finding,) = found(BENCH.format(option="--model-path"), "the measurement has no")
    assert finding.remedy == "write --model"
    assert found(BENCH.format(option="--model"), "the measurement has no") == []


def test_a_variable_of_an_old_release() -> None:
    (finding,) = found("VLLM_TORCH_COMPILE_LEVEL=0 vllm serve someone/model-8b\n", "VLLM_TORCH_COMPILE_LEVEL")
    assert "--compilation-config" in finding.remedy


UNEVEN = "vllm serve MiniMaxAI/MiniMax-M2 --tensor-parallel-size 7 --attention-backend {backend}\n"


@pytest.mark.parametrize(
    ("backend", "severity"), [("FLASH_ATTN", Severity.ERROR), ("OURS_NINE_ATTN", Severity.WARNING)]
)
def test_a_build_of_its_own_may_share_out_what_a_release_cannot(backend: str, severity: Severity) -> None:
    (finding,) = found(UNEVEN.format(backend=backend), "cannot be shared out evenly")
    assert finding.severity is severity
