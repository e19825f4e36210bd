"""Two messages of one fault are one."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

LLAMA = "llama-server -m Kimi-K2-Thinking-UD-Q2_K_XL-00001-of-00008.gguf -ngl 99 -c 32768\n\n"
BUFFERS = """\
ggml_backend_cuda_buffer_type_alloc_buffer: allocating 81000.00 MiB on device 0: cudaMalloc failed: out of memory
alloc_tensor_range: failed to allocate CUDA0 buffer of size 84934656000
llama_model_load: error loading model: unable to allocate CUDA0 buffer
llama_model_load_from_file_impl: failed to load model
"""
FULL = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 168 MiB. GPU 3 has a total capacity of 79.11 GiB"
VLLM = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code\n\n"
SHARDS = "Loading safetensors checkpoint shards: {:3}% Completed | {}/62 [00:30<00:40,  1.1it/s]\n"
LOADING = "out of memory while the weights were loaded"


def stops(text: str) -> list[str]:
    return [each.message for one in ask(text) for each in one.findings if "stopped" in each.message]


@pytest.mark.parametrize("command", ["", LLAMA])
def test_memory_that_ran_out_is_told_once(command: str) -> None:
    assert len(stops(command + BUFFERS)) == 1


def test_two_causes_are_two() -> None:
    other = "main: error: unknown argument: --not-there\n"
    assert len(stops(LLAMA + BUFFERS + other)) == 2


@pytest.mark.parametrize(
    ("log", "loading"),
    [
        (SHARDS.format(40, 25), True),
        (SHARDS.format(0, 0) + SHARDS.format(3, 2), True),
        (SHARDS.format(100, 62), False),
        (SHARDS.format(40, 25) + "INFO 11-10 10:00:00 Model loading took 70.9 GiB and 90 seconds\n", False),
        ("[2025-11-10 10:00:00 TP0] Load weight begin. avail mem=78.50 GB\n", True),
    ],
)
def test_memory_ran_out_while_the_weights_were_loaded(log: str, loading: bool) -> None:
    (said,) = stops(VLLM + log + FULL + " of which 12.00 MiB is free.\n")
    assert (LOADING in said) is loading


@pytest.mark.parametrize(
    ("log", "engine"),
    [
        ("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`.\n", "vllm"),
        (
            "Load weight end. type=DeepseekV3ForCausalLM, avail mem=2.10 GB\n"
            "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n",
            "sglang",
        ),
    ],
)
def test_a_log_alone_names_its_engine(log: str, engine: str) -> None:
    (judged,) = ask(log)
    assert judged.engine == engine
    assert len(stops(log)) == 1
    assert not [each for each in judged.findings if "lower --gpu-memory" in each.remedy]


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ("{}", ["is, nor the decode side"]),
        ('{"prefill": {"dp_size": 1, "tp_size": 16}}', ["decode side is"]),
        ('{"decode": {"dp_size": 1, "tp_size": 16}}', ["prefill side is"]),
        ('{"prefill": {"dp_size": 1, "tp_size": 16}, "decode": {"dp_size": 1, "tp_size": 16}}', []),
    ],
)
def test_sizes_of_both_sides_are_one_fault(extra: str, said: list[str]) -> None:
    config = f'{{"kv_connector": "MooncakeConnectorV1", "kv_connector_extra_config": {extra}}}'
    text = "# vLLM-Ascend 0.18.0rc1, 16x Ascend 910C\nvllm serve moonshotai/Kimi-K2-Thinking -tp 16 "
    messages = [each.message for each in ask(f"{text}--kv-transfer-config '{config}'\n")[0].findings]
    found = [each for each in messages if "does not say how large" in each]
    assert [words in each for words, each in zip(said, found, strict=True)] == [True] * len(said)


def test_a_needless_option_that_was_refused_before_is_told_once() -> None:
    text = "You need vLLM 0.19.0 or later.\n\nvllm serve moonshotai/Kimi-K2-Thinking -tp 8 --disable-log-requests\n"
    (judged,) = ask(text)
    said = [each.message for each in judged.findings if each.where == "--disable-log-requests"]
    assert len(said) == 1
    assert "0.19.0" in said[0]
