"""GGUF files of models that are not planned, against the devices that all layers are to lie on."""

from __future__ import annotations

import pytest

from moonpad.catalog.gguf import least_bits
from tests.unit.explain.judging import ask


def told(machine: str, command: str) -> list[str]:
    findings = [each for judged in ask(f"On {machine}:\n\n```\n{command}\n```\n") for each in judged.findings]
    return [each.message for each in findings if "all layers are to lie" in each.message]


@pytest.mark.parametrize(
    ("machine", "command", "part"),
    [
        ("1x RTX 4090", "llama-server -m m/Qwen3-32B-Q8_0.gguf -ngl 99", "1 device holds 24 GiB"),
        ("2x RTX 4090", "llama-server -hf unsloth/Qwen3-235B-A22B-GGUF:Q4_K_M -ngl 999", "2 devices hold"),
        (
            "1x H100",
            "llama-cli -m Qwen3-235B-A22B-UD-Q4_K_XL-00001-of-00003.gguf --n-gpu-layers all",
            "Qwen3-235B-A22B",
        ),
    ],
)
def test_weights_that_the_devices_do_not_hold(machine: str, command: str, part: str) -> None:
    (message,) = told(machine, command)
    assert part in message


@pytest.mark.parametrize(
    ("machine", "command"),
    [
        ("1x RTX 4090", "llama-server -m m/Qwen3-32B-Q4_K_M.gguf -ngl 99"),
        ("1x RTX 4090", "llama-server -m m/Qwen3-32B-Q8_0.gguf -ngl 30"),
        ("1x RTX 4090", "llama-server -m m/Qwen3-32B-Q8_0.gguf"),
        ("1x RTX 4090", "llama-server -m m/Qwen3-235B-A22B-Q4_K_M.gguf -ngl 99 --cpu-moe"),
        ("1x RTX 4090", 'llama-server -m m/Qwen3-235B-A22B-Q4_K_M.gguf -ngl 99 -ot "exps=CPU"'),
        ("1x RTX 4090", "llama-server -m m/gpt-oss-20b-Q8_0.gguf -ngl 99"),
        ("8x H200", "llama-server -m m/Qwen3-235B-A22B-Q8_0.gguf -ngl 99"),
    ],
)
def test_what_fits_or_lies_elsewhere(machine: str, command: str) -> None:
    assert not told(machine, command)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("a-Q8_0.gguf", 8.5, 8.5),
        ("a-UD-Q4_K_XL-00001-of-00002.gguf", 3.8, 4.3),
        ("a:IQ4_XS", 4.2, 4.3),
        ("a.gguf", 0, 0),
    ],
)
def test_the_least_bits_of_a_type(name: str, low: float, high: float) -> None:
    assert low <= least_bits(name) <= high
