"""Rows of start_refusals.toml that are read in the engines' sources: each with a command, and one that starts."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.test_start_refusals_of_drafts import found

OSS = "vllm serve openai/gpt-oss-120b -tp 8"
R1 = "vllm serve deepseek-ai/DeepSeek-R1 -tp 8"
SGL_OSS = "sglang serve --model-path openai/gpt-oss-120b --tp-size 8"
SGL_R1 = "sglang serve --model-path deepseek-ai/DeepSeek-R1 --tp-size 8"
NEXT = "sglang serve --model-path Qwen/Qwen3-Next-80B-A3B-Instruct --tp-size 8 --speculative-algorithm NEXTN"
V32 = "sglang serve --model-path deepseek-ai/DeepSeek-V3.2 --tp-size 8"
EAGLE3 = '{"method":"eagle3","model":"a/b","num_speculative_tokens":3}'


def drafts(text: str) -> str:
    return f"{R1} --speculative-config '{text}'"


DSPARK = drafts('{"method":"dspark","num_speculative_tokens":3}')


SOURCES = [
    (
        "sinks-of-backend",
        "0.20.0",
        f"{OSS} --attention-backend TREE_ATTN",
        f"{OSS} --attention-backend TRITON_ATTN",
    ),
    (
        "sinks-of-backend-by-variable",
        "0.10.2",
        f"VLLM_ATTENTION_BACKEND=XFORMERS {OSS}",
        f"VLLM_ATTENTION_BACKEND=TRITON_ATTN {OSS}",
    ),
    (
        "dense-backend-variable-of-sparse",
        "0.12.0",
        "VLLM_ATTENTION_BACKEND=FLASH_ATTN_MLA vllm serve deepseek-ai/DeepSeek-V3.2",
        "VLLM_ATTENTION_BACKEND=FLASHMLA_SPARSE vllm serve deepseek-ai/DeepSeek-V3.2",
    ),
    (
        "mla-backend-variable-of-plain",
        "0.13.0",
        f"VLLM_ATTENTION_BACKEND=TRITON_MLA {OSS}",
        f"VLLM_ATTENTION_BACKEND=TRITON_ATTN {OSS}",
    ),
    (
        "sinks-of-sgl-backend",
        "0.5.9",
        f"{SGL_OSS} --attention-backend flashinfer",
        f"{SGL_OSS} --attention-backend triton",
    ),
    ("nvfp4-cache-of-mla", "0.23.0", f"{R1} --kv-cache-dtype nvfp4", f"{R1} --kv-cache-dtype fp8"),
    (
        "mamba-block-without-prefix",
        "0.20.0",
        f"{R1} --mamba-block-size 64",
        f"{R1} --mamba-block-size 64 --enable-prefix-caching",
    ),
    ("pcp-with-dp", "0.27.0", f"{R1} --prefill-context-parallel-size 2 -dp 2", f"{R1} -dp 2"),
    ("dcp-divides-tp", "0.27.0", f"{R1} --decode-context-parallel-size 3", f"{R1} --decode-context-parallel-size 4"),
    (
        "elastic-without-eplb",
        "0.20.0",
        f"{R1} --enable-elastic-ep --enable-expert-parallel",
        f"{R1} --enable-elastic-ep --enable-expert-parallel --enable-eplb",
    ),
    ("elastic-with-stages", "0.20.0", f"{R1} -pp 2 --enable-elastic-ep", f"{R1} --enable-elastic-ep"),
    (
        "draft-tp-name",
        "0.20.0",
        drafts(EAGLE3.replace("}", ',"tensor_parallel_size":1}')),
        drafts(EAGLE3.replace("}", ',"draft_tensor_parallel_size":1}')),
    ),
    ("draft-without-number", "0.22.0", drafts('{"method":"eagle3","model":"a/b"}'), drafts(EAGLE3)),
    (
        "routed-experts-stages",
        "0.23.0",
        f"{R1} -pp 2 --enable-return-routed-experts",
        f"{R1} --enable-return-routed-experts",
    ),
    (
        "async-padded-draft",
        "0.20.0",
        drafts(EAGLE3.replace("}", ',"disable_padded_drafter_batch":true}')) + " --async-scheduling",
        drafts(EAGLE3) + " --async-scheduling",
    ),
    (
        "pcp-needs-v2",
        "0.27.0",
        f"VLLM_USE_V2_MODEL_RUNNER=0 {R1} --prefill-context-parallel-size 2",
        f"{R1} --prefill-context-parallel-size 2",
    ),
    (
        "dspark-dcp",
        "0.27.0",
        f"{DSPARK} --decode-context-parallel-size 2".replace("deepseek-ai/DeepSeek-R1", "moonshotai/Kimi-K3"),
        f"{DSPARK} --decode-context-parallel-size 2",
    ),
    ("numa-without-bind", "0.21.0", f"{R1} --numa-bind-nodes 0", f"{R1} --numa-bind-nodes 0 --numa-bind"),
    ("sgl-mamba-drafts", "0.5.10", NEXT, f"{NEXT} --mamba-scheduler-strategy extra_buffer"),
    (
        "sgl-mamba-extra-no-radix",
        "0.5.10",
        f"{NEXT} --mamba-scheduler-strategy extra_buffer --disable-radix-cache",
        f"{NEXT} --mamba-scheduler-strategy extra_buffer",
    ),
    (
        "sgl-dp-head-alone",
        "0.5.2",
        f"{SGL_R1} --enable-dp-lm-head",
        f"{SGL_R1} --enable-dp-lm-head --enable-dp-attention",
    ),
    ("sgl-eplb-one", "0.5.9", f"{SGL_R1} --enable-eplb", f"{SGL_R1} --enable-eplb --ep-size 8"),
    (
        "sgl-a2a-flashinfer",
        "0.5.10",
        f"{SGL_R1} --moe-a2a-backend flashinfer",
        f"{SGL_R1} --moe-a2a-backend flashinfer --moe-runner-backend flashinfer_cutlass",
    ),
    ("sgl-dsa-cache", "0.5.10", f"{V32} --kv-cache-dtype fp8_e5m2", f"{V32} --kv-cache-dtype fp8_e4m3"),
    (
        "sgl-dsa-cp-decode",
        "0.5.10",
        f"{V32} --enable-nsa-prefill-context-parallel --disaggregation-mode decode",
        f"{V32} --enable-nsa-prefill-context-parallel --disaggregation-mode prefill",
    ),
    (
        "sgl-triton-kernel-ep",
        "0.5.9",
        f"{SGL_OSS} --moe-runner-backend triton_kernel --ep-size 8",
        f"{SGL_OSS} --moe-runner-backend triton_kernel",
    ),
    (
        "sgl-llama4-backend",
        "0.5.9",
        "sglang serve --model-path meta-llama/Llama-4-Scout-17B-16E --attention-backend flashinfer",
        "sglang serve --model-path meta-llama/Llama-4-Scout-17B-16E --attention-backend fa3",
    ),
    (
        "sgl-flex-drafts",
        "0.5.9",
        f"{SGL_R1} --attention-backend flex_attention --speculative-algorithm NEXTN",
        f"{SGL_R1} --attention-backend flex_attention",
    ),
    ("sgl-attn-cp", "0.5.10", f"{SGL_R1} --attn-cp-size 3", f"{SGL_R1} --attn-cp-size 2"),
    ("sgl-moe-dp", "0.5.10", f"{SGL_R1} --moe-dp-size 3", f"{SGL_R1} --moe-dp-size 2"),
    (
        "sgl-dp-attention-divides",
        "0.5.9",
        f"{SGL_R1} --enable-dp-attention --dp-size 3",
        f"{SGL_R1} --enable-dp-attention --dp-size 4",
    ),
]


@pytest.mark.parametrize(("key", "version", "told", "quiet"), SOURCES)
def test_a_row_is_told_of_its_command_alone(key: str, version: str, told: str, quiet: str) -> None:
    findings: list[Finding] = found(key, told, version)
    assert any(finding.severity in (Severity.ERROR, Severity.WARNING) for finding in findings)
    assert not found(key, quiet, version)
