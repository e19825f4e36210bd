"""Tags of images, backslashes, bare names of models, side channels and ports of transfers."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

GUIDE = "# A\n\n```bash\nvllm serve a/b \\\n  --port 8001{end}\n```\n\nText.\n"
SGLANG = (
    "# A\n\n```bash\nsglang serve --model-path a/b{port}\n```\n\n```bash\ncurl http://localhost:8000/v1/models\n```\n"
)
PODS = """apiVersion: v1
kind: Pod
metadata: {{name: prefill}}
spec:
  containers:
  - name: main
    image: vllm/vllm-openai:v0.20.0
    command: ["sh", "-c"]
    args:
    - {program} a/b --kv-transfer-config '{{"kv_connector":"NixlConnector","kv_role":"kv_both"}}'
    env: [{{name: {name}, value: x}}]
"""
ASCEND = """vllm serve a/b -tp 8 --kv-transfer-config '{{"kv_connector":"MooncakeConnectorV1","kv_port":"{port}"}}'"""
WRITTEN = """echo {switch} "cuda_graph_config: {{}}\\npytorch_backend_config:\\n  a: true" > config.yml
trtllm-serve deepseek-ai/DeepSeek-V3 --tp_size 8 --config config.yml
"""


def told(text: str, words: str, on: str = "") -> list[Severity]:
    return [each.severity for one in ask(text, on) for each in one.findings if words in each.message]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("docker run lmsysorg/sglang:0.5.5 sglang serve --model-path a/b\n", "begin with a v"),
        ("docker run vllm/vllm-openai:0.20.0 a/b\n", "begin with a v"),
        ("services:\n  a:\n    image: vllm/vllm-openaiv0.10.0\n    command: vllm serve a/b\n", "no colon stands"),
        (GUIDE.format(end=" \\"), "a backslash ends the last line"),
        (GUIDE.format(end="\\"), "a backslash ends the last line"),
        (SGLANG.format(port=""), "listens on 30000, the engine's own"),
        (SGLANG.format(port=" --port 1").replace("localhost", "<node_ip>"), "goes to port 8000"),
        (PODS.format(program="vllm serve", name="A"), "VLLM_NIXL_SIDE_CHANNEL_HOST is not set"),
        ("LOG=\\$(mktemp)\nvllm serve a/b > $LOG\n", "a dollar and a bracket"),
    ],
)
def test_told(text: str, words: str) -> None:
    assert Severity.WARNING in told(text, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("docker run lmsysorg/sglang:v0.5.5 sglang serve --model-path a/b\n", "begin with a v"),
        ("docker run vllm/vllm-openai:nightly a/b\n", "begin with a v"),
        (GUIDE.format(end=""), "a backslash ends the last line"),
        ("vllm serve a/b \\\n  --port 1 \\\n", "a backslash ends the last line"),
        (SGLANG.format(port=" --port 8000"), "goes to port"),
        (SGLANG.format(port="\n# then ssh -L 8000:localhost:30000 host"), "goes to port"),
        (PODS.format(program="vllm serve", name="VLLM_NIXL_SIDE_CHANNEL_HOST"), "SIDE_CHANNEL_HOST is not set"),
        (PODS.format(program="python3 -m dynamo.vllm --model", name="A"), "SIDE_CHANNEL_HOST is not set"),
        ("cat > run.sh <<EOF\nLOG=\\$(mktemp)\nvllm serve a/b\nEOF\nvllm serve a/b\n", "a dollar and a bracket"),
    ],
)
def test_quiet(text: str, words: str) -> None:
    assert ask(text)
    assert not told(text, words)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("vllm serve Qwen3-VL-30B-A3B-Instruct", [Severity.NOTE]),
        ("vllm serve Qwen3-235B", [Severity.NOTE]),
        ("cd /models\nvllm serve Qwen3-VL-30B-A3B-Instruct", []),
        ("vllm serve ./Qwen3-VL-30B-A3B-Instruct", []),
        ("vllm serve Qwen/Qwen3-VL-30B-A3B-Instruct", []),
        ("vllm serve qwen3-local", []),
    ],
)
def test_bare_names(command: str, expected: list[Severity]) -> None:
    assert told(command, "without an owner") == expected


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("Qwen3/Qwen3-30B-A3B-Instruct-2507", "Qwen"),
        ("moonshoot/Kimi-K2-Instruct", "moonshotai"),
        ("unsloth/Qwen3-8B", ""),
        ("Qwen3/Qwen3-8B-mine", ""),
    ],
)
def test_owners(model: str, meant: str) -> None:
    found = [each.message for one in ask(f"vllm serve {model}") for each in one.findings if "owner" in each.message]
    assert [f"is {meant}," in message for message in found] == ([True] if meant else [])


@pytest.mark.parametrize(
    ("port", "on", "expected"), [(30000, "16xA3", 1), (36000, "16xA3", 0), (30000, "8x910B", 0), (27000, "8x910B", 1)]
)
def test_ports_that_mooncake_takes(port: int, on: str, expected: int) -> None:
    text = f"pip install vllm-ascend==0.14.0rc1\n{ASCEND.format(port=port)}\n"
    assert len(told(text, "takes ports at random", on)) == expected


def test_a_file_that_echo_writes() -> None:
    assert told(WRITTEN.format(switch="-e"), "pytorch_backend_config")
    assert not told(
        WRITTEN.format(switch="-e").replace("pytorch_backend_config", "moe_config"), "pytorch_backend_config"
    )
    assert not told(WRITTEN.format(switch=""), "no section pytorch_backend_config")  # one line, and no YAML


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--rm --restart unless-stopped", [Severity.ERROR]),  # podman says so too, run here
        ("--restart=always --rm", [Severity.ERROR]),
        ("--rm --restart no", []),
        ("--restart always", []),
        ("--rm", []),
    ],
)
def test_removed_and_restarted(options: str, expected: list[Severity]) -> None:
    text = f"docker run {options} --gpus all --ipc host vllm/vllm-openai:v0.20.0 a/b\n"
    assert told(text, "do not go together") == expected
