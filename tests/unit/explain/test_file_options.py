"""Settings in the place of a file, a file under another name, and servers without a model."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

TRT = "trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 --ep_size 8"
WRITES = "cat > extra.yaml <<EOF\nenable_attention_dp: true\nEOF\n"
MPI = "mpirun -n 16 {}trtllm-serve nvidia/Kimi-K2-Thinking-NVFP4 --tp_size {} --trust_remote_code"


def told(text: str, words: str) -> bool:
    return any(words in finding.message for judged in ask("#!/bin/bash\n" + text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"""{TRT} --extra_llm_api_options '{{"enable_attention_dp": true}}'""", True),
        (f"{TRT} --extra_llm_api_options 'enable_attention_dp: true'", True),
        (f"{TRT} --extra_llm_api_options enable_attention_dp=true", True),
        (f"{TRT} --extra_llm_api_options /cfg/a=b.yaml", False),
        (f"{TRT} --extra_llm_api_options $CONFIG", False),
    ],
)
def test_settings_for_a_file(text: str, *, expected: bool) -> None:
    assert told(text, "is opened as a file") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{WRITES}{TRT} --extra_llm_api_options extra_config.yaml", True),
        (f"{WRITES}{TRT} --extra_llm_api_options extra.yaml", False),
        (f"{WRITES}mv extra.yaml extra_config.yaml\n{TRT} --extra_llm_api_options extra_config.yaml", False),
        (f"{WRITES}{TRT} --extra_llm_api_options /mnt/extra_config.yaml", False),
    ],
)
def test_a_file_of_another_name(text: str, *, expected: bool) -> None:
    assert told(text, "which nothing reads") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("trtllm-serve --tp_size 8 --backend pytorch", True),
        ("python -m sglang.launch_server --tp 8", True),
        ("vllm serve --tensor-parallel-size 8", True),
        ("vllm serve --config vllm.yaml", False),
        ('python -m sglang.launch_server --tp 8 "$@"', False),
        ("python -m sglang.launch_server --help", False),
        ("python -m sglang.launch_server --tp 8 ...", False),
        (TRT, False),
    ],
)
def test_without_a_model(text: str, *, expected: bool) -> None:
    assert told(text, "no model is named") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MPI.format("", 16), True),
        (MPI.format("trtllm-llmapi-launch ", 16), False),
        (MPI.format("", 8), False),
    ],
)
def test_ranks_that_all_serve(text: str, *, expected: bool) -> None:
    assert told(text, "starts a server of its own") == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [("/models/DeepSeek-R1-Q4_K_M.gguf", True), ("unsloth/DeepSeek-R1-GGUF", True), ("deepseek-ai/DeepSeek-R1", False)],
)
def test_gguf(model: str, *, expected: bool) -> None:
    assert told(f"trtllm-serve {model} --tp_size 8", "GGUF weights are not read") == expected
