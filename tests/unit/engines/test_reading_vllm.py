"""What the published commands for vLLM say: those of the deployment guides and recipes for Kimi-K2."""

from __future__ import annotations

import shlex

import pytest

from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import parse
from moonpad.engines.base import NodeFlags, Reading
from moonpad.engines.vllm_read import PROGRAM, grammar
from moonpad.values.plan import Layout, Settings


def read(command: str, engine: str = "vllm", **env: str) -> Reading:
    return ENGINES[engine].read(shlex.split(command), env)


def test_the_recipe_for_thinking() -> None:
    reading = read(
        "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --decode-context-parallel-size 8 "
        "--enable-auto-tool-choice --tool-call-parser kimi_k2 --reasoning-parser kimi_k2 --trust-remote-code"
    )
    assert reading.model == "moonshotai/Kimi-K2-Thinking"
    assert reading.layout == Layout(tp=8, dcp=8)
    assert reading.settings == Settings()
    assert reading.serving.tool_parser == reading.serving.reasoning_parser == "kimi_k2"
    assert reading.serving.auto_tool_choice
    assert reading.serving.trust_remote_code
    assert reading.unknown == ()


def test_pipelines_with_short_forms_and_a_removed_flag() -> None:
    command = (
        "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code --tokenizer-mode auto --tensor-parallel-size 8 "
        "--pipeline-parallel-size 2 --dtype bfloat16 --quantization fp8 --max-model-len 2048 --max-num-seqs 1 "
        "--max-num-batched-tokens 1024 --enable-chunked-prefill --disable-log-requests --kv-cache-dtype fp8 -dcp 8"
    )
    reading = ENGINES["vllm"].read(shlex.split(command), {}, version="0.32.0")
    assert reading.layout == Layout(tp=8, pp=2, dcp=8)
    assert reading.settings == Settings(
        max_model_len=2048, max_num_seqs=1, max_num_batched_tokens=1024, kv_cache_dtype="fp8"
    )
    assert reading.unknown == ("--disable-log-requests",)  # and not what stands behind it
    assert read(command).unknown == ()  # 0.33.0 takes it again
    assert reading.extra["quantization"] == "fp8"


GUIDE = (
    "serve $MODEL_PATH {} --port 8000 --served-model-name kimi-k2 --trust-remote-code --data-parallel-size 16 "
    "--data-parallel-size-local 8 --data-parallel-address $MASTER_IP --data-parallel-rpc-port $PORT "
    "--enable-expert-parallel --max-num-batched-tokens 8192 --max-num-seqs 256 --gpu-memory-utilization 0.85 "
    "--enable-auto-tool-choice --tool-call-parser kimi_k2"
)


@pytest.mark.parametrize(
    ("more", "node"),
    [
        ("", NodeFlags(data_parallel_local=8, master="$MASTER_IP")),
        (
            "--headless --data-parallel-start-rank 8",
            NodeFlags(headless=True, data_parallel_local=8, start_rank=8, master="$MASTER_IP"),
        ),
    ],
)
def test_both_nodes_of_the_guide(more: str, node: NodeFlags) -> None:
    reading = read(GUIDE.format(more))
    assert reading.layout == Layout(dp=16, ep=16)
    assert reading.node == node
    assert reading.served_name == "kimi-k2"
    assert reading.serving.port == 8000
    assert reading.unknown == ()
    assert reading.settings == Settings(max_num_batched_tokens=8192, max_num_seqs=256, gpu_memory_utilization=0.85)


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        ("-tp 8", "tp", 8),
        ("-tp=8", "tp", 8),
        ("--tensor_parallel_size=8", "tp", 8),
        ("-pp 4", "pp", 4),
        ("-dp 2", "dp", 2),
        ("-tp many", "tp", 1),
        ("-tp 0", "tp", 1),
        ("-tp -3", "tp", 1),
        ("-tp 99999999999", "tp", 1),
        ("-tp $N", "tp", 1),
    ],
)
def test_layout(words: str, field: str, value: int) -> None:
    reading = read(f"vllm serve m {words}")
    assert getattr(reading.layout, field) == value
    assert reading.parsed is not None
    usable = value > 1 or "$" in words
    assert [occurrence.problem for occurrence in reading.parsed.occurrences] == [None if usable else "invalid-value"]


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("--max-model-len 32k", Settings(max_model_len=32_000)),
        ("--max-model-len 32K", Settings(max_model_len=32_768)),
        ("--max-model-len auto", Settings()),
        ("--max-model-len -1", Settings()),
        ("--gpu-memory-utilization 1.5", Settings()),
        ("--gpu-memory-utilization nan", Settings()),
        ("--no-enable-prefix-caching", Settings(prefix_caching=False)),
        ("--enable-prefix-caching", Settings(prefix_caching=True)),
        ("--no-enforce-eager", Settings()),
        ("--attention-backend FLASHMLA", Settings(attention_backend="FLASHMLA")),
        ("--enable-eplb --eplb-config.num_redundant_experts 32", Settings(redundant_experts=32)),
        ("""--enable-eplb --eplb-config '{"num_redundant_experts": 32}'""", Settings(redundant_experts=32)),
        ("""--eplb-config '{"num_redundant_experts": "many"}'""", Settings()),
        ("""--eplb-config '[]'""", Settings()),
        ("--num-redundant-experts 16", Settings(redundant_experts=16)),
    ],
)
def test_settings(words: str, settings: Settings) -> None:
    assert read(f"vllm serve m {words}").settings == settings


