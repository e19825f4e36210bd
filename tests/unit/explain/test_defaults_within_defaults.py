"""Compose fills in a default that is a reference itself: `${TP:-${GPUS:-8}}`."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, ask_one

COMPOSE = """services:
  llm:
    image: vllm/vllm-openai:v0.24.0
    ipc: host
    environment:
      - OMP_NUM_THREADS=%s
      - HF_TOKEN=${HF_TOKEN:-}
    entrypoint: ["vllm", "serve", "moonshotai/Kimi-K2-Thinking"]
    command: ["-tp", "%s", "--trust-remote-code", "--num-gpu-block-override", "100"]
"""


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("${TP:-${GPUS:-8}}", 8),
        ("${TP:-${GPUS-8}}", 8),
        ("${TP:-${GPUS:-${CARDS:-16}}}", 16),
        ("${TP:-8}", 8),
    ],
)
def test_the_inner_default_is_taken(written: str, expected: int) -> None:
    judged = ask_one(COMPOSE % (4, written))
    assert judged.layout is not None
    assert judged.layout.tp == expected
    assert not judged.unknown


def test_what_has_no_default_stays_unknown() -> None:
    assert "tp" in ask_one(COMPOSE % (4, "${TP:-${GPUS}}")).unknown


def test_the_corrected_command_has_the_values_and_empties_no_token() -> None:
    (line,) = ask_one(COMPOSE % ("${OMP:-${THREADS:-4}}", 8)).corrected
    assert line.env == {"OMP_NUM_THREADS": "4"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--rm --privileged multiarch/qemu-user-static --reset -p yes", False),
        ("--privileged --rm tonistiigi/binfmt --install all", False),
        ("--rm --privileged --gpus all vllm/vllm-openai:v0.24.0 --model moonshotai/Kimi-K2-Instruct", True),
        ("-it --rm --privileged nvcr.io/nvidia/pytorch:26.01-py3 bash", True),
        ("-d --privileged --name box lmsysorg/sglang:v0.5.20 sleep infinity", True),
    ],
)
def test_a_container_that_registers_programs_in_the_kernel_needs_its_rights(options: str, expected: bool) -> None:
    text = f"docker run {options}\nvllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 8\n"
    told = [finding.where for judged in ask(text) for finding in judged.all_findings]
    assert ("--privileged" in told) is expected
