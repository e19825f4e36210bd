"""TensorRT-LLM: whole command lines, the option file, and what published commands say."""

from __future__ import annotations

import json
import shlex

import pytest
import yaml

from moonpad.catalog.options.config_keys import config_key
from moonpad.engines import ENGINES
from moonpad.engines.base import Reading, installed_runtime
from moonpad.values.binding import Bindings, BoundProcess, bind
from moonpad.values.deployment import Image, Role, Runtime
from moonpad.values.errors import PreflightRefused
from moonpad.values.plan import Layout, Plan, Platform, Serving, Settings
from moonpad.values.records import replace
from moonpad.values.references import PortRef

ENGINE = ENGINES["tensorrt-llm"]
PLAN = Plan(
    name="k2",
    engine="tensorrt-llm",
    platform=Platform.CUDA,
    layout=Layout(tp=8),
    settings=Settings(),
    serving=Serving("K2", tool_parser=None, reasoning_parser=None),
    weights_bytes=0,
)


def bound(plan: Plan) -> BoundProcess:
    deployment = ENGINE.processes(plan, installed_runtime("trtllm-serve"))
    bindings = Bindings(
        hosts={f"node-{rank}": f"10.0.0.{rank}" for rank in range(plan.nodes)},
        ports={PortRef("engine", "api"): 8000},
        paths={"checkpoint": "/models/K2", "engine": "/e", "run": "/run"},
    )
    (process,) = bind(deployment, bindings)
    return process


def read(command: str, **files: str) -> Reading:
    return ENGINE.read(shlex.split(command), {}, files=files)


def test_one_node() -> None:
    process = bound(
        replace(PLAN, settings=Settings(max_num_seqs=128, kv_free_fraction=0.75), layout=Layout(tp=8, ep=8))
    )
    assert process.argv == (
        "/e/bin/trtllm-serve", "/models/K2", "--host", "127.0.0.1", "--port", "8000", "--tp_size", "8",
        "--ep_size", "8", "--max_batch_size", "128", "--kv_cache_free_gpu_memory_fraction", "0.75",
    )  # fmt: skip
    assert process.files == ()


def test_the_option_file() -> None:
    """The keys of the deployment guide for K2-Thinking."""
    settings = Settings(kv_cache_dtype="fp8", kv_free_fraction=0.75, enforce_eager=True)
    process = bound(replace(PLAN, layout=Layout(dp=8, ep=8), settings=settings))
    ((path, content, mode),) = process.files
    assert process.argv[-2:] == ("--config", f"/run/{path}")
    assert mode == 0o644
    assert yaml.safe_load(content) == {
        "enable_attention_dp": True,
        "kv_cache_config": {"dtype": "fp8", "free_gpu_memory_fraction": 0.75},
        "cuda_graph_config": None,
    }


def test_several_nodes_start_by_mpi() -> None:
    plan = replace(PLAN, layout=Layout(tp=16), nodes=2, devices_per_node=8)
    deployment = ENGINE.processes(plan, installed_runtime("trtllm-serve"))
    (process,) = deployment.processes
    assert process.role is Role.LAUNCHER
    assert bound(plan).argv[:11] == (
        "mpirun", "-np", "16", "-H", "10.0.0.0:8,10.0.0.1:8", "-x", "HF_HUB_OFFLINE",
        "/e/bin/trtllm-llmapi-launch", "/e/bin/trtllm-serve", "/models/K2", "--host",
    )  # fmt: skip
    reading = ENGINE.read(bound(plan).argv, {})
    assert reading.layout == Layout(tp=16)
    assert reading.node.nodes == 2


