"""The recorded options of the engines.

What is expected was written by hand: from the project's notes on the engines, from their documentation and source, and
from reading the seed documents; not from the tables.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from moonpad.catalog.options import (
    known_environment,
    newest,
    option_set,
    programs,
    releases_with,
    values_of,
    versions,
)
from tests.unit.catalog.resolution import options, resolve


def test_every_program_has_a_newest_release() -> None:
    assert {newest("vllm serve"), newest("vllm bench serve")} == {"0.33.0"}
    assert newest("sglang") == "0.5.23"
    assert (newest("sglang-kt"), newest("kt run")) == ("0.7.2", "0.7.2")
    for program in programs():
        assert options(program).version == newest(program) == versions(program)[-1]


def test_an_unknown_program() -> None:
    assert option_set("llama.cpp") is None
    assert versions("llama.cpp") == ()
    assert newest("llama.cpp") == ""
    assert values_of("llama.cpp", None, "model") == ()
    assert releases_with("llama.cpp", "--model") == ()
    assert known_environment("llama.cpp") == frozenset()


@pytest.mark.parametrize("version", versions("vllm serve"))
def test_what_every_vllm_has(version: str) -> None:
    known_options = options("vllm serve", version)
    assert known_options.exact
    assert known_options.version == version
    assert known_options.positionals == ("model_tag",)
    batched = known_options.named("--max-num-batched-tokens")
    assert batched is not None
    assert (batched.kind, batched.nargs, batched.negations) == ("int", "1", ())
    fraction = known_options.named("--gpu-memory-utilization")
    assert fraction is not None
    assert fraction.kind == "float"
    switch = known_options.named("--enable-prefix-caching")
    assert switch is not None
    assert switch.kind == "flag"
    assert not switch.takes_value
    assert "--no-enable-prefix-caching" in switch.negations
    assert resolve(known_options, "--no-enable-prefix-caching").negated
    transfer = known_options.named("--kv-transfer-config")
    assert transfer is not None
    assert transfer.kind == "json"
    tensor = known_options.named("-tp")
    assert tensor is not None
    assert tensor.name == "--tensor-parallel-size"
    assert tensor.dest == "tensor_parallel_size"
    names = known_options.named("--served-model-name")
    assert names is not None
    assert names.nargs == "+"


@pytest.mark.parametrize(
    ("version", "default"),
    [("0.10.0", "0.9"), ("0.11.0", "0.9"), ("0.19.1", "0.9"), ("0.20.0", "0.92"), ("0.32.0", "0.92")],
)
def test_the_memory_fraction_that_vllm_takes_by_default(version: str, default: str) -> None:
    option = options("vllm serve", version).named("--gpu-memory-utilization")
    assert option is not None
    assert option.default == default


def test_decode_context_parallelism_came_with_0_10_2() -> None:
    """vLLM's release notes of 0.10.2 name it; 0.10.1 has no such option."""
    assert options("vllm serve", "0.10.1.1").named("--decode-context-parallel-size") is None
    for version in versions("vllm serve"):
        if version not in ("0.10.0", "0.10.1", "0.10.1.1"):
            known_options = options("vllm serve", version)
            assert known_options.named("-dcp") == known_options.named("--decode-context-parallel-size") is not None


def test_disable_log_requests_came_and_went_and_came() -> None:
    releases = releases_with("vllm serve", "--disable-log-requests")
    assert {"0.10.0", "0.11.0", "0.16.0", "0.33.0"} <= set(releases)
    assert not {"0.17.1", "0.20.2", "0.23.0", "0.31.0", "0.32.0"} & set(releases)
    assert resolve(options("vllm serve", "0.32.0"), "--disable-log-requests").how == "unknown"
    again = resolve(options("vllm serve", "0.33.0"), "--disable-log-requests")
    assert (again.how, again.negated) == ("exact", True)
    assert again.name == "--enable-log-requests"


def test_multi_node_without_ray_came_with_0_11_1() -> None:
    for flag in ("--nnodes", "--node-rank", "--master-addr", "--master-port"):
        assert options("vllm serve", "0.11.0").named(flag) is None
        assert options("vllm serve", "0.11.1").named(flag) is not None
        assert options("vllm serve", "0.32.0").named(flag) is not None


