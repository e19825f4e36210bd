"""Variables that a text sets for the words of its own command do not stand before the line that has their values."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

WORDS = "vllm serve $MODEL --tensor-parallel-size ${TP} --trust-remote-code --kv-cache-dtype fp8_e5m2"
SET = "export MODEL=nvidia/Kimi-K2.5-NVFP4\nexport TP=8\nexport NCCL_DEBUG=WARN\n"
IMAGE = """\
FROM vllm/vllm-openai:v0.18.0
ENV MODEL_NAME="nvidia/Kimi-K2.5-NVFP4" TP_SIZE=8 \\
    HF_HUB_OFFLINE=1
ENTRYPOINT ["/bin/bash", "-c"]
CMD ["vllm serve ${MODEL_NAME} --tensor-parallel-size ${TP_SIZE} --trust-remote-code --kv-cache-dtype fp8_e5m2"]
"""


def variables(text: str) -> set[str]:
    (judged,) = ask(text)
    (line,) = judged.corrected
    return set(line.env)


@pytest.mark.parametrize(("text", "left"), [(f"{SET}{WORDS}\n", {"NCCL_DEBUG"}), (IMAGE, {"HF_HUB_OFFLINE"})])
def test_they_are_left_out(text: str, left: set[str]) -> None:
    assert variables(text) == left


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"{SET}export HF_HOME=/data\n{WORDS} --download-dir $HF_HOME\n", "HF_HOME"),
        (f"{SET}export OMP_NUM_THREADS=8\n{WORDS}\n", "OMP_NUM_THREADS"),
        (f"{SET}export MASTER_PORT=1\n{WORDS} --port $MASTER_PORT\n", "MASTER_PORT"),
        (f"{SET}export PORT=8000\n{WORDS}\n", "PORT"),
    ],
)
def test_what_a_library_reads_or_nothing_has_used_stays(text: str, kept: str) -> None:
    assert kept in variables(text)
