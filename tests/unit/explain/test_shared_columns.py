"""Shared experts in FP8 blocks over the ranks, and what stands around the servers of llama.cpp."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVER = "python -m sglang.launch_server --model-path "


def told(text: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.remedy for finding in findings if "the shared expert" in finding.message]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("Step-3.5-Flash-FP8 --tp-size 4 --ep-size 4 --quantization fp8", "write --tp-size 2"),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct-FP8 --tp-size 8 --ep-size 8", "write --tp-size 4"),
    ],
)
def test_a_shared_expert(text: str, remedy: str) -> None:
    (only,) = told(SERVER + text)
    assert only.startswith(remedy)


@pytest.mark.parametrize(
    "text",
    [
        "Qwen/Qwen3-Next-80B-A3B-Instruct-FP8 --tp-size 4 --ep-size 4",
        "Qwen/Qwen3-Next-80B-A3B-Instruct-FP8 --tp-size 8 --ep-size 8 --moe-a2a-backend deepep",
        "Qwen/Qwen3-Next-80B-A3B-Instruct-FP8 --tp-size 8",  # the routed experts are told of
        "Qwen/Qwen3-Next-80B-A3B-Instruct --tp-size 8 --ep-size 8",
        "Step-3.5-Flash-FP8",
        "$MODEL --tp-size 8 --ep-size 8",
    ],
)
def test_no_shared_expert(text: str) -> None:
    assert told(SERVER + text) == []


def messages(text: str) -> list[str]:
    return [f"{finding.message} {finding.remedy}" for judged in ask(text) for finding in judged.findings]


@pytest.mark.parametrize(
    ("option", "mode"),
    [("--no-mmap", "none"), ("--mmap", "mmap"), ("--mlock", "mlock"), ("--direct-io", "dio")],
)
def test_a_load_mode(option: str, mode: str) -> None:
    (only,) = [each for each in messages(f"llama-server -m a.gguf {option}") if option in each]
    assert f"--load-mode {mode}" in only
    assert "--no-mmproj" not in only


def test_the_image_of_all_tools() -> None:
    image = "docker run ghcr.io/ggml-org/llama.cpp:full-cuda13 "
    assert not any("--server" in each for each in messages(image + "--server -m /m/a.gguf --port 8080"))
    assert any("--servers" in each for each in messages(image + "--servers -m /m/a.gguf --port 8080"))


@pytest.mark.parametrize(("url", "count"), [("tcp://PIP:PORT", 1), ("tcp://10.0.0.7:8999", 0), ("tcp://$PIP:$PORT", 0)])
def test_an_address_to_fill_in(url: str, count: int) -> None:
    text = f'export ASCEND_MF_STORE_URL="{url}"\n{SERVER}/models/Qwen3-8B --device npu --disaggregation-mode prefill\n'
    assert sum("to be filled in" in each for each in messages(text)) == count


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("llama-server Qwen3-14B-Q5_K_M.gguf", "write --model Qwen3-14B-Q5_K_M.gguf"),
        ("llama-server -m My Model.gguf --port 8080", "leave it out"),
        ("llama-server -hf a/b-GGUF:Q4_K_M stray --port 1", "neither an option"),
    ],
)
def test_a_word_beside_the_options(text: str, part: str) -> None:
    (only,) = [each for each in messages(text) if "takes no such argument" in each]
    assert part in only


@pytest.mark.parametrize(
    "text",
    [
        "llama-server -m a.gguf $EXTRA",
        "llama-server -m a.gguf --option-of-a-fork 3 --port 1",
        "llama-cli a.gguf -p hi -m b.gguf",
        "llama-server -m a.gguf -fa on -ctk q8_0",
    ],
)
def test_no_word_beside_the_options(text: str) -> None:
    assert not any("takes no such argument" in each for each in messages(text))


def test_a_switch_of_before_in_a_chat_program() -> None:
    told = messages("llama-cli -ngl 99 -fa -ctv q8_0 -ctk q8_0 -m /m/a.gguf")
    assert any("write -fa on" in each for each in told)
    assert not any("-ctv needs" in each for each in told)
