"""Ways to a server of the text: routers, tunnels, containers, an Ingress, and what is measured through them."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

K25 = "```bash\nvllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code{}\n```\n"
BENCH = "```bash\nvllm bench serve --model moonshotai/Kimi-K2.5 {}\n```\n"
PREFILL = (
    "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code "
    "--disaggregation-mode prefill --host 10.0.0.1 --port 30000\n"
)
POOLS = PREFILL + PREFILL.replace("prefill", "decode").replace("0.0.1", "0.0.2")
ROUTER = "python -m sglang_router.launch_router {} --port {}\n"
LONE = "sglang serve --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code --port 30000 &\n"
SPLIT = "--pd-disaggregation --prefill http://10.0.0.{}:30000 --decode http://10.0.0.{}:30000"
ENV = "`kimi.env`\n```\n{}HF_TOKEN=hf_abc\n```\n"
DOCKER = (
    "```bash\ndocker run --gpus all --ipc=host --env-file kimi.env -p 8000:8000 vllm/vllm-openai:v0.19.0 "
    "--model moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code\n```\n"
)
UNIT = (
    "```ini\n[Service]\nEnvironmentFile=/etc/kimi.env\nExecStart=/opt/bin/vllm serve moonshotai/Kimi-K2.5 -tp 8\n```\n"
)
WEBUI = "```bash\ndocker run -d{} -e OPENAI_API_BASE_URL=http://{}:8000/v1 ghcr.io/open-webui/open-webui:main\n```\n"
COMPOSE = """services:
  vllm:
    image: vllm/vllm-openai:v0.19.0
    command: --model moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code
    ipc: host
    ports: ["9000:8000"]
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}
  webui:
    image: ghcr.io/open-webui/open-webui:main
    environment:
      OPENAI_API_BASE_URL: http://HERE/v1