@pytest.mark.parametrize("entrypoint", [(), ("trtllm-serve",)])
def test_several_nodes_in_images(entrypoint: tuple[str, ...]) -> None:
    runtime: Runtime = Image("nvcr.io/nvidia/tensorrt-llm/release@sha256:0", entrypoint)
    (process,) = ENGINE.processes(replace(PLAN, layout=Layout(tp=16), nodes=2), runtime).processes
    assert process.runtime == Image("nvcr.io/nvidia/tensorrt-llm/release@sha256:0", ("mpirun",))
    assert process.argv[6:8] == ("trtllm-llmapi-launch", "trtllm-serve")


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"layout": Layout(tp=2, dp=4)}, "dp"),
        ({"layout": Layout(tp=3), "nodes": 2}, "layout"),
        ({"layout": Layout(tp=8, dcp=8)}, "dcp"),
        ({"settings": Settings(gpu_memory_utilization=0.9)}, "gpu_memory_utilization"),
        ({"serving": Serving("K2", keyed=True)}, "endpoint"),
    ],
)
def test_refused(changes: dict[str, object], where: str) -> None:
    with pytest.raises(PreflightRefused) as refused:
        bound(replace(PLAN, **changes))  # type: ignore[arg-type]
    assert [finding.where for finding in refused.value.findings] == [where]


YAML = """\
cuda_graph_config:
  padding_enabled: true
  batch_sizes:
    - 1
    - 2
print_iter_log: true
enable_attention_dp: true   # attention on every rank
"""


def test_the_command_of_the_guide() -> None:
    """Of Kimi-K2's own deployment guide: mpirun, the word `serve`, the model last, attention DP in the file."""
    command = (
        (
            'mpirun -np 16 -H <HOST1>:8,<HOST2>:8 -mca plm_rsh_args "-p 2233" --allow-run-as-root trtllm-llmapi-launch '
            "trtllm-serve serve --backend pytorch --tp_size 16 --ep_size 8 --kv_cache_free_gpu_memory_fraction 0.95 "
            "--trust_remote_code --max_batch_size 128 --max_num_tokens 4096 --extra_llm_api_options /x/extra.yml "
            "--port 8000 <YOUR_MODEL_DIR>"
        )
        .replace("<", "'<")
        .replace(">", ">'")
    )
    for files, layout in (({}, Layout(tp=16, ep=8)), ({"/x/extra.yml": YAML}, Layout(dp=16, ep=8))):
        reading = read(command, **files)
        assert reading.layout == layout
        assert reading.attention_dp == (layout.dp > 1)
        assert reading.model == "<YOUR_MODEL_DIR>"
        assert reading.settings == Settings(max_num_seqs=128, max_num_batched_tokens=4096, kv_free_fraction=0.95)
        assert reading.node.nodes == 2
        assert reading.serving.trust_remote_code
        assert reading.unknown == ()
        assert reading.extra["config"] == "/x/extra.yml"
    assert reading.extra["config.cuda_graph_config.padding_enabled"] == "true"


def test_the_file_wins() -> None:
    """The example of the deployment guide for K2-Thinking on Blackwell."""
    text = (
        "max_batch_size: 128\nmax_num_tokens: 8448\nmax_seq_len: 8212\ntensor_parallel_size: 8\n"
        "moe_expert_parallel_size: 8\nenable_attention_dp: true\npipeline_parallel_size: 1\n"
        "kv_cache_config:\n  free_gpu_memory_fraction: 0.75\n  dtype: fp8\ntrust_remote_code: true\n"
    )
    reading = read("trtllm-serve m --tp_size 4 --config /a/b.yaml", **{"b.yaml": text})
    assert reading.layout == Layout(dp=8, ep=8)
    assert reading.settings == Settings(
        max_model_len=8212,
        max_num_seqs=128,
        max_num_batched_tokens=8448,
        kv_free_fraction=0.75,
        kv_cache_dtype="fp8",
    )
    assert reading.serving.trust_remote_code


# --- the keys of its file ---


def paths_of(content: str) -> list[tuple[str, str]]:
    """Each key with its section."""
    options = yaml.safe_load(content)
    sections = {key: value for key, value in options.items() if isinstance(value, dict)}
    return [("", key) for key in options] + [(section, key) for section, keys in sections.items() for key in keys]


