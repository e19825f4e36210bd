"""What was said of a file that another file, or another build, is to be told of."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one


def told(text: str, words: str) -> bool:
    return any(words in each.message for judged in ask(text) for each in judged.findings)


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ('# A very long chat could end it (the\n# journal shows "CUDA error: out of memory")\n', False),
        ('# It could be faster.\n# It failed with "CUDA error: out of memory"\n', True),
    ],
)
def test_failure_that_a_comment_only_thinks_of(comment: str, *, expected: bool) -> None:
    assert told(f"llama-server -m model-Q4_K_M.gguf -c 8192 -ngl 99\n{comment}", "memory is full") == expected


@pytest.mark.parametrize(
    ("method", "severity"),
    [("k3_w1", None), ("compressed-tensors", Severity.ERROR)],
)
def test_weights_of_a_build_of_ones_own(method: str, severity: Severity | None) -> None:
    text = f"vllm serve /models/Kimi-K3 --quantization {method} --tensor-parallel-size 4 --max-model-len 8192"
    judged = ask_one(text, on="4x1xGB10")
    found = [each.severity for each in judged.findings if each.code.value == "does-not-fit"]
    assert found == ([] if severity is None else [severity])


def test_method_of_no_release() -> None:
    text = "vllm serve /models/Kimi-K3-w1 --quantization k3_w1 --tensor-parallel-size 4"
    assert told(text, "no quantisation method k3_w1, unless it is somebody's own build")


@pytest.mark.parametrize(
    ("share", "severity"),
    [("0.8", None), ("0.92", Severity.WARNING), ("0.98", Severity.ERROR)],
)
def test_share_of_memory_that_is_the_hosts_own(share: str, severity: Severity | None) -> None:
    text = f"vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --gpu-memory-utilization {share} --max-model-len 8192"
    found = [each.severity for each in ask_one(text, on="1xGB10").findings if "free at the start" in each.message]
    assert found == ([] if severity is None else [severity])


@pytest.mark.parametrize(
    ("above", "below", "expected"),
    [
        ("", "docker run -it --rm dustynv/vllm:0.6.6.post1-r36.4.0\n", False),
        ("pip install vllm==0.6.6.post1\n", "", True),
        ("docker pull vllm/vllm-openai:v0.6.6.post1\n", "", True),
    ],
)
def test_image_below_a_model_that_it_cannot_serve(above: str, below: str, *, expected: bool) -> None:
    text = f"{above}vllm serve google/gemma-3-4b-it --host 127.0.0.1\n\n{below}"
    assert told(text, "has no class for") == expected


def test_method_that_older_releases_have() -> None:
    text = "vllm serve google/gemma-3-12b-it --quantization bitsandbytes"
    assert told(text, "no quantisation method bitsandbytes; 0.10.0 to 0.27.1 have it")
    assert not told(f"pip install vllm==0.30.0\n{text}", "have it")


def test_image_that_is_built_is_not_started_by_hand() -> None:
    image = "ghcr.io/ggml-org/llama.cpp:server-cuda"
    text = (
        f"# docker run -d --gpus all -p 8080:8080 registry.example/own:latest\nFROM {image}\n"
        'CMD ["--model", "/models/one-Q4_K_M.gguf", "--host", "127.0.0.1", "--ctx-size", "8192"]\n'
    )
    assert not told(text, "gets no GPU")
    assert told(f"docker run -v ~/m:/m {image} --model /m/one.gguf -ngl 99", "gets no GPU")


@pytest.mark.parametrize(("other", "expected"), [("vllm serve Qwen/Qwen3-0.6B\n", False), ("", True)])
def test_metrics_of_another_server_of_the_text(other: str, *, expected: bool) -> None:
    text = (
        f"{other}python -m sglang.launch_server --model-path Qwen/Qwen3-0.6B --port 8000\n\n"
        "# scrape_configs:\n#   - job_name: serving\n#     static_configs:\n#       - targets: ['localhost:8000']\n"
    )
    assert told(text, "Prometheus asks for /metrics") == expected


def test_name_that_gets_a_value() -> None:
    assert not ask('{ apps = { llama-server = ap pkgs.llama-cpp "llama-server" "Run llama-server"; }; }\n')


@pytest.mark.parametrize(
    ("exported", "severity"),
    [
        ("VLLM_USE_OWN_MOE=1 VLLM_USE_OWN_INDEXER=1 VLLM_OWN_GRAPHS=1", Severity.WARNING),
        ("VLLM_USE_OWN_MOE=1 VLLM_LOGGING_LEVEL=INFO VLLM_HOST_IP=10.0.0.1", Severity.ERROR),
    ],
)
def test_build_that_reads_variables_of_its_own(exported: str, severity: Severity) -> None:
    text = f"export {exported}\nvllm serve MiniMaxAI/MiniMax-M2 --tensor-parallel-size 3 --max-model-len 8192\n"
    found = [each.severity for judged in ask(text) for each in judged.findings if "shared out evenly" in each.message]
    assert found == [severity]


@pytest.mark.parametrize(("switch", "expected"), [("=${experts}", False), ("", True)])
def test_switch_that_something_else_turns_on(switch: str, *, expected: bool) -> None:
    text = f"vllm serve meta-llama/Llama-3.1-8B-Instruct --enable-expert-parallel{switch}"
    assert told(text, "the model has no experts") == expected
