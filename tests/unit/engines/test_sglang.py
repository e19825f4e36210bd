"""SGLang and KTransformers: whole command lines, the spellings of today and of 2025."""

from __future__ import annotations

import shlex

import pytest

from moonpad.engines import ENGINES
from moonpad.engines.base import NodeFlags, Reading, installed_runtime
from moonpad.engines.sglang_read import grammar
from moonpad.values.binding import Bindings, BoundProcess, bind
from moonpad.values.errors import PreflightRefused
from moonpad.values.plan import Layout, Plan, Platform, Serving, Settings
from moonpad.values.records import replace
from moonpad.values.references import PortRef
from moonpad.values.secret import Secret

PLAN = Plan(
    name="k2",
    engine="sglang",
    platform=Platform.CUDA,
    layout=Layout(tp=16),
    settings=Settings(),
    serving=Serving("kimi-k2", port=30000),
    weights_bytes=594_205_918_560,
    nodes=2,
    devices_per_node=8,
    scheme="int4",
)


def bound(plan: Plan) -> tuple[BoundProcess, ...]:
    deployment = ENGINES[plan.engine].processes(plan, installed_runtime("python"))
    nodes = {f"node-{rank}": rank for rank in range(plan.nodes)}
    return bind(
        deployment,
        Bindings(
            hosts={node: f"10.0.0.{rank}" for node, rank in nodes.items()},
            ports={PortRef("engine", "api"): 30000, PortRef("engine", "master"): 50000},
            ranks=nodes,
            paths={"checkpoint": "/m", "engine": "/e", "run": "/run"},
            secrets={"api_key": Secret("sk-1")},
        ),
    )


def read(command: str, engine: str = "sglang", **files: str) -> Reading:
    return ENGINES[engine].read(shlex.split(command), {}, files=files)


def test_two_nodes() -> None:
    """The options of Kimi-K2's own deployment guide, TP16 on two nodes of eight, in their long forms."""
    head, other = bound(PLAN)
    common = ("--tp-size", "16", "--dist-init-addr", "10.0.0.0:50000", "--nnodes", "2", "--node-rank")
    more = ("--enable-metrics", "--tool-call-parser", "kimi_k2", "--reasoning-parser", "kimi_k2")
    start = ("/e/bin/python", "-m", "sglang.launch_server", "--model-path", "/m", "--served-model-name", "kimi-k2")
    assert head.argv == (*start, "--host", "127.0.0.1", "--port", "30000", *common, "0", *more)
    assert other.argv == (*start, "--host", "127.0.0.1", *common, "1", *more)


def test_attention_data_parallel() -> None:
    plan = replace(PLAN, layout=Layout(tp=2, dp=8, ep=16), nodes=1)
    (process,) = bound(plan)
    assert process.argv[11:17] == ("--tp-size", "16", "--attn-dp-size", "8", "--ep-size", "16")


def test_a_key_is_read_from_a_file_of_mode_0600() -> None:
    """And it stays out of the log, where SGLang would write all its arguments at level INFO."""
    (process,) = bound(replace(PLAN, serving=replace(PLAN.serving, keyed=True), nodes=1))
    assert process.argv[3:7] == ("--config", "/run/sglang.yaml", "--log-level", "warning")
    assert process.files == (("sglang.yaml", "api-key: |2-\n  sk-1\n", 0o600),)
    assert "sk-1" not in " ".join(process.argv)
    assert process.secret_env == {}


def test_settings() -> None:
    settings = Settings(
        max_model_len=131_072,
        max_num_seqs=64,
        max_num_batched_tokens=8192,
        gpu_memory_utilization=0.85,
        kv_cache_dtype="fp8",
        prefix_caching=False,
        enforce_eager=True,
    )
    (process,) = bound(replace(PLAN, settings=settings, nodes=1))
    assert process.argv[13:-5] == (
        "--context-length", "131072", "--max-running-requests", "64", "--chunked-prefill-size", "8192",
        "--mem-fraction-static", "0.85", "--kv-cache-dtype", "fp8_e4m3", "--disable-radix-cache",
        "--cuda-graph-backend-decode", "disabled", "--cuda-graph-backend-prefill", "disabled",
    )  # fmt: skip


