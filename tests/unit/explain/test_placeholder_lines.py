"""Words to fill in beside the command: lists of machines, commands that go elsewhere; options that a shell loses."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"
LIST = "WORKER_IPS=(\n  # 10.0.0.1\n)\n"
USED = 'for ip in "${WORKER_IPS[@]}"; do ping $ip; done\n'
LOST = "```bash\nsky launch cluster\n  --gpus H100:8\n  --yes\n```\n```bash\n" + SERVE + "\n```\n"


def found(text: str, words: str) -> list[str]:
    findings = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [finding.message for finding in findings if words in finding.message]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LIST + USED + SERVE, "WORKER_IPS=()"),
        ("ssh <OTHER_NODE> hostname\n" + SERVE, "<OTHER_NODE>"),
        ("hf download your-org/kimi --local-dir /m\n" + SERVE, "your-org/kimi"),
        ("llama-server -m /m/k2.gguf --rpc worker-ip:50052,10.0.0.3:50052", "nothing"),
        ("llama-server -m /m/k2.gguf --rpc worker-ip:50052", "--rpc worker-ip:50052"),
        (LOST, "has no backslash at its end: the shell runs --gpus as a command"),
    ],
)
def test_it_is_said(text: str, words: str) -> None:
    assert len(found(text, words)) == (words != "nothing")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LIST + SERVE, "WORKER_IPS"),
        (LIST + "WORKER_IPS+=(10.0.0.7)\n" + USED + SERVE, "WORKER_IPS"),
        (LIST.replace("# 10.0.0.1", "10.0.0.1") + USED + SERVE, "WORKER_IPS"),
        ("EXTRA_ARGS=(\n  # --enable-metrics\n)\n" + SERVE + ' "${EXTRA_ARGS[@]}"', "EXTRA_ARGS"),
        ("llama-server -m /m/k2.gguf --rpc ship:50052", "to be filled in"),
        ("# ssh <OTHER_NODE> hostname\n" + SERVE, "<OTHER_NODE>"),
        (LOST.replace("cluster\n", "cluster \\\n").replace("H100:8\n", "H100:8 \\\n"), "has no backslash at its end"),
        (LOST.replace("```bash\nsky", "```\nsky"), "has no backslash at its end"),
        (LOST.replace("sky launch cluster", "ARGS=("), "has no backslash at its end"),
        (LOST.replace("  --yes\n", ""), "has no backslash at its end"),
        (LOST.replace("sky launch cluster", "sky launch 'a"), "has no backslash at its end"),
    ],
)
def test_nothing_is_said(text: str, words: str) -> None:
    assert found(text, words) == []
