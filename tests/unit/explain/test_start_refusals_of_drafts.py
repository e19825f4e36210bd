"""Rows of start_refusals.toml on drafts, DeepEP's modes, half precision, and sizes in JSON against options."""

from __future__ import annotations

import pytest

from moonpad.catalog.start_refusals import start_refusals
from moonpad.values.finding import Finding, Severity
from tests.unit.explain.refusals_told import told

K3 = "sglang serve --model-path moonshotai/Kimi-K3 --trust-remote-code --tp-size 16 --dp-size 2 --enable-dp-attention"
R1 = "sglang serve --model-path deepseek-ai/DeepSeek-R1 --tp-size 8"
ASCEND = "export IMAGE=quay.io/ascend/vllm-ascend:v0.23.0\nvllm serve /data/Kimi-K3-w4a8 --quantization ascend -tp 16"
MEGA = """--additional-config '{"enable_fused_mc2":2,"mega_moe_max_tokens":%d}' --max-num-batched-tokens %d"""
LMCACHE = """--kv-transfer-config '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'"""
NIXL = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
VLLM = "vllm serve deepseek-ai/DeepSeek-R1-0528 -tp 8"
DSPARK = "--speculative-algorithm DSPARK --speculative-draft-model-path RadixArk/Kimi-K3-DSpark"
DFLASH = "--speculative-algorithm DFLASH --speculative-draft-model-path z-lab/Kimi-K2.5-DFlash"
K25 = "sglang serve --model-path moonshotai/Kimi-K2.5 --trust-remote-code --tp-size 8"

ROWS = [
    ("sgl-dspark-head", "0.5.23", f"{K3} {DSPARK}", f"{K3} {DSPARK} --enable-dp-lm-head"),
    (
        "sgl-dspark-experts",
        "0.5.17",
        f"{K3} {DSPARK} --enable-dp-lm-head --moe-a2a-backend deepep",
        f"{K3} {DSPARK} --enable-dp-lm-head --moe-a2a-backend none",
    ),
    (
        "sgl-dflash-head",
        "0.5.23",
        f"{K25} --dp-size 8 --enable-dp-attention {DFLASH}",
        f"{K25} --dp-size 1 --enable-dp-attention {DFLASH}",
    ),
    ("sgl-dflash-stages", "0.5.23", f"{K25} --pp-size 2 {DFLASH}", f"{K25} --pp-size 1 {DFLASH}"),
    ("sgl-dflash-draft", "0.5.23", f"{K25} --speculative-algorithm DFLASH", f"{K25} {DFLASH}"),
    (
        "sgl-dflash-block",
        "0.5.23",
        f"{K25} {DFLASH} --speculative-num-draft-tokens 8 --speculative-dflash-block-size 16",
        f"{K25} {DFLASH} --speculative-num-draft-tokens 16 --speculative-dflash-block-size 16",
    ),
    (
        "sgl-deepep-normal-cutedsl",
        "0.5.23",
        f"{R1} --moe-a2a-backend deepep --moe-runner-backend flashinfer_cutedsl --deepep-mode normal",
        f"{R1} --moe-a2a-backend deepep --moe-runner-backend flashinfer_cutedsl --deepep-mode auto",
    ),
    (
        "sgl-deepep-normal-decodes",
        "0.5.9",
        f"{R1} --moe-a2a-backend deepep --deepep-mode normal --disaggregation-mode decode",
        f"{R1} --moe-a2a-backend deepep --deepep-mode normal --disaggregation-mode prefill",
    ),
    (
        "sgl-deepep-normal-alone",
        "0.5.9",
        f"{R1} --moe-a2a-backend deepep --deepep-mode normal",
        f"{R1} --moe-a2a-backend deepep --deepep-mode normal --disable-cuda-graph",
    ),
    ("half-precision", "0.5.9", f"{R1} --dtype float16", f"{R1} --dtype bfloat16"),
    ("half-precision-awq", "", "vllm serve cognitivecomputations/DeepSeek-R1-AWQ --dtype half", f"{VLLM} --dtype half"),
    (
        "half-precision-awq",
        "0.20.0",
        "vllm serve me/Kimi-K2-AWQ -tp 8 --dtype float16",
        f"{VLLM} --dtype auto",
    ),
    ("ascend-buffer-of-experts", "", f"{ASCEND} {MEGA % (6144, 8192)}", f"{ASCEND} {MEGA % (16384, 8192)}"),
    (
        "kt-folder-of-model",
        "",
        "python -m ktransformers.local_chat --gguf_path /w/R1",
        "python -m ktransformers.local_chat --gguf_path /w/R1 --model_path deepseek-ai/DeepSeek-R1",
    ),
    ("lmcache-decode-context", "0.20.0", f"{VLLM} -dcp 4 {LMCACHE}", f"{VLLM} {LMCACHE}"),
    ("lmcache-decode-context", "", f"{VLLM} -dcp 8 {LMCACHE}", f"{VLLM} -dcp 8 {NIXL}"),
    (
        "lmcache-decode-context-backend",
        "0.23.0",
        f"{VLLM} -dcp 4 --kv-offloading-size 64 --kv-offloading-backend lmcache",
        f"{VLLM} -dcp 4 --kv-offloading-size 64 --kv-offloading-backend native",
    ),
]


def found(key: str, text: str, version: str) -> list[Finding]:
    """What is said by the row, on CUDA where the text is not of the Ascend plugin."""
    return told(key, text, version, "8xH200" if "vllm-ascend" not in text else "")


@pytest.mark.parametrize(("key", "version", "told", "quiet"), ROWS)
def test_a_row_is_told_of_its_command_alone(key: str, version: str, told: str, quiet: str) -> None:
    findings = found(key, told, version)
    assert findings
    row = start_refusals()[key]
    assert not row.warns or all(finding.severity is not Severity.ERROR for finding in findings)
    assert not found(key, quiet, version)


def test_a_release_that_does_not_compare_them_says_nothing() -> None:
    assert not found("sgl-dspark-head", f"{K3} {DSPARK}", "0.5.15.post1")
    assert found("sgl-dspark-head", f"{K3} {DSPARK}", "0.5.16")[0].severity is Severity.ERROR
    assert found("sgl-dspark-head", f"{K3} {DSPARK}", "")[0].severity is Severity.WARNING


def test_a_size_in_a_variable_is_not_compared() -> None:
    open_ended = MEGA.replace("%d}' --max-num-batched-tokens %d", "6144}' --max-num-batched-tokens $TOKENS")
    assert not found("ascend-buffer-of-experts", f"{ASCEND} {open_ended}", "")
