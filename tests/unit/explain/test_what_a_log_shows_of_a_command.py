"""What a log or a sentence of the text shows of a command: its options were read, its cache was made, it answers."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask, ask_one, found, refused

SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp-size 8 --trust-remote-code"
SCHEDULER = "[2026-08-22 22:55:40 TP0 EP0] Scheduler hit an exception: Traceback (most recent call last):"
LEGACY = (
    "python3 ktransformers/server/main.py --model_path deepseek-ai/DeepSeek-R1 --gguf_path /m/DeepSeek-R1-Q4_K_M/ "
    "--cpu_infer 72 --total_context 32768"
)


def only(text: str, words: str) -> Finding:
    (finding,) = found(text, words)
    return finding


@pytest.mark.parametrize(
    ("command", "words", "log"),
    [
        (f"{SGLANG} --enable-what-no-release-has", "--enable-what-no-release-has", SCHEDULER),
        (LEGACY, "--total_context", "loading blk.0.attn_q_a_norm.weight to cuda:0"),
        (f"{SGLANG} --model-loader-extra-config " + '{"num_threads":8,"a":true}', "its quotes away", SCHEDULER),
    ],
)
def test_what_was_read_is_no_error(command: str, words: str, log: str) -> None:
    assert only(command, words).severity is not Severity.NOTE
    assert only(f"{command}\n\n{log}", words).severity is Severity.NOTE
    refusal = f"{command}\n\nlaunch_server.py: error: unrecognized arguments: --x\n{log}"
    assert any(each.severity is not Severity.NOTE for each in found(refusal, words))


def test_the_release_of_a_llama_server_that_had_begun() -> None:
    command = "llama-server -m Kimi-K2-Instruct-Q4_K_M.gguf --no-direct-io"
    (alone,), (logged,) = ask(command), ask(f"{command}\nmain: n_parallel is set to auto, using n_parallel = 4")
    assert alone.version != logged.version
    assert [each.severity for each in alone.findings if each.where == "--no-direct-io"] == [Severity.WARNING]
    assert [each.severity for each in logged.findings if each.where == "--no-direct-io"] == [Severity.NOTE]


def test_a_cache_that_is_logged_is_not_computed() -> None:
    command = "vllm serve Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 -dp 8 --enable-expert-parallel"
    log = (
        "ValueError: To serve at least one request with the models's max seq len (262144), (62.00 GiB KV cache is "
        "needed, which is larger than the available KV cache memory (48.66 GiB)."
    )
    assert [each for each in ask_one(command, "8xH20").findings if "leave at most" in each.message]
    assert not [each for each in ask_one(f"{command}\n\n{log}", "8xH20").findings if "leave at most" in each.message]


def test_a_text_that_tells_of_answers_has_a_command_that_starts() -> None:
    command = "vllm serve nvidia/Kimi-K2.5-NVFP4 -O3"
    assert only(command, "one device gets all").severity is Severity.WARNING
    assert only(f"{command}\n\nLong prompts come back as noise.", "one device gets all").severity is Severity.NOTE


def test_options_of_a_fork_by_its_variables() -> None:
    command = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --swap-space 0"
    assert only(command, "--swap-space").severity is Severity.WARNING
    told = only(f"LVLLM_MOE_NUMA_ENABLED=1 {command}", "--swap-space")
    assert told.severity is Severity.NOTE
    assert "may be made of one of those" in told.message


def test_keys_of_an_image_of_somebodys_own() -> None:
    run = "docker run --gpus all --ipc host {image} vllm serve moonshotai/Kimi-K2.6 -tp 8 --speculative-config "
    key = """'{"model": "m", "method": "eagle3", "num_speculative_tokens": 3, "draft_of_the_future": 1}'"""
    image = "vllm/vllm-openai:v0.19.1"
    assert any(refused(judged) for judged in ask(run.format(image=image) + key))
    (own,) = found(run.format(image="somebody/vllm:cu130-20260423") + key, "draft_of_the_future")
    assert own.severity is Severity.NOTE


def test_a_known_fault_beside_a_text_that_says_it_runs() -> None:
    command = (
        "vllm serve vllm-ascend/DeepSeek-V3.1-W8A8 --quantization ascend --tensor-parallel-size 16 "
        "--gpu-memory-utilization 0.95"
    )
    told = only(f"vllm-ascend v0.11.0rc1:\n\n{command}", "107030")
    assert told.severity is Severity.WARNING
    assert only(f"vllm-ascend v0.11.0rc1, tested ok:\n\n{command}", "107030").severity is Severity.NOTE
