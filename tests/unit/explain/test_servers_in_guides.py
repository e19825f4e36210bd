"""What is said of servers in guides and scripts of public repositories, and was not true of them."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.errors import UsageError
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

WORKER = "python3 -m dynamo.vllm --model Qwen/Qwen3-0.6B"
NIXL = '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'
OF_SEVERAL = (
    '{"kv_connector":"PdConnector","kv_role":"kv_both","kv_connector_extra_config":{"connectors":'
    '[{"kv_connector":"DynamoConnector","kv_role":"kv_both"},{"kv_connector":"NixlConnector","kv_role":"kv_both"}]}}'
)
MOONCAKE = '{"kv_connector":"MooncakeConnector","kv_role":"kv_both"}'


def judged(text: str) -> tuple[Judged, ...]:
    try:
        return ask(text)
    except UsageError:
        return ()


def messages(text: str) -> str:
    return "\n".join(finding.message for each in judged(text) for finding in each.findings)


def is_error(text: str, words: str) -> bool:
    found = [finding for each in judged(text) for finding in each.findings if words in finding.message]
    assert found
    return found[0].severity is Severity.ERROR


@pytest.mark.parametrize(("way", "expected"), [(OF_SEVERAL, False), (MOONCAKE, True), (NIXL, False)])
def test_connector_of_several_in_one_pool(way: str, *, expected: bool) -> None:
    text = (
        f"CUDA_VISIBLE_DEVICES=0 {WORKER} --disaggregation-mode decode --kv-transfer-config '{NIXL}' &\n"
        f"CUDA_VISIBLE_DEVICES=1 {WORKER} --disaggregation-mode prefill --kv-transfer-config '{way}'\n"
    )
    assert ("and decode receives by" in messages(text)) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("SGLang 0.5.9 rejected bare `fp8`; the image here takes it.", ""),
        ("SGLang 0.5.9 does not have this backend.", ""),
        ("SGLang 0.5.9 is in the image.", "0.5.9"),
    ],
)
def test_what_another_release_did(sentence: str, expected: str) -> None:
    text = f"""# Serve

{sentence}

```bash
python3 -m sglang.launch_server --model-path /models/one --tp 4
```
"""
    (server,) = judged(text)
    assert server.version == (expected or server.version)
    assert ("0.5.9" in server.version_because) == bool(expected)


def test_command_that_measures() -> None:
    """Its options are no server's, whatever stands between the interpreter and the script."""
    options = (
        "--model deepseek-ai/DeepSeek-V4 --port 8000 --backend openai --tp 8 --dataset-name random --num-prompts 9"
    )
    assert not judged(f"python3 -u benchmark_serving.py {options}\n# for vllm\n")
    assert not judged(f"docker run --rm --gpus all -v /m:/m registry.example/x:1 run-bench {options}\n")


def test_options_of_a_starter() -> None:
    text = "./start-vllm.sh --model Qwen/Qwen3-32B --tensor-parallel-size 4 --queue fast --task embed\n"
    told = messages(text)
    assert "--queue" not in told
    assert "--task" in told


@pytest.mark.parametrize(
    ("release", "expected"),
    [("1.0.2", False), ("1.6.1", True)],
)
def test_worker_without_a_role(release: str, *, expected: bool) -> None:
    """Older releases hand the prefill to the other worker by themselves."""
    text = f"""# nvcr.io/nvidia/ai-dynamo/vllm-runtime:{release}
python3 -m dynamo.frontend &
{WORKER} --kv-transfer-config '{NIXL}' &
{WORKER} --disaggregation-mode prefill --kv-transfer-config '{NIXL}'
"""
    assert ("registers for whole requests" in messages(text)) == expected


@pytest.mark.parametrize(("front", "expected"), [("--multimodal-encode-worker", False), ("--enable-multimodal", True)])
def test_worker_behind_the_one_that_encodes(front: str, *, expected: bool) -> None:
    text = f"""python3 -m dynamo.frontend &
python3 -m dynamo.sglang {front} --model-path Qwen/Qwen3-VL-8B &
python3 -m dynamo.sglang --multimodal-worker --model-path Qwen/Qwen3-VL-8B
"""
    assert ("the frontend has none to serve" in messages(text)) == expected


def test_stage_of_a_worker() -> None:
    """A module that is not known has options of its own."""
    told = messages("python3 -m dynamo.vllm.omni --model zai-org/GLM-Image --stage-id 0 --output-modalities image\n")
    assert "--stage-id" not in told
    assert "--output-modalities" not in told


@pytest.mark.parametrize(
    ("behind", "expected"),
    [("\\\n    vllm serve Qwen/Qwen3-8B --port 8001 &\n", False), ("\n", True), ("\\\nOMP_NUM_THREADS=4\n", True)],
)
def test_variables_of_a_command_on_the_next_line(behind: str, *, expected: bool) -> None:
    text = f"CUDA_VISIBLE_DEVICES=0 NCCL_DEBUG=INFO {behind}vllm serve Qwen/Qwen3-8B --port 8002\n"
    assert ("set without export" in messages(text)) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Measured: Qwen2.5-7B on an RTX 5090.", False),
        ("Measured: Llama-3.1-70B on RTX 5090.", True),
        ("All of this runs on RTX 5090.", True),
    ],
)
def test_devices_of_another_model(line: str, *, expected: bool) -> None:
    text = f"""# Guide

{line}

```bash
vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 4
```
"""
    assert is_error(text, "are at least 131 GiB") == expected


@pytest.mark.parametrize(
    ("comment", "expected"),
    [("recipe parity (GB200 decode)", ""), ("ported from the H200", ""), ("on GB200", "4xGB200")],
)
def test_machine_of_the_origin(comment: str, expected: str) -> None:
    text = f"# {comment}\nvllm serve Qwen/Qwen3-32B --tensor-parallel-size 4\n"
    (server,) = judged(text)
    assert (server.cluster.name if server.cluster else "") == expected


def test_picture_of_servers() -> None:
    assert not judged("```\nlaunchd\n  llama-server / embedding / speech → weights\n```\n")


def test_usage_with_brackets() -> None:
    assert "no such argument" not in messages("vllm serve Qwen/Qwen3-8B --port 8000 [--your-flags]\n")
    assert "no such argument" in messages("vllm serve Qwen/Qwen3-8B --port 8000 stray\n")


def test_adapter_that_a_request_loads() -> None:
    ask_for = '  -d \'{{"model": "{}", "messages": []}}\'\n'
    load = 'curl localhost:8000/v1/load_lora_adapter \\\n  -d \'{"lora_name": "mine", "lora_path": "/a"}\'\n'
    request = "curl localhost:8000/v1/chat/completions \\\n"
    server = "vllm serve Qwen/Qwen3-8B --port 8000\n"
    assert "answers 404" not in messages(server + load + request + ask_for.format("mine"))
    assert "answers 404" in messages(server + request + ask_for.format("mine"))


def test_two_sides_of_one_option() -> None:
    sides = (
        '--tensor-parallel-size 8 --kv-transfer-config \'{"kv_role":"kv_consumer"}\'  # decode\n'
        '--tensor-parallel-size 8 --kv-transfer-config \'{"kv_role":"kv_producer"}\'  # prefill\n'
    )
    assert "the last one counts" not in messages(f"Of each side:\n\n```bash\n{sides}```\n")


def test_format_of_the_memory_service() -> None:
    told = messages(f"{WORKER} --load-format gms\n")
    assert "no load format" not in told
    assert "no load format named gmz" in messages(f"{WORKER} --load-format gmz\n")
