"""vLLM over several nodes, on devices, and by version: whole command lines, and what it refuses."""

from __future__ import annotations

import pytest

from moonpad.engines import ENGINES
from moonpad.engines.base import installed_runtime
from moonpad.values.binding import Bindings, BoundProcess, bind
from moonpad.values.deployment import Image
from moonpad.values.errors import PreflightRefused
from moonpad.values.plan import Layout, Plan, Platform, Serving, Settings
from moonpad.values.records import replace
from moonpad.values.references import PortRef
from moonpad.values.secret import Secret

PLAN = Plan(
    name="k2",
    engine="vllm",
    platform=Platform.CUDA,
    layout=Layout(tp=16),
    settings=Settings(),
    serving=Serving("kimi-k2", keyed=True, trust_remote_code=True),
    weights_bytes=0,
    nodes=2,
    devices_per_node=8,
)


def bound(plan: Plan) -> tuple[BoundProcess, ...]:
    deployment = ENGINES[plan.engine].processes(plan, installed_runtime("vllm"))
    nodes = {f"node-{rank}": rank for rank in range(plan.nodes)}
    return bind(
        deployment,
        Bindings(
            hosts={node: f"10.0.0.{rank}" for node, rank in nodes.items()},
            ports={PortRef("engine", "api"): 8000, PortRef("engine", "master"): 1, PortRef("engine", "dp-rpc"): 2},
            ranks=nodes,
            paths={"checkpoint": "/m", "engine": "/e"},
            secrets={"api_key": Secret("sk-1")},
        ),
    )


def test_one_group_over_two_nodes() -> None:
    head, other = bound(PLAN)
    assert head.argv == (
        "/e/bin/vllm", "serve", "/m", "--served-model-name", "kimi-k2", "--host", "127.0.0.1", "--port", "8000",
        "--tensor-parallel-size", "16",
        "--nnodes", "2", "--node-rank", "0", "--master-addr", "10.0.0.0", "--master-port", "1",
        "--enable-auto-tool-choice", "--tool-call-parser", "kimi_k2", "--reasoning-parser", "kimi_k2",
        "--trust-remote-code",
    )  # fmt: skip
    assert other.argv == (
        "/e/bin/vllm", "serve", "/m", "--served-model-name", "kimi-k2",
        "--tensor-parallel-size", "16",
        "--nnodes", "2", "--node-rank", "1", "--master-addr", "10.0.0.0", "--master-port", "1", "--headless",
        "--trust-remote-code",
    )  # fmt: skip
    assert (head.env["VLLM_HOST_IP"], other.env["VLLM_HOST_IP"]) == ("10.0.0.0", "10.0.0.1")
    assert head.secret_env == {"VLLM_API_KEY": Secret("sk-1")}
    assert other.secret_env == {}


def test_data_and_expert_parallel_over_two_nodes() -> None:
    """The options of Kimi-K2's own deployment guide, DP16 + EP on two nodes of eight."""
    settings = Settings(max_num_seqs=256, max_num_batched_tokens=8192, gpu_memory_utilization=0.85)
    head, other = bound(replace(PLAN, layout=Layout(dp=16, ep=16), settings=settings))
    both = ("--data-parallel-size", "16", "--enable-expert-parallel", "--data-parallel-size-local", "8")
    where = ("--data-parallel-address", "10.0.0.0", "--data-parallel-rpc-port", "2")
    limits = ("--max-num-seqs", "256", "--max-num-batched-tokens", "8192", "--gpu-memory-utilization", "0.85")
    assert head.argv[9:24] == (*both, *where, *limits)
    assert other.argv[5:] == (
        *both, *where, "--data-parallel-start-rank", "8", "--headless", *limits, "--trust-remote-code"
    )  # fmt: skip


def test_a_data_parallel_rank_larger_than_a_node() -> None:
    head, _ = bound(replace(PLAN, layout=Layout(tp=8, pp=2), nodes=2))
    assert "--nnodes" in head.argv
    assert "--data-parallel-address" not in head.argv


def test_balanced_experts_and_backends() -> None:
    settings = Settings(redundant_experts=32, attention_backend="FLASHMLA", block_size=64, prefix_caching=False)
    (process,) = bound(replace(PLAN, layout=Layout(dp=8, ep=8), settings=settings, nodes=1))
    assert process.argv[12:21] == (
        "--block-size", "64", "--no-enable-prefix-caching", "--attention-backend", "FLASHMLA",
        "--enable-eplb", "--eplb-config.num_redundant_experts", "32", "--enable-auto-tool-choice",
    )  # fmt: skip


