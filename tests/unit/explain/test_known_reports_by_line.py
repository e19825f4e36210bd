"""Each report with a command that meets it and one that, by one thing, does not."""

from __future__ import annotations

import pytest

from moonpad.catalog.known_reports import known_reports
from tests.unit.explain.test_known_report_samples import SAMPLES
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
        "asc-chunked-with-scheduler",
        "0.10.2rc1",
        f"{R1} -tp 16 --enable-prefix-caching --enable-chunked-prefill {SCHEDULER}",
        "",
        "0.11.0rc0",
    ),
    ("ascend-multistream-w8a8", "0.10.0rc1", f"/w/DeepSeek-R1-W8A8 -tp 16 {STREAMS}", "", "0.10.1rc1"),
    ("ascend-multistream-mask", "0.10.1rc1", f"/w/DeepSeek-R1-W8A8 -tp 16 {STREAMS}", "", "0.10.2rc1"),
    ("asc-0100-mtp", "0.10.0rc1", f"/w/DeepSeek-R1-W8A8 -tp 16 {MTP}", "", "0.10.1rc1"),
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
    (
        "ascend-k27-dflash-transfer",
        "0.22.1rc1",
        f"""/w/Kimi-K2.7-Code-w4a8 -tp 16 {CONSUMER} --speculative-config \
'{{"method":"dflash","model":"/d/Kimi-K2.5-DFlash","num_speculative_tokens":7}}'""",
        "",
        "0.23.0rc1",
    ),
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
    ("ascend-k3-prefill-long", "0.26.0rc1", f"vllm serve {K3} -tp 16 {PRODUCER}", "16xAscend-910C", "16xAscend-950DT"),
    ("ascend-k25-mc2-memory", "0.22.1rc1", f"{FUSED}vllm serve {K25} -tp 16", "16xAscend-910C", "16xAscend-910B"),
    ("ascend-950-sparse-cp", "0.23.0", f"vllm serve {V32} -tp 16 {DCP}", "16xAscend-950DT", "16xAscend-910C"),
]


@pytest.mark.parametrize(("key", "version", "command", "on", "other"), ON_DEVICES)
def test_a_device_of_ascend(key: str, version: str, command: str, on: str, other: str) -> None:
    assert met(key, ASCEND.format(version) + command, on)
    assert not met(key, ASCEND.format(version) + command, other)


DSPARK = """--speculative-config '{"method":"dspark","model":"/d/dspark","num_speculative_tokens":3}'"""
NIXL = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
AITER = "VLLM_ROCM_USE_AITER=1 "
ROCM_K3 = "export IMAGE=vllm/vllm-openai-rocm:kimi-k3\n"
V3, R1_AWQ, NVFP4 = "deepseek-ai/DeepSeek-V3", "/w/DeepSeek-R1-AWQ", "nvidia/Kimi-K2.5-NVFP4"
V32_FP8, K2T = "deepseek-ai/DeepSeek-V3.2", "moonshotai/Kimi-K2-Thinking"
MTP3 = MTP.replace('":1', '":3')
LINEAR = "moonshotai/Kimi-Linear-48B-A3B-Instruct"
PARSERS = "--tool-call-parser kimi_k2 --reasoning-parser kimi_k2"