DECODE = (
    "python -m sglang.launch_server --model-path $MODEL_PATH --trust-remote-code --disaggregation-mode decode "
    "--dist-init-addr $DECODE_NODE0:5757 --tp-size 96 --dp-size 96 --enable-dp-attention --host $LOCAL_IP "
    "--decode-log-interval 1 --context-length 2176 --disable-radix-cache --enable-deepep-moe --moe-dense-tp-size 1 "
    "--enable-dp-lm-head --disable-shared-experts-fusion --watchdog-timeout 1000000 --enable-two-batch-overlap "
    "--deepep-mode low_latency --mem-fraction-static 0.8 --cuda-graph-bs 480 --max-running-requests 46080 "
    "--ep-num-redundant-experts 96 --nnodes 12 --node-rank $RANK --tool-call-parser kimi_k2"
)


def test_the_decode_nodes_of_the_guide() -> None:
    reading = read(DECODE)
    assert reading.layout == Layout(dp=96, ep=96)
    assert reading.attention_dp
    assert reading.replicas == 1
    assert reading.settings == Settings(
        max_model_len=2176,
        max_num_seqs=46_080,
        gpu_memory_utilization=0.8,
        prefix_caching=False,
        redundant_experts=96,
    )
    assert reading.node == NodeFlags(nodes=12, node_rank=None, master="$DECODE_NODE0:5757")
    assert reading.serving.trust_remote_code
    assert reading.serving.tool_parser == "kimi_k2"


@pytest.mark.parametrize(
    ("words", "layout", "replicas"),
    [
        ("--tp-size 16", Layout(tp=16), 1),
        ("--tensor-parallel-size 16 --ep 16", Layout(tp=16, ep=16), 1),
        ("--tp-size 16 --attn-dp-size 16 --ep-size 16", Layout(dp=16, ep=16), 1),
        ("--tp-size 16 --attn-dp-size 4", Layout(tp=4, dp=4), 1),
        ("--tp-size 16 --dp-size 4 --enable-dp-attention", Layout(tp=4, dp=4), 1),
        # Without attention DP `--dp-size` counts whole copies of the model, each of tp-size devices.
        ("--tp-size 8 --dp-size 2", Layout(tp=8), 2),
        ("--tp-size 16 --moe-a2a-backend deepep", Layout(tp=16, ep=16), 1),
        ("--tp-size 16 --moe-a2a-backend none --ep-size 4", Layout(tp=16, ep=4), 1),
        ("--tp-size 16 --enable-deepep-moe --ep-size 4", Layout(tp=16, ep=16), 1),
        ("--tp-size 16 --attn-dp-size 5", Layout(tp=16), 1),
        ("--tp-size 8 --pp-size 2 --dcp-size 8", Layout(tp=8, pp=2, dcp=8), 1),
        ("--tp-size x --attn-dp-size 0", Layout(), 1),
    ],
)
def test_layouts(words: str, layout: Layout, replicas: int) -> None:
    reading = read(f"python3 -m sglang.launch_server --model-path m {words}")
    assert (reading.layout, reading.replicas) == (layout, replicas)


def test_the_key_and_the_file() -> None:
    assert read("sglang serve --model-path m --api-key sk-1").serving.key_in_argv
    assert not read("sglang serve --model-path m --config a.yaml").serving.keyed
    assert read("sglang serve --model-path m --config a.yaml", **{"a.yaml": "api-key: sk-1\n"}).serving.keyed


def test_graphs_off_in_both_spellings() -> None:
    for words in ("--disable-cuda-graph", "--cuda-graph-backend-decode disabled --cuda-graph-backend-prefill disabled"):
        assert read(f"sglang serve --model-path m {words}").settings == Settings(enforce_eager=True)
    assert read("sglang serve --model-path m --cuda-graph-backend-decode disabled").settings == Settings()


KT = replace(PLAN, engine="ktransformers", layout=Layout(tp=2), nodes=1, host_cores=96, host_numa_nodes=2)


def test_ktransformers() -> None:
    """The command of its guide for K2-Thinking on two devices; RAWINT4 takes one folder for both kinds of experts."""
    (process,) = bound(replace(KT, settings=Settings(gpu_experts=8)))
    assert process.argv[-11:] == (
        "--kt-weight-path", "/m", "--kt-method", "RAWINT4", "--kt-cpuinfer", "96", "--kt-threadpool-count", "2",
        "--kt-num-gpu-experts", "8", "--disable-shared-experts-fusion",
    )  # fmt: skip
    (deployed,) = ENGINES["ktransformers"].processes(KT, installed_runtime("python")).processes
    assert deployed.needs.memory_bytes == PLAN.weights_bytes


