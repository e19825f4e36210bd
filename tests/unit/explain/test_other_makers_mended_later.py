"""Faults of AMD's libraries and images are not told of commands that the text gives NVIDIA's devices."""

from __future__ import annotations

import pytest

from .judging import ask

FP8 = "vllm serve moonshotai/Kimi-K2.6 --trust-remote-code --tensor-parallel-size 8 --kv-cache-dtype fp8"
GUIDE = f"""\
# Kimi-K2.6

Images: `vllm/vllm-openai:latest`, for AMD `vllm/vllm-openai-rocm:nightly`.

## {{devices}}

```bash
{FP8}
```
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: kimi}}
spec:
  containers:
  - name: engine
    image: {image}
    command: [python3, -m, sglang.launch_server, --model-path, moonshotai/Kimi-K2-Instruct, --tp-size, "8",
              --trust-remote-code]
    resources: {{limits: {{{resource}: 8}}}}
"""


def told(text: str, version: str = "") -> list[str]:
    return [each.message for judged in ask(text, version=version) for each in judged.all_findings]


@pytest.mark.parametrize(("devices", "theirs"), [("8x B300", False), ("8x MI300X", True)])
def test_an_image_of_amd_in_the_text_is_not_that_of_nvidias_command(devices: str, theirs: bool) -> None:
    assert any("FP8 decode of MLA on ROCm" in each for each in told(GUIDE.format(devices=devices))) is theirs


@pytest.mark.parametrize(
    ("resource", "image", "may_be"),
    [
        ("nvidia.com/gpu", "registry.local/sglang:v0.5.5.post3", False),
        ("devices.local/gpu", "lmsysorg/sglang:v0.5.5.post3-cu129-amd64", False),
        ("devices.local/gpu", "registry.local/sglang:v0.5.5.post3", True),
    ],
)
def test_a_pod_says_whose_devices_it_gets(resource: str, image: str, may_be: bool) -> None:
    notes = told(POD.format(resource=resource, image=image), version="0.5.5.post3")
    assert any("aiter" in each.casefold() for each in notes) is may_be


@pytest.mark.parametrize(
    ("image", "warned"), [("vllm/vllm-openai-rocm:nightly", True), ("vllm/vllm-openai-rocm", False)]
)
def test_what_was_reported_of_an_image_is_said_of_what_is_offered(image: str, warned: bool) -> None:
    guide = GUIDE.format(devices="8x MI300X").replace("vllm/vllm-openai-rocm:nightly", image)
    (judged,) = ask(guide.replace(" --kv-cache-dtype fp8", ""))
    but = [finding.message for better in judged.better if "FP8 KV cache" in better.why for finding in better.but]
    assert any("FP8 KV cache" in better.why for better in judged.better)
    assert any("FP8 decode of MLA on ROCm" in message for message in but) is warned
