"""llama.cpp: its command line, what it says of memory, and its log."""

from __future__ import annotations

import time

import pytest

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import find_model
from moonpad.engines.base import Reading, installed_runtime
from moonpad.engines.llama_cpp import LLAMA_CPP, LOG
from moonpad.engines.llama_cpp_read import ALL_LAYERS
from moonpad.engines.log_grammar import first_failure, read_progress
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.values.binding import Bindings, bind
from moonpad.values.plan import Layout, Plan, Serving, Settings
from moonpad.values.platform import Platform
from moonpad.values.references import PortRef
from moonpad.values.units import GB, GIB
from tests.configurations import check, memory_of
from tests.processor import in_time


def read(*words: str, **env: str) -> Reading:
    return LLAMA_CPP.read(("llama-server", *words), env)


def test_the_command_line() -> None:
    settings = Settings(max_model_len=8192, max_num_seqs=4, max_num_batched_tokens=4096, host_expert_layers=55)
    plan = Plan("k", "llama-cpp", Platform.CUDA, Layout(pp=2), settings, Serving("kimi"), 0, checkpoint_file="K2.gguf")
    bindings = Bindings(ports={PortRef("engine", "api"): 8000}, paths={"checkpoint": "/models/k2", "engine": "/e"})
    (process,) = bind(LLAMA_CPP.processes(plan, installed_runtime("llama-server")), bindings)
    assert process.argv == (
        *("/e/bin/llama-server", "--model", "/models/k2/K2.gguf", "--alias", "kimi"),
        *("--host", "127.0.0.1", "--port", "8000", "--n-gpu-layers", "999", "--split-mode", "layer"),
        *("--tensor-split", "1,1", "--ctx-size", "32768", "--parallel", "4"),
        *("--ubatch-size", "4096", "--n-cpu-moe", "55", "--batch-size", "4096"),
        *("--fit", "off", "--jinja", "--metrics", "--no-ui"),
    )


@pytest.mark.parametrize("tokens", ["0", "-1"])
def test_a_context_left_to_the_model(tokens: str) -> None:
    """The parser takes each; what a build made of -1 is a report: https://github.com/ggml-org/llama.cpp/issues/12414."""
    reading = read("-m", "K2.gguf", "-c", tokens, "-np", "4")
    assert reading.settings.max_model_len is None
    assert not [occurrence for occurrence in reading.parsed.occurrences if occurrence.problem]


# Forms that guides use: https://docs.unsloth.ai/basics/kimi-k2-how-to-run-locally and model pages.
@pytest.mark.parametrize(
    ("words", "layers"),
    [
        (("-ot", ".ffn_.*_exps.=CPU"), ALL_LAYERS),
        (("-ot", "exps=CPU"), ALL_LAYERS),
        (("--cpu-moe",), ALL_LAYERS),
        (("--n-cpu-moe", "58"), 58),
        (("-ot", r"blk\.(1|2|3)\.ffn_.*_exps\.=CUDA0", "-ot", "exps=CPU"), 99 - 3),
        (("-ot", r"blk\.(1|2|3)\.ffn_.*_exps\.=CUDA0,exps=CPU"), 99 - 3),
        (("-ot", r".ffn_(up|down)_exps.=CPU"), 66),  # two of three matrices of 99 layers
        (("-ot", "exps=CUDA1"), 0),
        (("-ngl", "99"), None),
    ],
)
def test_experts_in_host_ram(words: tuple[str, ...], layers: int | None) -> None:
    assert read("-m", "K2.gguf", *words).settings.host_expert_layers == layers


def test_short_names_and_the_context_of_a_slot() -> None:
    model = "unsloth/Kimi-K2-Instruct-GGUF:UD-TQ1_0"
    reading = read("-hf", model, "-c", "65536", "-np", "4", "-ctk", "q8_0", "-ngl", "40", "-fa", "on")
    assert reading.model == model
    assert reading.settings == Settings(16384, 4, kv_cache_dtype="q8_0", device_layers=40)
    assert reading.unknown == ()
    assert read("-m", "a.gguf", "-ngl", "999").settings.device_layers is None


def test_integers_are_read_as_far_as_they_go() -> None:
    problems = {
        place.written: place.problem
        for place in read("--top-k", "0.0", "--threads", "4x", "-np", "few").parsed.occurrences
    }
    assert problems == {"--top-k": None, "--threads": None, "-np": "invalid-value"}


def test_what_is_left_to_the_engine() -> None:
    assert "--fit" in read("-m", "K2.gguf", "-c", "8192").left_to_engine
    assert read("-m", "K2.gguf", "-ngl", "99").left_to_engine == ""
    assert read("-m", "K2.gguf", "--fit", "off").left_to_engine == ""


