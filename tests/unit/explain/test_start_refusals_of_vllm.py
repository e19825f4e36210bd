"""Rows of start_refusals*.toml of vLLM: releases that do not refuse, and terms of which a part is not known."""

from __future__ import annotations

import json

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask
from tests.unit.explain.test_start_refusals_of_drafts import found

R1 = "vllm serve deepseek-ai/DeepSeek-R1 -tp 8"
GRAPHS = json.dumps({"mode": 0, "cudagraph_mode": "PIECEWISE"})
NIXL = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
SEGMENTS = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
SIZES = json.dumps({"cudagraph_capture_sizes": [1, 2, 8], "max_cudagraph_capture_size": 8})


@pytest.mark.parametrize(
    ("key", "version", "text"),
    [
        ("async-stages", "0.15.0", f"{R1} -pp 2 --async-scheduling"),
        ("long-threshold", "0.20.0", f"{R1} --max-model-len 4096 --long-prefill-token-threshold 8192"),
        ("graphs-without-compilation", "0.28.0", f"# 8x H200\n{R1} --compilation-config '{GRAPHS}'"),
        ("node-beyond", "0.30.0", f"{R1} --node-rank 1"),
        ("dcp-divides-tp", "0.30.0", f"{R1} --prefill-context-parallel-size 3 --decode-context-parallel-size 3"),
        ("prefill-context-early", "0.13.0", f"{R1} --prefill-context-parallel-size 2"),
        ("partial-prefills", "0.11.0", f"{R1} --max-num-partial-prefills 4"),
        ("nixl-segments", "0.22.0", f"{SEGMENTS} {R1} --enable-sleep-mode {NIXL}"),
    ],
)
def test_a_release_that_does_not_refuse(key: str, version: str, text: str) -> None:
    assert not found(key, text, version)


@pytest.mark.parametrize(
    ("key", "version", "text"),
    [
        ("node-beyond", "0.13.0", f"{R1} --nnodes 2 --node-rank 2"),
        ("nodes-by-ray-ranks", "0.13.0", f"{R1} -dp 2 --nnodes 2 --data-parallel-backend ray"),
        ("dcp-divides-tp", "0.20.0", f"{R1} --decode-context-parallel-size 3"),
        ("external-without-rank", "0.12.0", f"{R1} -dp 2 --data-parallel-external-lb"),
    ],
)
def test_an_early_release_that_refuses(key: str, version: str, text: str) -> None:
    assert [finding.severity for finding in found(key, text, version)] == [Severity.ERROR]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("nodes-share-ranks", "vllm serve deepseek-ai/DeepSeek-R1 -tp $TP --nnodes 3"),
        ("largest-graph-of-list", f"{R1} --cudagraph-capture-sizes 1 $SIZE --max-cudagraph-capture-size 9"),
        ("largest-graph-of-json", f"{R1} --compilation-config '{SIZES}'"),
        ("adapters-draft-step", f"{R1} --enable-lora --max-num-batched-tokens 64 --speculative-config $DRAFTS"),
    ],
)
def test_a_term_that_is_not_known_meets_nothing(key: str, text: str) -> None:
    assert not found(key, text, "0.20.0")


def test_lengths_of_ngrams_that_are_left_out() -> None:
    """Read in 0.11.1 to 0.33.0, config/speculative.py: n-grams of 5 tokens where neither length is given."""
    text = f"""{R1} --speculative-config '{{"method":"ngram","num_speculative_tokens":3}}'"""
    judged = [finding for each in ask(text, "8xH200", "0.20.0") for finding in each.findings]
    assert not any(finding.where == "--speculative-config" for finding in judged)