"""
MANIFEST = """apiVersion: apps/v1
kind: Deployment
metadata: {name: kimi}
spec:
  selector: {matchLabels: {app: kimi}}
  template:
    metadata: {labels: {app: kimi}}
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.19.0
          args: ["--model", "moonshotai/Kimi-K2.5", "--tensor-parallel-size", "8", "--trust-remote-code"]
          resources: {limits: {nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Service
metadata: {name: kimi}
spec:
  selector: {app: kimi}
  ports: [{port: 8000, targetPort: 8000}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: kimi}
spec:
  rules:
    - http:
        paths:
          - path: /
            pathType: Prefix
            backend: {service: {name: NAME, port: {number: PORT}}}
"""
CONDA = "```bash\nconda create -n kimi python=3.12 -y\nconda activate {}\nvllm serve moonshotai/Kimi-K2.5 -tp 8\n```\n"
NODE = (
    "```bash\npython -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct{} --tp 16 --nnodes 2 "
    "--node-rank {} --dist-init-addr 10.0.0.1:5000 --trust-remote-code\n```\n"
)


def manifest(name: str, port: str) -> str:
    return MANIFEST.replace("NAME", name).replace("PORT", port)


def messages(text: str) -> list[str]:
    return [f"{finding.where}: {finding.message}" for each in ask(text) for finding in each.findings]


TOLD = {
    "length": (
        K25.format(" --max-model-len 32768") + BENCH.format("--dataset-name random --random-input-len 65536"),
        "prompts of 65,536 tokens",
    ),
    "data": (K25.format("") + BENCH.format("--dataset-name sharegpt"), "downloads nothing"),
    "swapped": (POOLS + ROUTER.format(SPLIT.format(2, 1), 8000), "is the decode server of this text"),
    "not told": (
        POOLS + ROUTER.format("--worker-urls http://10.0.0.1:30000 http://10.0.0.2:30000", 8000),
        "takes them for equals",
    ),
    "one port": (LONE + ROUTER.format("--worker-urls http://127.0.0.1:30000", 30000), "same port of this machine"),
    "docker": (ENV.format("export ") + DOCKER, "the container is not started"),
    "systemd": (ENV.format("export ") + UNIT, "systemd passes over"),
    "heredoc": (
        "```bash\ncat > kimi.env <<EOF\nexport HF_TOKEN=hf_abc\nEOF\n```\n" + DOCKER,
        "the container is not started",
    ),
    "tunnel": (K25.format("") + "```bash\nssh -N -L 8000:localhost:8080 gpu01\n```\n", "ends at port 8080"),
    "container": (K25.format("") + WEBUI.format("", "localhost"), "is the container itself"),
    "service": (COMPOSE.replace("HERE", "localhost:9000"), "localhost, which is the container itself"),
    "published": (COMPOSE.replace("HERE", "vllm:9000"), "port on the machine"),
    "ingress: port": (manifest("kimi", "80"), "sends to port 80"),
    "ingress: name": (manifest("kimi-svc", "8000"), "sends to the Service kimi-svc"),
    "conda": (CONDA.format("k2"), "nothing makes k2"),
    "nodes": (NODE.format("", 0) + NODE.format("-0905", 1), "load different weights"),
}
SGLANG = "```bash\nsglang serve --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code{}\n```\n"
TOLD |= {
    "loopback": (
        SGLANG.format("") + "```bash\ncurl http://10.0.0.5:30000/v1/models\n```\n",
        "10.0.0.5, and the server",
    ),
    "bench": (
        SGLANG.format("") + "```bash\npython -m sglang.bench_serving --backend vllm --num-prompts 9\n```\n",
        "asks at port 8000, that of its --backend",
    ),
}
QUIET = {
    "every interface": SGLANG.format(" --host 0.0.0.0") + "```bash\ncurl http://10.0.0.5:30000/v1/models\n```\n",
    "behind a proxy": SGLANG.format("") + "nginx\n```bash\ncurl http://10.0.0.5:30000/v1/models\n```\n",
    "bench": SGLANG.format("") + "```bash\npython -m sglang.bench_serving --num-prompts 9\n```\n",
    "length": K25.format(" --max-model-len 32768") + BENCH.format("--dataset-name random --random-input-len 16384"),
    "data": K25.format("") + BENCH.format("--dataset-name sharegpt --dataset-path /data/sharegpt.json"),
    "in order": POOLS + ROUTER.format(SPLIT.format(1, 2), 8000),
    "own port": LONE + ROUTER.format("--worker-urls http://127.0.0.1:30000", 8000),
    "other machine": LONE + ROUTER.format("--worker-urls http://10.0.0.9:30000", 30000),
    "docker": ENV.format("") + DOCKER,
    "sourced": ENV.format("export ").replace("kimi.env", "env.sh") + DOCKER,
    "systemd": ENV.format("") + UNIT,
    "tunnel": K25.format("") + "```bash\nssh -N -L 8080:localhost:8000 gpu01\n```\n",
    "tunnel to a proxy": K25.format("") + "nginx listens on 8080\n```bash\nssh -N -L 8000:localhost:8080 gpu01\n```\n",
    "host": K25.format("") + WEBUI.format(" --network host", "localhost"),
    "by name": K25.format("") + WEBUI.format("", "host.docker.internal"),
    "service": COMPOSE.replace("HERE", "vllm:8000"),
    "host network": COMPOSE.replace("HERE", "localhost:9000") + "    network_mode: host\n",
    "ingress": manifest("kimi", "8000"),
    "conda": CONDA.format("kimi"),
    "base": CONDA.format("base"),
    "nodes": NODE.format("", 0) + NODE.format("", 1),
    "folders": NODE.format("", 0) + NODE.format("", 1).replace("moonshotai", "/data"),
}


@pytest.mark.parametrize("name", TOLD)
def test_a_way_that_leads_nowhere(name: str) -> None:
    text, words = TOLD[name]
    assert any(words in each for each in messages(text)), messages(text)


@pytest.mark.parametrize("name", QUIET)
def test_a_way_that_may_be_right(name: str) -> None:
    assert not [each for each in messages(QUIET[name]) if any(words in each for _, words in TOLD.values())]