@pytest.mark.parametrize("pattern", ["(a*)*b", "((.+)+)+$", "(", "x" * 5000, "(.*)*_exps", "="])
def test_a_hostile_pattern_costs_nothing(pattern: str) -> None:
    began = time.process_time()
    read("-m", "K2.gguf", *(word for _ in range(500) for word in ("-ot", f"{pattern}=CPU")))
    assert in_time(time.process_time() - began, 3.0)


def test_the_memory_of_a_published_machine() -> None:
    """The guide of Unsloth: the 1.8-bit file serves from one card of 24 GB with all experts in 256 GB of RAM."""
    model = find_model("unsloth/Kimi-K2-Instruct-GGUF:UD-TQ1_0")
    assert model is not None
    checkpoint, card = catalog_checkpoint(model), parse_cluster("1xRTX4090")
    settings = Settings(max_model_len=16384, max_num_seqs=1, host_expert_layers=61)
    memory = memory_of(checkpoint, card, "llama-cpp", "b11434", Layout(), settings)
    assert memory.holds(16384)
    assert memory.host is not None
    assert memory.host.needed_bytes < 256 * GIB
    assert not memory_of(checkpoint, card, "llama-cpp", "b11434", Layout(), Settings(max_model_len=16384)).fits
    assert memory.kv_tokens.value == 16384  # it allocates what was asked for, and no more
    assert memory.kv_bytes_per_token == 70_272
    quantised = Settings(max_model_len=16384, host_expert_layers=61, kv_cache_dtype="q8_0")
    of_q8 = memory_of(checkpoint, card, "llama-cpp", "b11434", Layout(), quantised)
    assert of_q8.kv_bytes_per_token == 61 * 576 * 34 // 32
    everything = sum(memory.weights.values()) + memory.host.needed_bytes - 10 * GIB
    assert everything / GB == pytest.approx(245, rel=0.001)


def test_layers_in_host_ram_take_weights_and_cache_along() -> None:
    model = find_model("ubergarm/Kimi-K2-Thinking-GGUF:Q4_X")
    assert model is not None
    checkpoint, card = catalog_checkpoint(model), parse_cluster("1xH200")
    few, eleven = (
        memory_of(checkpoint, card, "llama-cpp", "b11434", Layout(), Settings(8192, device_layers=count))
        for count in (1, 11)
    )
    assert few.kv_bytes_per_token == 0  # the output alone: all of the KV cache is in RAM
    assert few.fits
    assert few.host is not None
    assert eleven.host is not None
    kv_bytes = 10 * 1152 * 8192
    weights_bytes = eleven.weights_bytes - few.weights_bytes
    assert few.host.needed_bytes - eleven.host.needed_bytes == pytest.approx(weights_bytes + kv_bytes, rel=1e-6)
    assert eleven.kv_bytes_per_token == 10 * 1152
    assert eleven.weights_bytes - few.weights_bytes == pytest.approx(10 / 61 * 583.7 * GB, rel=0.03)


def test_the_rules_of_a_tiny_case() -> None:
    model = find_model("moonshotai/Kimi-K2-Thinking")
    assert model is not None
    findings = check(
        catalog_checkpoint(model), parse_cluster("8xH200"), "llama-cpp", "b11434", Layout(pp=8), Settings()
    )
    assert any("GGUF" in finding.message for finding in findings)


# As b11434 printed them here.
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("error: invalid argument: --foo", "this build of llama.cpp does not know --foo"),
        (
            "0.00.002.555 E srv         start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 18099",
            "port 18099 was taken between the check and the start",
        ),
        ("0.00.003.851 E cmn  common_init_: failed to load model 'bad.gguf'", "llama.cpp could not load bad.gguf"),
    ],
)
def test_causes(line: str, message: str) -> None:
    failure = first_failure(LOG, ["0.00.002.452 W srv  llama_server: security: no API key is set", line])
    assert failure is not None
    assert failure.message == message


def test_phases() -> None:
    line = "0.00.034.079 I srv    load_model: initializing, n_slots = 2, n_ctx_slot = 4096, kv_unified = 'false'"
    progress = read_progress(LOG, line)
    assert progress is not None
    assert (progress.phase, progress.figures) == ("sizing the KV cache", {"at_tokens": "4096"})


@pytest.mark.parametrize("pattern", [".*" * 80 + "x", "(.|.)" * 39 + "x", "(a*)*b", "x" * 300])
def test_patterns_that_could_take_for_ever_are_not_tried(pattern: str) -> None:
    reading = read("-m", "x.gguf", "-ot", f"{pattern}=CPU")
    assert "--override-tensor" in reading.left_to_engine
    published = r"\.(6|7|8|9|[0-9][0-9]|[0-9][0-9][0-9])\.ffn_(gate|up|down)_exps.=CPU"
    reading = read("-m", "x.gguf", "-ot", published)
    assert reading.left_to_engine == ""
    assert reading.settings.host_expert_layers == 93
