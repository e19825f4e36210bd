"""Ranks, workers, roles and builds that do not fit each other."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity

NODES = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 -pp 2 --nnodes 2 --master-addr 10.0.0.1 --trust-remote-code"
SGLANG = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp-size 8 --host 0.0.0.0"
HEAD = "llama-server -m /m/kimi-k2-q4_k_m.gguf --rpc 10.0.0.2:50052 -ngl 99"
ROUTER = "python -m sglang_router.launch_router --pd-disaggregation --prefill http://a:1 --decode http://b:2"
BUILD = "cmake -B build -DGGML_CUDA=ON\ncmake --build build --config Release -j"
SERVER = "./build/bin/llama-server -m /m/kimi-k2-q4_k_m.gguf"


def found(text: str, words: str) -> list[Finding]:
    findings = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [finding for finding in findings if words in f"{finding.where} {finding.message} {finding.remedy}"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{NODES} --node-rank $NODE_RANK", "every rank starts an API server"),
        (f"{NODES} --node-rank 0\n{NODES} --node-rank 1", "rank 1 of 2 starts an API server of its own"),
        (f"./build/bin/rpc-server -p 50052\n{HEAD}", "rpc-server -p 50052 listens on 127.0.0.1"),
        (f"rpc-server\n{HEAD}", "rpc-server listens on 127.0.0.1"),
        (f"A=(\n  --tp-size 8\n  # --disaggregation-mode decode\n)\n{SGLANG}\n{ROUTER}", "which the router counts on"),
        (
            f"{SGLANG} --disaggregation-mode prefill\n"
            f"B=(\n  --tp-size 8\n  #--disaggregation-mode decode\n  --port 1\n)\n{SGLANG}",
            "which the prefill server counts on",
        ),
        (f"{BUILD} --target llama-cli llama-quantize\n{SERVER}", "and not llama-server"),
        (f"{BUILD} --target=llama-cli -t llama-bench --clean-first\n{SERVER}", "llama-cli, llama-bench alone"),
    ],
)
def test_they_do_not_fit(text: str, words: str) -> None:
    assert [finding.severity for finding in found(text, words)] == [Severity.WARNING]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{NODES} --node-rank 0\n{NODES} --node-rank 1 --headless", "--headless"),
        (f"[ $R -gt 0 ] && MORE=--headless\n{NODES} --node-rank $R", "every rank starts an API server"),
        (f"[ $R -gt 0 ] && MORE=--headless\n{NODES} --node-rank $R $MORE", "every rank starts an API server"),
        (f"{SGLANG} --nnodes 2 --node-rank 1 --dist-init-addr 10.0.0.1:5000", "API server of its own"),
        (f"rpc-server -H 0.0.0.0 -p 50052\n{HEAD}", "listens on"),
        (f"rpc-server --host 10.0.0.2\n{HEAD}", "listens on"),
        (f"rpc-server -p 50052\n{HEAD}".replace("10.0.0.2", "127.0.0.1"), "listens on"),
        (f"# rpc-server -p 50052\n{HEAD}", "listens on"),
        (f"# --disaggregation-mode decode\n{SGLANG}", "commented out"),
        (
            f"# python -m x --tp-size 8 \\\n#   --disaggregation-mode decode\n{SGLANG} --disaggregation-mode prefill",
            "commented out",
        ),
        (f"Start the rpc-server\ncmake --build build --target rpc-server -j 8\n{HEAD}", "listens on"),
        (f"rpc-server -p $PORT $MORE\n{HEAD}", "listens on"),
        (f"{NODES} --node-rank 0 -dp 2\n{NODES} --node-rank 1 -dp 2", "API server of its own"),
        (
            f"{SGLANG} --disaggregation-mode prefill\n# --disaggregation-mode decode\n"
            f"{SGLANG} --disaggregation-mode decode",
            "commented out",
        ),
        (f"{BUILD}\n{SERVER}", "and not llama-server"),
        (f"{BUILD} --target llama-cli llama-server\n{SERVER}", "and not llama-server"),
        (f"{BUILD} --target llama-cli\n{BUILD} -t llama-server\n{SERVER}", "and not llama-server"),
        (f"{BUILD} --target install\n{SERVER}", "and not llama-server"),
        (f"{BUILD} --target $WHAT llama-cli\n{SERVER}", "and not llama-server"),
    ],
)
def test_they_fit_or_it_is_not_known(text: str, words: str) -> None:
    assert found(text, words) == []