OWN = json.dumps(
    {
        "print_iter_log": True,
        "cuda_graph_config": {"enable_padding": True, "batch_sizes": [1, 2, 4, 8]},
        "moe_config": {"backend": "DEEPGEMM", "max_num_tokens": 16384},
        "kv_cache_config": {"host_cache_size": 2**30},
    }
)
EVERYTHING = Settings(kv_cache_dtype="fp8", kv_free_fraction=0.75, prefix_caching=False, block_size=64)


def test_every_key_that_is_written_is_one_of_the_recorded_classes() -> None:
    process = bound(replace(PLAN, layout=Layout(dp=8), settings=EVERYTHING, option_file=OWN))
    ((_, content, _),) = process.files
    paths = paths_of(content)
    assert len(paths) == 14
    for section, key in paths:
        for version in ("1.3.0rc3.dev0", "1.1.0rc0.dev0"):
            known = config_key("trtllm-serve", section, key, version)
            assert known is not None
            assert known.known or (version, key) == ("1.1.0rc0.dev0", "tokens_per_block")


def test_what_is_written_is_read_back() -> None:
    plan = replace(PLAN, layout=Layout(dp=8, ep=8), settings=EVERYTHING, option_file=OWN)
    process = bound(plan)
    ((path, content, _),) = process.files
    reading = ENGINE.read(process.argv, {}, files={f"/run/{path}": content})
    assert reading.layout == plan.layout
    assert reading.settings == plan.settings
    assert reading.extra["config.cuda_graph_config.batch_sizes"] == "[1, 2, 4, 8]"


def test_a_section_keeps_what_the_flag_says_of_it() -> None:
    """The section of the file replaces the one that the flags made."""
    own = json.dumps({"kv_cache_config": {"host_cache_size": 1}})
    ((_, content, _),) = bound(replace(PLAN, settings=Settings(kv_free_fraction=0.75), option_file=own)).files
    assert yaml.safe_load(content)["kv_cache_config"] == {"free_gpu_memory_fraction": 0.75, "host_cache_size": 1}


@pytest.mark.parametrize(
    ("own", "version", "where"),
    [
        ({"max_batch_size": 3}, "", "option_file.max_batch_size"),
        ({"kv_cache_config": {"dtype": "fp8"}}, "", "option_file.kv_cache_config.dtype"),
        ({"cuda_graph_config": {"padding_enabled": True}}, "1.3", "option_file.cuda_graph_config.padding_enabled"),
        ({"no_such_key": 1}, "1.3", "option_file.no_such_key"),
        ({}, "1.0", "option_file.kv_cache_config.tokens_per_block"),
    ],
)
def test_keys_that_are_refused(own: dict[str, object], version: str, where: str) -> None:
    settings = Settings() if own else Settings(block_size=64)
    with pytest.raises(PreflightRefused) as refused:
        bound(replace(PLAN, option_file=json.dumps(own), engine_version=version, settings=settings))
    assert [finding.where for finding in refused.value.findings] == [where]


@pytest.mark.parametrize(
    ("key", "version", "is_taken"),
    [("sampler_type", "1.2", True), ("no_such_key", "1.2", False), ("no_such_key", "1.4", True)],
)
def test_keys_of_releases_that_are_not_recorded(key: str, version: str, is_taken: bool) -> None:
    plan = replace(PLAN, option_file=json.dumps({key: "x"}), engine_version=version)
    if is_taken:
        assert bound(plan).files
    else:
        with pytest.raises(PreflightRefused):
            bound(plan)


def test_other_engines_have_no_such_file() -> None:
    plan = replace(PLAN, engine="vllm", option_file=OWN)
    with pytest.raises(PreflightRefused, match="cannot be told"):
        ENGINES["vllm"].processes(plan, installed_runtime("vllm"))