def test_conventions_differ_by_program() -> None:
    vllm, bench = options("vllm serve"), options("vllm bench serve")
    assert vllm.prefixes
    assert vllm.underscores
    assert vllm.dotted
    assert bench.prefixes
    sglang = options("sglang")
    assert sglang.prefixes
    assert not sglang.underscores
    assert options("kt run").passes_on == "sglang-kt"
    assert not options("kt run").prefixes
    assert not options("trtllm-serve").prefixes
    assert options("trtllm-serve").positionals == ("model",)


def test_the_fork_has_flags_of_its_own() -> None:
    upstream, fork = options("sglang", "0.5.23"), options("sglang-kt", "0.7.2")
    shared = (
        "weight-path",
        "method",
        "cpuinfer",
        "threadpool-count",
        "num-gpu-experts",
        "max-deferred-experts-per-token",
    )
    for name in shared:
        assert upstream.named(f"--kt-{name}") is not None
        assert fork.named(f"--kt-{name}") is not None
    assert sorted(name for option in upstream.options for name in option.names if name.startswith("--kt-")) == sorted(
        f"--kt-{name}" for name in shared
    )
    for name in ("--kt-gpu-prefill-token-threshold", "--kt-numa-nodes"):
        assert upstream.named(name) is None
        assert fork.named(name) is not None


def test_tensorrt_llm_has_its_published_releases_and_a_state_of_its_main_branch() -> None:
    for version, exact in {"1.0": True, "1.1.0": True, "1.2.1": True, "1.2.0": False, "1.4.0rc0.dev0": False}.items():
        assert options("trtllm-serve", version).exact is exact
    assert not options("trtllm-serve").exact, "without a version it is the main branch"
    newer = options("trtllm-serve", "1.2.1").named("--config")
    assert newer is not None
    assert "--extra_llm_api_options" in newer.names
    assert options("trtllm-serve", "1.1.0").named("--config") is None
    assert options("trtllm-serve").named("--model") is None
    for version, count in {"1.0.0": 22, "1.1.0": 22, "1.2.1": 32, "1.3.0rc14": 40, "1.4.0rc0.dev0": 50}.items():
        assert len(options("trtllm-serve", version).options) == count


def test_the_disaggregated_server_has_options_of_its_own() -> None:
    assert options("trtllm-disaggregated", "1.0.0").named("--metrics-log-interval") is None
    assert options("trtllm-disaggregated", "1.2.1").named("--metrics-log-interval") is not None
    assert options("trtllm-disaggregated", "1.2.1").named("--config") is None


@pytest.mark.parametrize(
    ("requested", "answered", "exact"),
    [
        (None, "0.33.0", True),
        ("v0.32.0+cpu", "0.32.0", True),
        ("0.11.0.0", "0.11.0", True),
        ("v0.11.1rc6.dev211+g934a9c3b7", "0.11.0", False),  # seed 0
        ("0.10.0rc1", "0.10.0", False),  # seed 4
        ("0.8.5", "0.10.0", False),  # older than every record
        ("0.15.1", "0.15.1", True),
        ("0.12.1", "0.12.0", False),
        ("0.34.0", "0.33.0", False),
        ("nightly", "0.33.0", False),
        ("", "0.33.0", False),
    ],
)
def test_which_release_answers(requested: str | None, answered: str, exact: bool) -> None:
    known_options = options("vllm serve", requested)
    assert (known_options.version, known_options.exact) == (answered, exact)


