"""What the Ascend plugin's own start refuses: a command of each row, and one that starts."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.options import versions
from moonpad.catalog.start_refusals import start_refusals
from moonpad.values.finding import Severity
from tests.unit.explain.refusals_told import told

SAMPLES: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("start_refusal_samples_plugin.toml").read_text(encoding="utf-8")
)
ASCEND = "export IMAGE=quay.io/ascend/vllm-ascend:v{}\n"
V31 = "vllm serve /w/DeepSeek-V3.1-w8a8 --quantization ascend"
MOONCAKE = """--kv-transfer-config '{"kv_connector":"MooncakeConnectorV1","kv_role":"kv_consumer"}'"""
RECOMPUTE = """--additional-config '{"recompute_scheduler_enable":true}'"""
SCHEDULER = """--additional-config '{"ascend_scheduler_config":{"enabled":true}}'"""
SLICES = """--additional-config '{"finegrained_tp_config":{"oproj_tensor_parallel_size":8}}'"""
BALANCER = """--additional-config '{"eplb_config":{"dynamic_eplb":true}}'"""
NZ = """--additional-config '{"enable_kv_nz":true}'"""
FLASHCOMM2 = "VLLM_ASCEND_FLASHCOMM2_PARALLEL_SIZE"
EP = "--enable-expert-parallel"
SIDES = """--kv-transfer-config '{"kv_connector":"MooncakeConnectorV1","kv_role":"ROLE","kv_connector_extra_config":\
{"prefill":{"dp_size":2,"tp_size":8},"decode":{"dp_size":4,"tp_size":4}}}'"""
PREFILLS, DECODES = SIDES.replace("ROLE", "kv_producer"), SIDES.replace("ROLE", "kv_consumer")

ON_ASCEND = [
    ("ascend-prefill-tp", "0.18.0", f"{V31} -tp 16 -dp 2 {PREFILLS}", f"{V31} -tp 8 -dp 2 {PREFILLS}"),
    ("ascend-prefill-dp", "0.18.0", f"{V31} -tp 8 -dp 1 {PREFILLS}", f"{V31} -tp 8 -dp 2 {PREFILLS}"),
    ("ascend-decode-tp", "0.18.0", f"{V31} -tp 8 -dp 4 {DECODES}", f"{V31} -tp 4 -dp 4 {DECODES}"),
    ("ascend-decode-dp", "0.18.0", f"{V31} -tp 4 -dp 2 {DECODES}", f"{V31} -tp 4 -dp 4 {DECODES}"),
    ("ascend-blocking", "0.18.0", f"export ASCEND_LAUNCH_BLOCKING=1\n{V31} -tp 16", f"{V31} -tp 16"),
    (
        "ascend-flashcomm-ranks",
        "0.18.0",
        f"export VLLM_ASCEND_ENABLE_FLASHCOMM1=1\n{V31} -tp 1 -dp 16 {EP}",
        f"export VLLM_ASCEND_ENABLE_FLASHCOMM1=1\n{V31} -tp 16 {EP}",
    ),
    (
        "ascend-flashcomm-experts",
        "0.18.0",
        f"export VLLM_ASCEND_ENABLE_FLASHCOMM1=1\n{V31} -tp 16",
        f"export VLLM_ASCEND_ENABLE_FLASHCOMM1=1\n{V31} -tp 16 {EP}",
    ),
    (
        "ascend-balance-apart",
        "0.18.0",
        f"export VLLM_ASCEND_BALANCE_SCHEDULING=1\n{V31} -tp 16 {MOONCAKE}",
        f"export VLLM_ASCEND_BALANCE_SCHEDULING=1\n{V31} -tp 16",
    ),
    ("ascend-recompute-together", "0.18.0", f"{V31} -tp 16 {RECOMPUTE}", f"{V31} -tp 16 {RECOMPUTE} {MOONCAKE}"),
    (
        "ascend-recompute-both",
        "0.18.0",
        f"{V31} -tp 16 {RECOMPUTE} {MOONCAKE}".replace("kv_consumer", "kv_both"),
        f"{V31} -tp 16 {RECOMPUTE} {MOONCAKE}",
    ),
    (
        "ascend-interleave",
        "0.18.0",
        f"{V31} -tp 16 --decode-context-parallel-size 8 {MOONCAKE}",
        f"{V31} -tp 16 --decode-context-parallel-size 8 {MOONCAKE} --cp-kv-cache-interleave-size 128",
    ),
    ("ascend-slices-of-output", "0.18.0", f"{V31} -tp 1 -dp 16 {SLICES}", f"{V31} -tp 1 -dp 16 {SLICES} {MOONCAKE}"),
    (
        "ascend-slices-eager",
        "0.18.0",
        f"{V31} -tp 1 -dp 16 {SLICES} {MOONCAKE} --enforce-eager",
        f"{V31} -tp 1 -dp 16 {SLICES} {MOONCAKE}",
    ),
    ("ascend-layout-of-cache", "0.18.0", f"{V31} -tp 16 {NZ}", f"{V31} -tp 16 {NZ} {MOONCAKE}"),
    (
        "ascend-fused-hierarchy",
        "0.18.0",
        "export VLLM_ASCEND_ENABLE_FUSED_MC2=1\n"
        + V31
        + """ --additional-config '{"enable_mc2_hierarchy_comm":true}'""",
        V31 + """ --additional-config '{"enable_mc2_hierarchy_comm":true}'""",
    ),
    (
        "ascend-eplb-variable",
        "0.18.0",
        f"{V31} -tp 16 {BALANCER}",
        f"export DYNAMIC_EPLB=true\n{V31} -tp 16 {BALANCER}",
    ),
    (
        "ascend-flashcomm2-decodes",
        "0.18.0",
        f"export {FLASHCOMM2}=1\n{V31} -tp 16 {MOONCAKE}",
        f"export {FLASHCOMM2}=1\n{V31} -tp 16",
    ),
    (
        "ascend-flashcomm2-ranks",
        "0.18.0",
        f"export {FLASHCOMM2}=16\n{V31} -tp 16",
        f"export {FLASHCOMM2}=2\n{V31} -tp 16",
    ),
    (
        "ascend-two-stages-of-context",
        "0.26.0rc1",
        f"{V31} -tp 8 --prefill-context-parallel-size 2",
        f"export VLLM_USE_V2_MODEL_RUNNER=1\n{V31} -tp 8 --prefill-context-parallel-size 2",
    ),
    (
        "ascend-scheduler-unchunked",
        "0.11.0rc1",
        f"{V31} -tp 16 --max-model-len 8192 --max-num-batched-tokens 4096 {SCHEDULER}",
        f"{V31} -tp 16 --max-model-len 8192 --max-num-batched-tokens 8192 {SCHEDULER}",
    ),
]


@pytest.mark.parametrize(("key", "version", "wrong", "right"), ON_ASCEND)
def test_a_refusal_of_vllm_ascend(key: str, version: str, wrong: str, right: str) -> None:
    (found,) = told(key, ASCEND.format(version) + wrong)
    assert found.severity is Severity.ERROR
    assert not told(key, ASCEND.format(version) + right)


@pytest.mark.parametrize("key", SAMPLES)
def test_a_refused_command_is_told(key: str) -> None:
    (found,) = told(key, ASCEND.format(SAMPLES[key]["version"]) + SAMPLES[key]["told"])
    assert found.severity is (Severity.WARNING if start_refusals()[key].warns else Severity.ERROR)


@pytest.mark.parametrize("key", SAMPLES)
def test_a_command_that_starts_is_not_told(key: str) -> None:
    assert not told(key, ASCEND.format(SAMPLES[key]["version"]) + SAMPLES[key]["quiet"])


@pytest.mark.parametrize("key", SAMPLES)
def test_the_releases_are_recorded_ones(key: str) -> None:
    row = start_refusals()[key]
    assert row.since in versions("vllm-ascend")
    assert not row.until or row.until in versions("vllm-ascend")
