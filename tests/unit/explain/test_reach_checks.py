"""Servers that nobody reaches, and methods of quantisation that a release does not have."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Severity

SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --trust-remote-code --tp-size 16"
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: k2}}
spec:
  containers:
  - name: k2
    image: {image}
    command: [{command}]
    ports:
    - containerPort: 30000
"""


def warnings(text: str, words: str, name: str = "run.sh") -> list[str]:
    found = [finding for each in judge(read_files([(name, text)]), Question()) for finding in each.findings]
    return [each.message for each in found if each.severity is not Severity.NOTE and words in each.message]


def pod(command: str, image: str = "lmsysorg/sglang:v0.5.20") -> str:
    return POD.format(image=image, command=", ".join(f'"{word}"' for word in command.split()))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"docker run --gpus all -p 30000:30000 lmsysorg/sglang:v0.5.20 {SGLANG} --port 30000", "run.sh"),
        (f"{SGLANG} --disaggregation-mode prefill --nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:5000", "run.sh"),
        (pod(SGLANG), "k2.yaml"),
        (
            "docker run --gpus all -p 8000:8000 nvcr.io/nvidia/tensorrt-llm/release:1.1.0 "
            "trtllm-serve serve moonshotai/Kimi-K2-Instruct --tp_size 16",
            "run.sh",
        ),
    ],
)
def test_nobody_reaches_it(text: str, name: str) -> None:
    assert len(warnings(text, "by default: ", name)) == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"docker run -p 30000:30000 lmsysorg/sglang:v0.5.20 {SGLANG} --host 0.0.0.0", "run.sh"),
        (f"docker run --network host lmsysorg/sglang:v0.5.20 {SGLANG}", "run.sh"),
        ("docker run -p 8000:8000 vllm/vllm-openai:v0.32.0 --model moonshotai/Kimi-K2-Instruct -tp 16", "run.sh"),
        (f"{SGLANG} --disaggregation-mode prefill", "run.sh"),
        (f"{SGLANG} --nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:5000", "run.sh"),
        (f"docker run -p 30000:30000 lmsysorg/sglang:v0.5.20 {SGLANG} $EXTRA_ARGS", "run.sh"),
        (pod(f"{SGLANG} --host 0.0.0.0"), "k2.yaml"),
        (pod("vllm serve moonshotai/Kimi-K2-Instruct -tp 16", "vllm/vllm-openai:v0.32.0"), "k2.yaml"),
        ("docker run -p 8080:8080 ghcr.io/ggml-org/llama.cpp:server -m K2-Q2_K.gguf", "run.sh"),
        (SGLANG, "run.sh"),
    ],
)
def test_it_is_reached_or_nobody_says_that_it_must(text: str, name: str) -> None:
    assert not warnings(text, "by default: ", name)


def test_no_such_method() -> None:
    serve = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --quantization"
    assert warnings(f"{serve} int4", "no quantisation method int4")
    for given in ("fp8", "compressed-tensors", "$METHOD", "modelopt_fp4"):
        assert not warnings(f"{serve} {given}", "no quantisation method")
    assert not warnings(f"VLLM_PLUGINS=my_plugin {serve} mine", "no quantisation method")
    assert not warnings(f"# vllm-ascend\n{serve} ascend", "no quantisation method")


@pytest.mark.parametrize(
    ("line", "warned"),
    [
        ("pip install -e /opt/plugins/vllm_two_bit --no-deps", False),
        ('python3 -c "import vllm_two_bit"', False),
        ("pip install two-bit-quant==0.3", False),
        ("pip install transformers", True),
        ("# two_bit would be smaller", True),
    ],
)
def test_method_of_a_plugin_that_the_text_installs_is_a_note(line: str, *, warned: bool) -> None:
    text = f"{line}\nray start --head\nvllm serve /data/K3 -tp 4 --quantization two_bit"
    assert bool(warnings(text, "two_bit")) is warned
    found = [each for judged in judge(read_files([("run.sh", text)]), Question()) for each in judged.findings]
    assert any("two_bit" in each.message and each.severity is Severity.NOTE for each in found) is not warned


def test_whose_address_is_told_to_ray_alone_is_no_known_fault_of_its_start() -> None:
    text = """# Its own file: quotes within quotes break silently, and the import never ran in workers.
ray start --head --node-ip-address=10.0.0.9 --port=6379
vllm serve moonshotai/Kimi-K2.5 -tp 8 --distributed-executor-backend ray
"""
    (judged,) = judge(read_files([("run.sh", text)]), Question())
    found = [each for each in judged.remarks if "VLLM_HOST_IP" in each.finding.remedy]
    assert [each.finding.severity for each in found] == [Severity.NOTE]
    assert not any(each.complained for each in found)
