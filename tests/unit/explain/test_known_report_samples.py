"""Each report with a command that meets it and one that, by one thing, does not."""

from __future__ import annotations

import pytest

from moonpad.catalog.known_reports import known_reports
from tests.unit.explain.test_known_reports import reported

ASCEND = "export IMAGE=quay.io/ascend/vllm-ascend:v{}\n"
K2, K25, K26 = "moonshotai/Kimi-K2-Instruct", "moonshotai/Kimi-K2.5", "moonshotai/Kimi-K2.6"
K3, V31, V32, R1 = "moonshotai/Kimi-K3", "/w/DeepSeek-V3.1-w8a8", "/w/DeepSeek-V3.2-W8A8", "deepseek-ai/DeepSeek-R1"
MTP = """--speculative-config '{"method":"mtp","num_speculative_tokens":1}'"""
EAGLE3 = """--speculative-config '{"method":"eagle3","model":"/d/eagle3","num_speculative_tokens":3}'"""
CONSUMER = """--kv-transfer-config '{"kv_connector":"MooncakeConnector","kv_role":"kv_consumer"}'"""
PRODUCER = CONSUMER.replace("consumer", "producer")
FULL = """--compilation-config '{"cudagraph_mode":"FULL_DECODE_ONLY"}'"""
TORCHAIR = """--additional-config '{"torchair_graph_config":{"enabled":true}}'"""
SCHEDULER = """--additional-config '{"ascend_scheduler_config":{"enabled":true}}'"""
STREAMS = """--additional-config '{"torchair_graph_config":{"enabled":true,"enable_multistream_mla":true}}'"""
RAY = "--distributed-executor-backend ray"
EP = "--enable-expert-parallel"
DCP = "--decode-context-parallel-size 8"
PCP = "--prefill-context-parallel-size 2"
FUSED = "export VLLM_ASCEND_ENABLE_FUSED_MC2=1\n"

