"""Weights in GGUF that a container maps, against the memory that it may use."""

from __future__ import annotations

import pytest

from moonpad.catalog.looked_up_files import looked_up_file
from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question

POD = """apiVersion: v1
kind: Pod
metadata: {{name: k2}}
spec:
  containers:
  - name: k2
    image: ghcr.io/ggml-org/llama.cpp:server-cuda
    command: ["/bin/sh", "-c"]
    args:
    - |
      FILE=$(find /models/unsloth/Kimi-K2-Instruct-GGUF -name "*UD-Q2_K_XL*00001*.gguf" | sort | head -1)
      /app/llama-server -m "$FILE" -ngl 99 {options} -c 8192
    resources:
      limits:
        nvidia.com/gpu: {devices}
        memory: {memory}
"""


def is_told(options: str, memory: str, devices: int = 1) -> bool:
    text = POD.format(options=options, memory=memory, devices=devices)
    found = [each for judged in judge(read_files([("k2.yaml", text)]), Question()) for each in judged.findings]
    return any("leaves the container" in each.message for each in found)


@pytest.mark.parametrize(
    ("options", "memory", "devices", "expected"),
    [
        ("-ot '.ffn_.*_exps.=CPU'", "128Gi", 1, True),
        ("--cpu-moe", "256Gi", 1, True),
        ("-ot exps=CPU", "400Gi", 1, False),
        # A third of the experts may lie on the device.
        ("-ot '.ffn_(up)_exps.=CPU'", "128Gi", 1, False),
        ("", "48Gi", 1, True),
        ("", "48Gi", 8, False),
    ],
)
def test_limit_of_a_pod(options: str, memory: str, devices: int, *, expected: bool) -> None:
    assert is_told(options, memory, devices) is expected


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("$(find /m/unsloth/Kimi-K2-Instruct-GGUF -name '*UD-Q2_K_XL*.gguf' | head -1)", "Kimi-K2-Instruct-UD-Q2_K_XL"),
        ('$(find /m -iname "Kimi-K2-Thinking-Q4_K_M-00001*.gguf" -print -quit)', "Kimi-K2-Thinking-Q4_K_M"),
        ("$(ls -1 /m/Kimi-K2.5-GGUF/*Q8_0*00001*.gguf | head -n1)", "Kimi-K2.5-Q8_0"),
        ("$(find /m/Kimi-K2.5-GGUF/UD-IQ1_S -name '*00001-of-*.gguf' | head -1)", "Kimi-K2.5-UD-IQ1_S"),
        # Neither type nor checkpoint is said.
        ("$(find /m/Kimi-K2.5-GGUF -name '*.gguf' | head -1)", ""),
        ("$(find /m -name '*Q4_K_M*.gguf' | head -1)", ""),
        ("$(cat model.txt)", ""),
    ],
)
def test_file_that_a_script_looks_up(written: str, name: str) -> None:
    assert looked_up_file(written) == name


UNNAMED = """apiVersion: v1
kind: Pod
metadata:
  name: kimi-k2
  annotations: {{about: "Kimi K2 by {about}"}}
spec:
  containers:
  - name: server
    image: ghcr.io/ggml-org/llama.cpp:server-cuda
    command: ["/bin/sh", "-c"]
    args:
    - |
      FILE=$(find /models/$REPO -name "*$QUANT*00001*.gguf" | head -1)
      /app/llama-server -m "$FILE" -ngl 99 -c 8192
    resources:
      limits:
        # {device}
        nvidia.com/gpu: 1
        memory: {memory}
"""


@pytest.mark.parametrize(
    ("about", "device", "memory", "expected"),
    [
        ("llama.cpp", "Tesla T4: 16GB VRAM", "128Gi", True),
        ("llama.cpp", "RTX 4090 24GB", "128Gi", True),
        ("llama.cpp", "RTX 4090 24GB", "256Gi", False),
        ("llama.cpp", "what the node has", "128Gi", False),
        ("llama.cpp, or Qwen3", "Tesla T4: 16GB VRAM", "128Gi", False),
        ("llama.cpp, a REAP of it", "Tesla T4: 16GB VRAM", "128Gi", False),
    ],
)
def test_a_file_of_the_fewest_bits_where_the_text_names_the_model(
    about: str, device: str, memory: str, *, expected: bool
) -> None:
    text = UNNAMED.format(about=about, device=device, memory=memory)
    found = [each for judged in judge(read_files([("k2.yaml", text)]), Question()) for each in judged.findings]
    assert any("at the least (1.53 bits a weight)" in each.message for each in found) is expected