def test_ascend() -> None:
    """The environment and the options of vLLM-Ascend's tutorial for K2-Thinking, and of its W8A8 checkpoints."""
    plan = replace(
        PLAN, engine="vllm-ascend", platform=Platform.ASCEND, scheme="w8a8", layout=Layout(tp=8, dp=4, ep=32)
    )
    head, other = bound(plan)
    assert head.env == {
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_HOST_IP": "10.0.0.0",
        "HCCL_BUFFSIZE": "1024",
        "TASK_QUEUE_ENABLE": "1",
        "OMP_PROC_BIND": "false",
        "HCCL_OP_EXPANSION_MODE": "AIV",
        "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True",
        "HCCL_IF_IP": "10.0.0.0",
    }
    assert other.env["HCCL_IF_IP"] == "10.0.0.1"
    words = " ".join(other.argv)
    assert "--quantization ascend" in words
    assert "--data-parallel-size-local 2 " in words
    assert "--data-parallel-start-rank 2 " in words
    (process,) = bound(replace(plan, scheme="int4", nodes=1))
    assert "--quantization" not in process.argv
    assert "HCCL_IF_IP" not in process.env


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"layout": Layout(tp=16, ep=8)}, "ep"),
        ({"layout": Layout(tp=5)}, "layout"),
        ({"settings": Settings(kv_cache_gib=4)}, "kv_cache_gib"),
        ({"settings": Settings(gpu_experts=4)}, "gpu_experts"),
    ],
)
def test_refused(changes: dict[str, object], where: str) -> None:
    with pytest.raises(PreflightRefused) as refused:
        bound(replace(PLAN, **changes))  # type: ignore[arg-type]
    assert [finding.where for finding in refused.value.findings] == [where]
    assert all(finding.remedy for finding in refused.value.findings)


def test_an_image_publishes_its_port() -> None:
    deployment = ENGINES["vllm"].processes(replace(PLAN, nodes=1), Image("vllm/vllm-openai@sha256:0", ("vllm",)))
    (process,) = deployment.processes
    assert process.argv[5] == "0.0.0.0"
    assert deployment.port_spec(deployment.endpoint).reach == "loopback"
    assert process.needs.devices == 16


@pytest.mark.parametrize(
    ("version", "flag"),
    [("0.10.0", "--decode-context-parallel-size"), ("0.11.0", "--reasoning-parser"), ("0.11.2", "")],
)
def test_what_an_older_release_does_not_take(version: str, flag: str) -> None:
    """As its own parsers say: DCP came with 0.10.2, the reasoning parser of Kimi-K2 with 0.11.1."""
    serving = Serving("k2", reasoning_parser="kimi_k2" if version != "0.10.0" else None)
    plan = replace(PLAN, layout=Layout(tp=8, dcp=8), nodes=1, engine_version=version, serving=serving)
    if not flag:
        bound(plan)
        return
    with pytest.raises(PreflightRefused, match=f"vllm {version} cannot be told") as refused:
        bound(plan)
    assert [finding.where for finding in refused.value.findings] == [flag]


def test_older_spellings() -> None:
    settings = Settings(attention_backend="FLASHMLA", redundant_experts=32)
    plan = replace(
        PLAN, layout=Layout(dp=8, ep=8), nodes=1, settings=settings, serving=Serving("k2", reasoning_parser=None)
    )
    (process,) = bound(replace(plan, engine_version="0.10.1.1"))
    assert process.env["VLLM_ATTENTION_BACKEND"] == "FLASHMLA"
    assert process.argv[12:15] == ("--enable-eplb", "--num-redundant-experts", "32")


def test_the_exchange_was_a_variable_before_it_was_an_option() -> None:
    """--all2all-backend came with 0.12.0 (the options that its parser prints)."""
    settings = Settings(all2all_backend="deepep_low_latency")
    plan = replace(
        PLAN, layout=Layout(dp=8, ep=8), nodes=1, settings=settings, serving=Serving("k2", reasoning_parser=None)
    )
    (before,), (since,) = (bound(replace(plan, engine_version=version)) for version in ("0.11.0", "0.12.0"))
    assert before.env["VLLM_ALL2ALL_BACKEND"] == "deepep_low_latency"
    assert "--all2all-backend" not in before.argv
    assert "VLLM_ALL2ALL_BACKEND" not in since.env
    assert since.argv[since.argv.index("--all2all-backend") + 1] == "deepep_low_latency"


def test_a_release_that_needs_ray() -> None:
    with pytest.raises(PreflightRefused) as refused:
        bound(replace(PLAN, engine_version="0.11.0", serving=Serving("k2", reasoning_parser=None)))
    assert "Ray" in refused.value.findings[0].message