@pytest.mark.parametrize("changes", [{"nodes": 2, "layout": Layout(tp=2)}, {"scheme": "gguf"}, {"scheme": "nvfp4"}])
def test_ktransformers_refuses(changes: dict[str, object]) -> None:
    with pytest.raises(PreflightRefused):
        bound(replace(KT, **changes))  # type: ignore[arg-type]


def test_the_guide_of_ktransformers() -> None:
    reading = read(
        "python -m sglang.launch_server --host 0.0.0.0 --port 30001 --model /m --kt-weight-path /m --kt-cpuinfer 96 "
        "--kt-threadpool-count 2 --kt-num-gpu-experts 8 --kt-method RAWINT4 --kt-gpu-prefill-token-threshold 400 "
        "--kt-max-deferred-experts-per-token 1 --trust-remote-code --mem-fraction-static 0.94 "
        "--served-model-name Kimi-K2-Thinking --tensor-parallel-size 2 --disable-shared-experts-fusion "
        "--chunked-prefill-size 65536 --attention-backend flashinfer",
        "ktransformers",
    )
    assert reading.model == "/m"
    assert reading.layout == Layout(tp=2)
    assert reading.settings == Settings(
        gpu_memory_utilization=0.94, max_num_batched_tokens=65_536, attention_backend="flashinfer", gpu_experts=8
    )
    assert reading.served_name == "Kimi-K2-Thinking"
    assert reading.extra["kt_method"] == "RAWINT4"


def test_kt_run() -> None:
    reading = read("kt run m2 --tp 2 --gpu-experts 4 -p 30001 --tool-call-parser kimi_k2", "ktransformers")
    assert reading.model == "MiniMaxAI/MiniMax-M2", "its short name"
    assert reading.layout == Layout(tp=2)
    assert reading.settings == Settings(gpu_experts=4)
    assert reading.serving.port == 30001
    assert reading.serving.tool_parser == "kimi_k2"
    assert reading.unknown == ()
    assert "gpu_experts" not in reading.extra


def test_the_server_that_is_gone() -> None:
    reading = read(
        "python ktransformers/server/main.py --model_path /path/to/K2 --gguf_path /path/to/K2 --cache_lens 30000",
        "ktransformers",
    )
    assert reading.model == "/path/to/K2"
    assert reading.settings == Settings(max_model_len=30_000, gpu_experts=0)
    assert reading.extra["gguf_path"] == "/path/to/K2"
    assert reading.unknown == ()


def test_a_grammar_is_made_once() -> None:
    assert grammar("sglang", None) is grammar("sglang", None)


@pytest.mark.parametrize(
    ("flags", "size", "ratio"),
    [
        ("--enable-hierarchical-cache", None, 2.0),  # its default
        ("--enable-hierarchical-cache --hicache-ratio 1.5", None, 1.5),
        ("--enable-hierarchical-cache --hicache-size 60", 60.0, None),
        ("--hicache-size 60 --hicache-ratio 1.5", None, None),  # without the switch there is none
    ],
)
def test_a_copy_of_the_kv_cache_in_host_ram(flags: str, size: float | None, ratio: float | None) -> None:
    settings = read(f"--model-path moonshotai/Kimi-K2-Thinking --tp-size 8 {flags}").settings
    assert (settings.kv_offload_size, settings.kv_offload_ratio) == (size, ratio)


@pytest.mark.parametrize(("algorithm", "tokens"), [("EAGLE", 3), ("EAGLE3", 3), ("NEXTN", 0), ("STANDALONE", 0)])
def test_a_chain_of_a_draft(algorithm: str, tokens: int) -> None:
    """As the page of lightseekorg/kimi-k2.7-coder-eagle3.1-mla and sgl-project/sglang#25673 have it."""
    settings = read(
        f"--model-path moonshotai/Kimi-K2.6 --tp 8 --speculative-algorithm {algorithm} --speculative-num-steps 3 "
        "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4 "
        "--speculative-draft-model-path /app/models/kimi-k2.6-eagle3-mla"
    ).settings
    assert settings.draft_tokens == tokens
    assert settings.draft == ("lightseekorg/kimi-k2.6-eagle3-mla" if tokens else None)


@pytest.mark.parametrize(("flags", "ratio"), [("--mamba-full-memory-ratio 0.5", 0.5), ("", None)])
def test_the_share_of_the_states_is_read(flags: str, ratio: float | None) -> None:
    assert read(f"--model-path moonshotai/Kimi-K3 --tp-size 8 {flags}").settings.state_pool_ratio == ratio
