"""Words that a person has to replace before a deployment can start."""

from __future__ import annotations

import pytest

from moonpad.explain.checks.options.placeholders import placeholders_in
from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 16"

MANIFEST = """
apiVersion: v1
kind: Secret
metadata: {name: hf}
stringData:
  token: <YOUR_HF_TOKEN>
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: k2
  annotations:
    networking.gke.io/interfaces: '[{"network": "<NETWORK_NAME>"}]'
spec:
  template:
    spec:
      containers:
      - name: vllm
        image: your-registry/vllm:latest  # <tag> is free
        env:
        - name: PATH_TO_MODEL
          value: "{{ .Values.model }}"
        command: ["vllm", "serve", "moonshotai/Kimi-K2-Instruct", "-tp", "16"]
      volumes:
      - hostPath: {path: /path/to/models}
"""


def notes(text: str, name: str = "run.sh") -> list[str]:
    found = [finding for judged in judge(read_files([(name, text)]), Question()) for finding in judged.findings]
    return [finding.message for finding in found if finding.message.startswith("to be filled in")]


@pytest.mark.parametrize(
    "text",
    [
        "<YOUR_BUCKET>",
        "<snapshot-id>",
        "/path/to/models",
        "/your/path/to/Kimi-K2.5",
        "path/to/Kimi",
        "/PATH_TO_DSR1_MODEL/",
        "/path/DeepSeek-R1",
        "xxxx",
        "XXX",
        "192.168.x.x",
        "xx.xx.xx.xx",
        "arn:aws:iam::ACCOUNT_ID:role/Serve",
        "<your-registry>/vllm:latest",
        "your-registry/vllm:latest",
        "http://<NODE1_PRIVATE_IP>:30000",
        "hf_your_token",
        "changeme",
        "YOUR_KEY_HERE",
        "<模型路径>",
        "/data/你的模型路径",
        "hf_...",
        "REPLACE-WITH-TOKEN",
        "ethX",
        "enp<xx>",
        "node<N>",
    ],
)
def test_stands_for_something(text: str) -> None:
    assert list(placeholders_in(text)) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "$MODEL_PATH",
        "${PATH_TO_MODEL}/x",
        "{{ .Values.image }}",
        "{{ model_path }}",
        "<|im_user|>",
        "<think></think>",
        "<details><summary>more</summary>",
        "a <b and c> d",
        "moonshotai/Kimi-K2-Instruct",
        "/mnt/models/path/kimi",
        "/opt/xpath/to",
        "0xffff",
        "--path-to-x",
        "maxxx",
        "cat <<EOF",
        "Vec<String>",
        "list<int>",
        "${MODEL:?set MODEL=<org/model>}",
        "10.0.0.1",
        "-xnack",
        "node0",
        "registry.example.com/vllm:latest",
        "<what is added to the list>",
    ],
)
def test_is_a_real_name(text: str) -> None:
    assert list(placeholders_in(text)) == []


def test_one_note_lists_them_with_their_lines() -> None:
    script = f'nic_name="xxxx"\nexport HF_HOME=/path/to/hf\nexport GLOO_SOCKET_IFNAME=$nic_name\n{SERVE} --host <ip>\n'
    assert notes(script) == ["to be filled in: <ip> (line 4), nic_name=xxxx (line 1), HF_HOME=/path/to/hf (line 2)"]


def test_a_word_for_an_address_is_no_address() -> None:
    script = f"{SERVE} --nnodes 2 --node-rank 0 --master-addr ip --master-port 端口"
    assert notes(script) == ["to be filled in: --master-addr ip (line 1), --master-port 端口 (line 1)"]
    assert not notes(f"{SERVE} --nnodes 2 --node-rank 0 --master-addr node0 --master-port 29500")


@pytest.mark.parametrize("address", ["MASTER_IP:5000", "node0_ip:5000", "HEAD_NODE_IP", "ip:port", "MASTER_ADDR:PORT"])
def test_addresses_to_fill_in(address: str) -> None:
    sglang = "sglang serve --model-path moonshotai/Kimi-K2-Instruct --tp-size 16 --nnodes 2 --node-rank 0"
    assert notes(f"{sglang} --dist-init-addr {address}") == [f"to be filled in: --dist-init-addr {address} (line 1)"]
    assert not notes(f"{sglang} --dist-init-addr head:5000")
    assert not notes(f"{sglang} --dist-init-addr sglang_prefill:5000")


