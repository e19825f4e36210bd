"""A plain clone has empty folders where a build looks for the sources of others."""

from __future__ import annotations

import pytest

from .judging import ask

OLD = "python -m ktransformers.server.main --model_path /m/DeepSeek-V3 --gguf_path /m/gguf --port 10002\n"
NEW = "python -m sglang.launch_server --model-path /m/DeepSeek-V3 --kt-weight-path /m/int8 --kt-method AMXINT8\n"
KT = "git clone https://github.com/kvcache-ai/ktransformers.git\ncd ktransformers\n"
GEMM = "git clone https://github.com/deepseek-ai/DeepGEMM\ncd DeepGEMM && ./install.sh\n"
VLLM = "vllm serve Qwen/Qwen3-8B\n"


def told(text: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.message for finding in findings if "has no submodules" in finding.message]


@pytest.mark.parametrize(
    "text",
    [
        f"{KT}pip install -e . --no-build-isolation\ncd ..\n{OLD}",
        f"{KT}cd kt-kernel && pip install .\n{NEW}",
        f"{KT}cd kt-kernel\n./install.sh\n{NEW}",
        f"FROM nvidia/cuda:12.8.0-devel\nRUN git clone -b main https://github.com/kvcache-ai/ktransformers && \\\n"
        f"    cd ktransformers/kt-kernel && \\\n    pip install .\nCMD {NEW}",
        f"{GEMM}{VLLM}",
    ],
    ids=["old server", "kernels", "script of the kernels", "image", "another repository"],
)
def test_a_build_from_a_plain_clone(text: str) -> None:
    (message,) = told(text)
    assert "stay empty" in message


@pytest.mark.parametrize(
    "text",
    [
        f"{KT}git submodule update --init --recursive\ncd kt-kernel && pip install .\n{NEW}",
        f"{KT.replace('clone', 'clone --recursive')}cd kt-kernel && pip install .\n{NEW}",
        f"{KT.replace('clone', 'clone --recurse-submodules')}pip install -e .\n{OLD}",
        f"{KT}pip install .\n{NEW}",
        f"{KT}./install.sh\ncd kt-kernel\n{NEW}",
        f"{KT}pip install kt-kernel sglang-kt\n{NEW}",
        f"git clone https://github.com/vllm-project/vllm\ncd vllm\npip install -e .\n{VLLM}",
    ],
    ids=["fetched", "recursive", "recurse", "package of names", "script that fetches", "wheels", "none needed"],
)
def test_clones_that_lack_nothing(text: str) -> None:
    assert told(text) == []