ON_VLLM = [
    ("rocm-fp4-bmm", f"{AITER}vllm serve {V3} -tp 8", "8xMI300X", "0.16.0", "0.17.1"),
    ("rocm-r1-gemm-019", f"{AITER}vllm serve {R1} -tp 8", "8xMI300X", "0.19.1", "0.20.0"),
    ("rocm-fp8-bmm-dp", f"{AITER}vllm serve {V3} -dp 8", "8xMI300X", "0.27.1", "0.28.0"),
    ("rocm-vskip", f"{AITER}vllm serve {R1} -tp 8", "8xMI300X", "0.14.1", "0.18.0"),
    ("rocm-r1-full-context", f"vllm serve {R1} -tp 8", "8xMI300X", "0.7.3", "0.8.0"),
    ("moe-32768-tokens", f"vllm serve {R1} -tp 8 --max-num-batched-tokens 38768", "", "0.7.3", "0.8.0"),
    ("r1-awq-eight", f"vllm serve {R1_AWQ} -tp 8", "", "0.8.2", "0.8.3"),
    ("r1-awq-ten", f"vllm serve {R1_AWQ} -tp 8", "", "0.10.1.1", "0.9.2"),
    ("mtp-nine", f"vllm serve {R1} -tp 8 {MTP}", "", "0.9.1", "0.9.2"),
    (
        "fp4-experts-flashinfer",
        "VLLM_USE_FLASHINFER_MOE_FP4=1 vllm serve nvidia/DeepSeek-R1-FP4 -tp 8",
        "8xB200",
        "0.10.1.1",
        "0.11.0",
    ),
    ("v32-mtp-eleven", f"vllm serve {V32_FP8} -tp 8 {MTP}", "", "0.11.0", "0.12.0"),
    ("v32-mtp-many", f"vllm serve {V32_FP8} -tp 8 {MTP3}", "8xH200", "0.13.0", "0.17.0"),
    ("async-pd", f"vllm serve {V3} -tp 8 --async-scheduling {NIXL}", "", "0.11.0", "0.12.0"),
    ("sm120-deepgemm-fp8", f"vllm serve {R1} -tp 8 -pp 2", "2x8xRTX-PRO-6000", "0.24.0", "0.23.0"),
    ("offload-dspark", f"vllm serve {K3} -tp 8 --cpu-offload-gb 25 {DSPARK}", "", "0.26.0", "0.27.0"),
    ("dspark-nixl", f"vllm serve /w/GLM-5.2-FP8 -tp 8 {DSPARK} {NIXL}", "", "0.25.1", "0.26.0"),
    ("deepep-v2-graphs", f"vllm serve {K3} -dp 16 {EP} --all2all-backend deepep_v2", "", "0.28.0", "0.29.0"),
    ("h200-nvl-fused", f"# 8x H200 NVL\nvllm serve {K26} -tp 8", "", "0.26.0", "0.23.0"),
    ("eagle3-target-kimi", f"vllm serve {K2} -tp 8 {EAGLE3}", "", "0.13.0", "0.18.0"),
    ("k2t-marlin-wide", f"vllm serve {K2T} -tp 8 -dp 4 {EP}", "4x8xH20", "0.11.2", "0.12.0"),
    ("k2-reasoning-tools", f"vllm serve {K2T} -tp 8 {PARSERS}", "", "0.14.1", "0.16.0"),
    ("k25-no-reasoning", f"vllm serve {K25} -tp 8 {PARSERS}", "", "0.17.1", "0.18.1"),
    ("k26-forced-tools", f"vllm serve {K26} -tp 8 {PARSERS}", "", "0.21.0", "0.22.1"),
    ("k25-tokens-transformers", f"vllm serve {K25} -tp 8 {PARSERS}", "", "0.19.1", "0.20.0"),
    ("k25-nixl-inspection", f"vllm serve {NVFP4} -tp 4 {NIXL}", "4xGB200", "0.19.1", "0.20.0"),
    ("k25-nvfp4-capture", f"vllm serve {NVFP4} -tp 8", "", "0.19.0", "0.19.1"),
    ("k25-int4-gb10", f"vllm serve {K25} -tp 16", "16xGB10", "0.19.1", "0.20.0"),
    (
        "k26-nvfp4-remote-code",
        "vllm serve nvidia/Kimi-K2.6-NVFP4 -tp 4 --trust-remote-code",
        "",
        "0.23.0",
        "0.24.0",
    ),
    ("kimi-linear-dp", f"vllm serve {LINEAR} -tp 4 -dp 2", "", "0.11.1", "0.11.2"),
    ("kimi-linear-early", f"vllm serve {LINEAR} -tp 4", "", "0.11.1rc6", "0.11.1"),
    ("kimi-vl-early", "vllm serve moonshotai/Kimi-VL-A3B-Instruct", "", "0.8.4", "0.8.5"),
    ("k3-dcp-early", f"vllm serve {K3} -tp 8 {DCP}", "", "0.27.1", "0.28.0"),
    ("k3-tools-lost", f"vllm serve {K3} -tp 8 --tool-call-parser kimi_k3", "", "0.33.0", "0.34.0"),
    ("k3-mnnvl", f"vllm serve {K3} -tp 16 --nnodes 2 --node-rank 0", "2x8xB300", "0.27.1", "0.28.0"),
    (
        "k3-fp8-twelve-heads",
        f"vllm serve {K3} -tp 8 --kv-cache-dtype fp8 {DSPARK}",
        "8xMI355X",
        "0.27.0",
        "0.28.0",
    ),
]
V4F = "deepseek-ai/DeepSeek-V4-Flash-0731"
V4P = "deepseek-ai/DeepSeek-V4-Pro"
OFFLOAD = NIXL.replace("NixlConnector", "OffloadingConnector")
LATE = [
    ("trtllm-experts-dp", f"vllm serve {K25} -dp 4 {EP} --moe-backend flashinfer_trtllm", "4xB200", "0.27.1", "0.29.0"),
    ("k3-kda-access", f"vllm serve {K3} -tp 8 {DSPARK}", "", "0.28.0", "0.29.0"),
    ("v4-flash-sm120-027", f"vllm serve {V4F} -tp 2", "2xRTX-PRO-6000", "0.27.1", "0.26.0"),
    ("v4-flash-all-reduce", f"vllm serve {V4F} -tp 4", "4xH800", "0.27.1", "0.26.0"),
    ("v4-pro-blockscale", f"vllm serve {V4P} -tp 16", "2x8xH100", "0.25.1", "0.26.0"),
    ("v4-offload-days", f"vllm serve {V4P} -tp 8 {OFFLOAD}", "", "0.28.0", "0.29.0"),
    ("v4-flash-dp-warmup", f"vllm serve {V4F} -tp 8 -dp 2", "", "0.28.0", "0.27.1"),
]
GGUF = "llama-server -m /w/{}-Q4_K_M.gguf "
ON_LLAMA = [
    ("llama-copy-limit", GGUF.format("Kimi-K2-Thinking") + "-c 262144 -b 4096 -ub 4096", "", "b7499", "b7600"),
    ("llama-k25-fattn", GGUF.format("Kimi-K2.5") + "-c 262144", "1xRTX3090", "b7850", "b7800"),
    ("llama-k2-tools", GGUF.format("Kimi-K2-Instruct") + "--jinja", "", "b6073", "b7200"),
    ("llama-deepseek-tools", GGUF.format("DeepSeek-V3-0324") + "--jinja", "", "b5763", "b6000"),
    ("llama-rpc-attention", GGUF.format("DeepSeek-R1") + "-fa --rpc 10.0.0.2:50052", "", "b5880", "b6000"),
    ("llama-v3-mixed-may", GGUF.format("DeepSeek-V3-0324") + "-ot exps=CPU", "", "b5345", "b5400"),
    ("llama-huge-batch", GGUF.format("DeepSeek-R1") + "-b 16384 -ub 16384", "", "b5740", "b5900"),
]