def test_a_plugin_takes_the_options_of_its_release() -> None:
    """Seed 2 was measured with v0.20.2rc1, made for vLLM 0.20.2."""
    plugin, base = options("vllm-ascend", "v0.20.2rc1"), options("vllm serve", "0.20.2")
    assert (plugin.program, plugin.version, plugin.exact) == ("vllm-ascend", "0.20.2rc1", True)
    assert {option.name for option in plugin.options} == {option.name for option in base.options}
    assert "ascend" in values_of("vllm-ascend", "v0.20.2rc1", "quantization")
    assert "compressed-tensors" in values_of("vllm-ascend", "v0.20.2rc1", "quantization")
    assert "ascend" not in values_of("vllm serve", "0.20.2", "quantization")
    assert options("vllm-ascend", "0.25.1rc1").exact
    between = options("vllm-ascend", "0.25.1rc2")
    assert not between.exact
    assert between.named("--tensor-parallel-size") is not None
    cache = options("vllm-ascend", "0.30.0rc2").named("--kv-cache-dtype")
    assert cache is not None
    assert {"int8", "fp8"} <= set(cache.choices)


@pytest.mark.parametrize(
    ("program", "version", "dest", "name", "known"),
    [
        ("vllm serve", "0.10.0", "tool_call_parser", "kimi_k2", True),
        ("vllm serve", "0.32.0", "tool_call_parser", "kimi_k2", True),
        ("vllm serve", "0.32.0", "tool_call_parser", "kimik2", False),
        ("vllm serve", "0.32.0", "tool_call_parser", "kimi_k3", True),
        ("vllm serve", "0.20.2", "tool_call_parser", "kimi_k3", False),
        ("vllm serve", "0.11.0", "reasoning_parser", "kimi_k2", False),
        ("vllm serve", "0.11.1", "reasoning_parser", "kimi_k2", True),
        ("vllm serve", "0.32.0", "reasoning_parser", "kimi_k2", True),
        ("vllm serve", "0.32.0", "load_format", "compressed-tensors", False),
        ("vllm serve", "0.32.0", "load_format", "safetensors", True),
        ("vllm serve", "0.10.0", "load_format", "compressed-tensors", False),
        ("vllm serve", "0.32.0", "quantization", "compressed-tensors", True),
        ("vllm serve", "0.32.0", "attention_backend", "FLASH_ATTN_MLA", True),
        ("vllm serve", "0.32.0", "attention_backend", "CPU_MLA", True),
        ("sglang", "0.4.9", "tool_call_parser", "kimi_k2", False),
        ("sglang", "0.4.10.post2", "tool_call_parser", "kimi_k2", True),
        ("sglang", "0.5.23", "tool_call_parser", "kimi_k2", True),
        ("sglang", "0.5.23", "kv_cache_dtype", "fp8", False),
        ("sglang", "0.5.23", "kv_cache_dtype", "fp8_e4m3", True),
        ("sglang-router", None, "tool_call_parser", "kimik2", True),
        ("sglang-router", None, "tool_call_parser", "kimi_k2", False),
    ],
)
def test_names_that_a_value_can_have(program: str, version: str | None, dest: str, name: str, known: bool) -> None:
    values = values_of(program, version, dest)
    assert values
    assert (name in values) is known


def test_environment_variables_by_release() -> None:
    for name in ("VLLM_USE_V1", "VLLM_USE_TRITON_FLASH_ATTN"):
        assert name in known_environment("vllm serve", "0.10.0")
        assert name in known_environment("vllm serve", "0.11.0")
        assert name not in known_environment("vllm serve", "0.11.1")
        assert name not in known_environment("vllm serve", "0.32.0")
    assert "VLLM_HOST_IP" in known_environment("vllm serve", "0.32.0")
    for version in versions("vllm serve"):
        assert "SAFETENSORS_FAST_GPU" not in known_environment("vllm serve", version)
    assert "SGLANG_DISAGGREGATION_WAITING_TIMEOUT" in known_environment("sglang", "0.5.23")
    assert {"VLLM_HOST_IP", "HCCL_SO_PATH"} <= known_environment("vllm-ascend", "0.20.2rc1")


def test_one_file_is_read_for_one_program() -> None:
    """Seen from outside the process: `explain` must not pay for the engines that it is not asked about."""
    completed = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; opened = []\n"
            "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
            "from moonpad.catalog.options import option_set\n"
            "assert not [name for name in opened if name.endswith(('.json', '.toml'))]\n"
            "option_set('kt run')\n"
            "print([name.rpartition('/')[2] for name in opened if name.endswith(('.json', '.toml'))])",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert completed.strip() == "['programs.json', 'kt-run.json']"