def test_from_the_environment() -> None:
    reading = read(
        "vllm serve m",
        VLLM_CPU_KVCACHE_SPACE="4",
        VLLM_API_KEY="sk-1",
        VLLM_ATTENTION_BACKEND="TRITON_MLA",
        VLLM_PP_LAYER_PARTITION="31,30",
    )
    assert reading.settings == Settings(kv_cache_gib=4, attention_backend="TRITON_MLA")
    assert reading.serving.keyed
    assert not reading.serving.key_in_argv
    assert reading.extra["pp_layer_partition"] == "31,30"
    for text in ("", "x", "-1", "0", "9" * 99):
        assert read("vllm serve m", VLLM_CPU_KVCACHE_SPACE=text).settings == Settings()


def test_a_key_where_everybody_sees_it() -> None:
    serving = read("vllm serve m --api-key sk-1").serving
    assert serving.keyed
    assert serving.key_in_argv


@pytest.mark.parametrize(
    "command",
    [
        "vllm serve a/b -tp 8",
        "/opt/venv/bin/vllm serve a/b -tp 8",
        "serve a/b -tp 8",
        "a/b -tp 8",
        "vllm serve --model a/b -tp 8",
        "python3 -m vllm.entrypoints.openai.api_server --model a/b -tp 8",
        "vllm serve -tp 8 a/b",
        "vllm serve --some-new-switch a/b -tp 8",
    ],
)
def test_where_the_model_stands(command: str) -> None:
    reading = read(command)
    assert (reading.model, reading.layout.tp) == ("a/b", 8)


def test_native_nodes() -> None:
    reading = read("vllm serve m -tp 16 --nnodes 2 --node-rank 1 --master-addr 10.0.0.1 --headless")
    assert reading.node == NodeFlags(nodes=2, node_rank=1, headless=True, master="10.0.0.1")


def test_what_is_served_beside_the_model() -> None:
    """The command of the study of Kimi-K2.6 on 8×H200, and flags that others add."""
    reading = read(
        "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --language-model-only --speculative-config "
        """'{"model":"lightseekorg/kimi-k2.6-eagle3-mla","method":"eagle3","num_speculative_tokens":3,"""
        """"max_model_len":8192}' --mm-encoder-tp-mode data --cpu-offload-gb 10.5 --kv-offloading-size 200 """
        "--enable-lora --max-loras 4 --max-lora-rank 32"
    )
    assert reading.settings == Settings(
        text_only=True,
        mm_encoder_tp_mode="data",
        draft_tokens=3,
        draft="lightseekorg/kimi-k2.6-eagle3-mla",
        max_loras=4,
        max_lora_rank=32,
        cpu_offload_gib=10.5,
        kv_offload_size=200,
    )
    assert reading.unknown == ()


@pytest.mark.parametrize(
    ("flags", "settings"),
    [
        ("--max-loras 4", Settings()),  # without --enable-lora there are none
        ("--enable-lora", Settings(max_loras=1)),
        ("--cpu-offload-gb 0", Settings()),
        ("--cpu-offload-gb nan --kv-offloading-size -3", Settings()),
        ("--speculative-config.method dflash --speculative-config.num_speculative_tokens 7", Settings()),
        ("--speculative-config.method ngram --speculative-config.num_speculative_tokens 7", Settings()),
        (
            "--speculative-config.method eagle3 --speculative-config.model 7 "
            "--speculative-config.num_speculative_tokens 2",
            Settings(draft_tokens=2),
        ),
    ],
)
def test_flags_that_say_less_than_they_seem_to(flags: str, settings: Settings) -> None:
    assert read(f"vllm serve moonshotai/Kimi-K2-Thinking {flags}").settings == settings


@pytest.mark.parametrize(
    ("version", "words", "problem"),
    [
        ("0.9.1", ("--compilation-config", "3"), None),  # there it is the level
        ("0.10.1", ("--compilation-config", "3"), "invalid-value"),
        ("0.10.1", ("-O", "3"), None),
        ("0.10.1", ("-O3",), None),
        ("0.32.0", ("-O", "3"), None),
        ("0.32.0", ("-cc", "3"), "invalid-value"),  # checked by the engine's own parser of this release
    ],
)
def test_a_number_in_place_of_an_object(version: str, words: tuple[str, ...], problem: str | None) -> None:
    parsed = parse(words, grammar(PROGRAM, version))
    assert [each.problem for each in parsed.occurrences] == [problem]


@pytest.mark.parametrize(
    ("words", "backend"),
    [("tokenspeed_mla", "TOKENSPEED_MLA"), ("FLASHMLA", "FLASHMLA"), ("auto", None), ("$BACKEND", "$BACKEND")],
)
def test_a_backend_is_the_same_in_small_letters(words: str, backend: str | None) -> None:
    reading = read(f"vllm serve moonshotai/Kimi-K2.6 --attention-backend '{words}'")
    assert reading.settings.attention_backend == backend