@pytest.mark.parametrize(("key", "text", "on", "version", "other"), [*ON_VLLM, *LATE, *ON_LLAMA])
def test_a_release(key: str, text: str, on: str, version: str, other: str) -> None:
    assert met(key, text, on, version)
    assert not met(key, text, on, other)


K3_IMAGE = f"docker run vllm/vllm-openai:{{}} --model {K3} -tp 8 --tool-call-parser kimi_k3"
DRAFTED = f"{ASCEND.format('0.23.0')}vllm serve {K26} -tp 16 {EAGLE3}"
OF_MLA = DRAFTED.replace("/d/eagle3", "/d/kimi-k2.6-eagle3.1-mla")
K3_DRAFTED = f"{ROCM_K3}vllm serve {K3} -tp 8 {DSPARK}"
K3_NGRAM = K3_DRAFTED.replace("dspark", "ngram")

NIGHTLY = f"docker run rocm/vllm-dev:nightly vllm serve {K2T} -tp 8"

SEVEN = K3_DRAFTED.replace("rocm:kimi-k3", "rocm:nightly").replace('tokens":3', 'tokens":7')

IN_IMAGES = [
    ("k3-triton-layout", "8xMI355X", SEVEN, "8xMI355X", SEVEN.replace('tokens":7', 'tokens":2')),
    ("k3-arguments-late", "8xB300", K3_IMAGE.format("kimi-k3"), "8xB300", K3_IMAGE.format("v0.29.0")),
    ("k3-aiter-gfx942-mla", "8xMI325X", f"{ROCM_K3}{AITER}vllm serve {K3} -tp 8", "8xMI355X", ""),
    ("k3-dspark-gfx950", "8xMI355X", K3_DRAFTED, "8xMI325X", ""),
    ("k3-ngram-rocm", "8xMI300X", K3_NGRAM, "8xB300", ""),
    ("kimi-mla-draft-list", "16xAscend-910C", OF_MLA, "16xAscend-910C", DRAFTED),
    ("k2t-host-memory", "8xMI300X", NIGHTLY, "8xMI355X", ""),
]


@pytest.mark.parametrize(("key", "on", "text", "other", "instead"), IN_IMAGES)
def test_an_image_or_devices(key: str, on: str, text: str, other: str, instead: str) -> None:
    assert met(key, text, on)
    assert not met(key, instead or text, other)


def test_numbers_of_a_fork_are_not_llama_cpps() -> None:
    """ik_llama.cpp counts its builds anew: 4428 is of 2026 there."""
    assert reported(GGUF.format("Kimi-K2-Instruct") + "--jinja -c 262144 -ub 4096", "", "b4428") == []


def test_each_row_has_a_sample() -> None:
    """But for the first 95, which test_known_reports.py asks for by their commands."""
    tables = (ON_ASCEND, ON_DEVICES, ON_VLLM, LATE, ON_LLAMA, IN_IMAGES)
    here = {str(row[0]) for table in tables for row in table}
    assert len(known_reports().keys() - here - SAMPLES.keys()) <= 95