ON_ASCEND = [
    ("ascend-pp-early", "0.9.1", f"{R1} -tp 8 -pp 2", "", "0.10.0rc1"),
    ("ascend-graphs-dp-early", "0.10.0rc1", f"{K2} -tp 8 -dp 2 {EP}", "", "0.11.0"),
    ("ascend-w4a8-eager-memory", "0.9.1", "/w/DeepSeek-R1-w4a8 -tp 8 --enforce-eager", "", "0.9.2rc1"),
    ("ascend-pp-ray-graphs", "0.9.2rc1", f"{R1} -tp 8 -pp 2 {RAY}", "", "0.10.0rc1"),
    ("ascend-torchair-pp", "0.9.1rc1", f"/w/DeepSeek-R1-w8a8 -tp 4 -pp 4 {TORCHAIR}", "", "0.9.1rc2"),
    ("ascend-torchair-long", "0.9.1rc1", f"/w/DeepSeek-R1-w8a8 -tp 16 {TORCHAIR}", "", "0.9.1rc2"),
    ("ascend-scheduler-prefixes", "0.9.1rc1", f"{R1} -tp 16 --enable-prefix-caching {SCHEDULER}", "", "0.9.1rc2"),
    (
        "ascend-scheduler-chunks",
        "0.10.2rc1",
        f"{R1} -tp 16 --enable-prefix-caching --enable-chunked-prefill {SCHEDULER}",
        "",
        "0.11.0rc0",
    ),
    ("ascend-multistream-w8a8", "0.10.0rc1", f"/w/DeepSeek-R1-W8A8 -tp 16 {STREAMS}", "", "0.10.1rc1"),
    ("ascend-multistream-mask", "0.10.1rc1", f"/w/DeepSeek-R1-W8A8 -tp 16 {STREAMS}", "", "0.10.2rc1"),
    ("ascend-mtp-scheduler", "0.10.0rc1", f"/w/DeepSeek-R1-W8A8 -tp 16 {MTP}", "", "0.10.1rc1"),
    ("ascend-pd-unequal-tp", "0.10.2rc1", f"{R1} -tp 16 {CONSUMER}", "", "0.11.0rc0"),
    ("ascend-ray-ep", "0.11.0rc2", f"{K2} -tp 16 {RAY} {EP}", "", "0.11.0rc3"),
    ("ascend-v32-graphs", "0.11.0", f"{V32} -tp 16", "", "0.12.0rc1"),
    ("ascend-mtp-weights", "0.11.0rc1", f"{V31} -tp 16 {MTP}", "", "0.11.0rc2"),
    ("ascend-full-decode-012", "0.12.0rc1", f"{V31} -tp 16 {FULL}", "", "0.13.0rc1"),
    ("ascend-decode-tp1", "0.13.0", f"{V31} -tp 1 -dp 16 {CONSUMER}", "", "0.14.0rc1"),
    ("ascend-k2-stages", "0.13.0rc1", "/w/Kimi-K2-Thinking -tp 16 -pp 4", "", "0.13.0"),
    ("ascend-k25-015", "0.15.0rc1", f"{K25} -tp 16", "", "0.17.0rc1"),
    ("ascend-mtp-graph-buffer", "0.16.0rc1", f"{V31} -dp 32 -tp 1 {EP} {MTP}", "", "0.17.0rc1"),
    (
        "ascend-v32-flashcomm-cp",
        "0.16.0rc1",
        f"{V32} -tp 16 {DCP}",
        "export VLLM_ASCEND_ENABLE_FLASHCOMM1=1\n",
        "0.17.0rc1",
    ),
    ("ascend-c8-full-decode", "0.17.0rc1", f"/w/DeepSeek-V3.1-W8A8C8 -tp 16 {MTP} {FULL}", "", "0.18.0rc1"),
    (
        "ascend-r1-mtp-pool",
        "0.18.0rc1",
        f"{R1} -tp 16 {MTP} {CONSUMER.replace('MooncakeConnector', 'AscendStoreConnector')}",
        "",
        "0.18.0",
    ),
    ("ascend-fused-mc2-dp", "0.18.0", f"{V31} -tp 8 -dp 4 {PRODUCER}", FUSED, "0.19.1rc1"),
    (
        "ascend-eplb-w4a8",
        "0.18.0",
        """/w/Kimi-K2.5-w4a8 -tp 16 --additional-config '{"dynamic_eplb":true}'""",
        "",
        "0.20.2rc1",
    ),
    ("ascend-pcp-eagle3", "0.18.0", f"/w/Kimi-K2.5-w4a8 -tp 8 {PCP} {EAGLE3}", "", "0.20.2rc1"),
    ("ascend-k25-dcp-eagle3", "0.18.0", f"/w/Kimi-K2.5-w4a8 -tp 8 {DCP} {EAGLE3}", "", "0.20.2rc1"),
    ("ascend-v32-pd-garbled", "0.18.0", f"{V32} -tp 16 {CONSUMER}", "", "0.20.2rc1"),
    ("ascend-k26-transfer", "0.22.1rc1", f"{K26} -tp 16 {CONSUMER}", "", "0.23.0rc1"),
    ("ascend-k27-dflash-transfer", "0.22.1rc1", f"""/w/Kimi-K2.7-Code-w4a8 -tp 16 {CONSUMER} --speculative-config \
'{{"method":"dflash","model":"/d/Kimi-K2.5-DFlash","num_speculative_tokens":7}}'""", "", "0.23.0rc1"),
    ("ascend-r1-shared-experts", "0.22.1rc1", "/w/DeepSeek-R1-0528-W8A8 -tp 16", "", "0.23.0rc1"),
    ("ascend-v31-slower", "0.23.0", f"{V31} -tp 16 {CONSUMER}", "", "0.26.0rc1"),
    ("ascend-pp-pcp", "0.23.0", f"{K26} -tp 8 -pp 2 {PCP}", "", "0.26.0rc1"),
    (
        "ascend-reduce-sample",
        "0.23.0",
        f"""{K26} -tp 16 --additional-config '{{"enable_reduce_sample":true}}'""",
        "",
        "0.22.1rc1",
    ),
    ("ascend-v32-dcp-sides", "0.23.0", f"{V32} -tp 16 {DCP} {CONSUMER}", "", "0.22.1rc1"),
    ("ascend-sparse-c8", "0.23.0", f"""{V32} -tp 16 --additional-config '{{"enable_sparse_c8":true}}'""", "", "0.22.1rc1"),
    ("ascend-k3-early", "0.23.0", f"{K3} -tp 16", "", "0.26.0rc1"),
    ("ascend-prefill-memory-026", "0.26.0rc1", f"/w/Kimi-K2.6-w4a8 -tp 16 {PRODUCER}", "", "0.23.0"),
    ("ascend-restricted-026", "0.26.0rc1", f"{K26} -tp 16", "", "0.23.0"),
    ("ascend-restricted-027", "0.27.1rc1", f"{K26} -tp 16", "", "0.23.0"),
]


def met(key: str, text: str, on: str = "", version: str = "") -> bool:
    start = known_reports()[key].message.partition("{")[0]
    return any(f": {start}" in finding.message for finding in reported(text, on, version))


@pytest.mark.parametrize(("key", "version", "command", "before", "other"), ON_ASCEND)
def test_a_release_of_vllm_ascend(key: str, version: str, command: str, before: str, other: str) -> None:
    assert met(key, f"{ASCEND.format(version)}{before}vllm serve {command}")
    assert not met(key, f"{ASCEND.format(other)}{before}vllm serve {command}")


ON_DEVICES = [
    ("ascend-k25-mc2-memory", "0.22.1rc1", f"{FUSED}vllm serve {K25} -tp 16", "16xAscend-910C", "16xAscend-910B"),
    ("ascend-950-sparse-cp", "0.23.0", f"vllm serve {V32} -tp 16 {DCP}", "16xAscend-950DT", "16xAscend-910C"),
]


@pytest.mark.parametrize(("key", "version", "command", "on", "other"), ON_DEVICES)
def test_a_device_of_ascend(key: str, version: str, command: str, on: str, other: str) -> None:
    assert met(key, ASCEND.format(version) + command, on)
    assert not met(key, ASCEND.format(version) + command, other)
