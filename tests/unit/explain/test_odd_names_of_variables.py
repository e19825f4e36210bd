"""Names that no shell takes for variables, as images and manifests may have them."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

ODD = ["A_[[[[", "VLLM_USE_V1[[[", "NCCL_(x", "HF_HUB_*+", "SGLANG_{2", "A|B", "CUDA_VISIBLE_DEVICES?("]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("rest", ["", "echo ready\nexport OTHER=1\n"])
def test_of_a_container(name: str, rest: str) -> None:
    text = f"{rest}docker run -e '{name}=1' vllm/vllm-openai:v0.33.0 --model moonshotai/Kimi-K2-Thinking -tp 8\n"
    assert [judged.engine for judged in ask(text)] == ["vllm"]


@pytest.mark.parametrize("name", ODD)
def test_of_a_manifest(name: str) -> None:
    text = (
        "kind: Pod\nspec:\n  containers:\n  - image: lmsysorg/sglang:v0.5.23\n    env:\n"
        f"    - {{name: '{name}', value: '1'}}\n"
        "    command: [python3, -m, sglang.launch_server, --model-path, moonshotai/Kimi-K2-Instruct, --tp, '16']\n"
    )
    assert [judged.engine for judged in ask(text)] == ["sglang"]