def test_an_image_has_no_capitals() -> None:
    assert notes(f"docker run --gpus all REGISTRY/vllm:TAG {SERVE}") == ["to be filled in: REGISTRY/vllm:TAG (line 1)"]
    assert not notes(f"docker run --gpus all $IMAGE {SERVE}")


def test_directives_mounts_and_defaults_belong_to_it() -> None:
    script = (
        "#SBATCH --account=<account>\nMODEL=${1:-YOUR_MODEL_PATH}\n"
        "docker run -v /path/to/models:/models img vllm serve $MODEL -tp 16"
    )
    (note,) = notes(script)
    assert "<account> (line 1)" in note
    assert "YOUR_MODEL_PATH (lines 2, 3)" in note
    assert "/path/to/models:/models (line 3)" in note


def test_a_manifest_with_its_secret() -> None:
    (note,) = notes(MANIFEST, "k2.yaml")
    assert [text.split(" (")[0] for text in note.removeprefix("to be filled in: ").split("), ")] == [
        "<YOUR_HF_TOKEN>",
        "<NETWORK_NAME>",
        "your-registry/vllm:latest",
        "/path/to/models",
    ]


def test_a_compose_file() -> None:
    compose = """
services:
  k2:
    image: vllm/vllm-openai:${TAG:-v0.32.0}
    environment:
      - HF_TOKEN=${HF_TOKEN:?set HF_TOKEN=<your token>}
      - NCCL_SOCKET_IFNAME=<interface>
    volumes:
      - ${MODEL_DIR:-/path/to/models}:/models
    command: --model /models/Kimi-K2-Instruct -tp 16
"""
    (note,) = notes(compose, "compose.yaml")
    assert "NCCL_SOCKET_IFNAME=<interface> (line 7)" in note
    assert "/path/to/models (line 9)" in note
    assert "token" not in note


def test_a_file_of_variables_beside_it() -> None:
    unit = f"[Service]\nEnvironmentFile=/etc/k2.env\nExecStart=/usr/bin/env {SERVE}\n"
    files = [("k2.service", unit), ("k2.env", "HF_TOKEN=<token>\nPORT=8000\n")]
    found = [finding.message for each in judge(read_files(files), Question()) for finding in each.findings]
    assert "to be filled in: HF_TOKEN=<token> (k2.env line 1)" in found


def test_quiet_in_the_documentation_of_a_program() -> None:
    program = f'"""Starts a server.\n\nUsage::\n\n    {SERVE} --host <ip>\n"""\n\nimport sys\n'
    assert not notes(program, "serve.py")


def test_a_router_has_them_too() -> None:
    assert notes("python -m sglang_router.launch_router --worker-urls http://<NODE1_IP>:30000 --port 8000")


@pytest.mark.parametrize(
    "script",
    [
        f'usage() {{ echo "Usage: $0 <model> <port>"; }}\n{SERVE}',
        f'die "MODEL=<path> is missing"\n# MODEL=<path> ./run.sh\n{SERVE}',
        f"cat >&2 <<EOF\n  VOLUME=<volume-id> $0\nEOF\n{SERVE}",
        f"DIR=$(mktemp -d /tmp/moon.XXXX)\n{SERVE}",
        f"{SERVE}\ncurl http://<server>:8000/v1/models",
        f"export MODEL_DIR=$MODEL_ROOT\n{SERVE} --download-dir $MODEL_DIR",
    ],
)
def test_quiet(script: str) -> None:
    assert not notes(script)


@pytest.mark.parametrize("note", ["按并发设，别留空！", "任意 值（必填）", "значение — сюда"])
def test_a_note_in_another_script_is_to_be_filled_in(note: str) -> None:
    text = f"vllm serve moonshotai/Kimi-K2.5 --max-num-seqs <{note}> \\\n  --host 0.0.0.0 -tp 8\n"
    (judged,) = judge(read_files([("run.sh", text)]), Question())
    assert not [finding for finding in judged.findings if finding.severity.value == "error"]
    assert judged.layout is not None
    assert judged.layout.tp == 8
