"""What is proposed where no devices are known keeps to what the text says of them: their kind, maker and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Moonpad
from tests.unit.explain.judging import ask

VLLM = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code"


def unjudged(text: str) -> str:
    (judged,) = ask(text)
    assert judged.cluster is None
    return judged.unjudged


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("on amd mi300", "the text names MI300X, and the command does not say how many it uses: --on 8xMI300X says it"),
        ("on H800", "the text names H800, and the command does not say how many it uses: --on 8xH800 says it"),
    ],
)
def test_a_kind_that_is_named_is_not_called_absent(said: str, why: str) -> None:
    """One device that does not hold the weights is not what was meant."""
    assert unjudged(f"# Kimi K2 {said}\n\n```bash\n{VLLM}\n```\n") == why


@pytest.mark.parametrize(
    ("said", "proposed"),
    [
        ("on MI250X", "8xMI300X"),
        ("on gfx1151", "8xMI300X"),
        ("on 910B4", "8xA3"),
        ("on V100", "8xH200"),
        ("with ROCm version: 6.4.1", "8xMI300X"),
        ("on an RX 7900 XTX", "8xMI300X"),
        ("with CUDA 12.8 and ROCm 6.4", "8xH200"),
        ("on some GPUs", "8xH200"),
    ],
)
def test_they_are_of_the_same_maker(said: str, proposed: str) -> None:
    assert f"--on {proposed}" in unjudged(f"# Kimi K2\n\nIt runs {said}.\n\n```bash\n{VLLM} -tp 8\n```\n")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("我的显存只有8*48G", "8 devices of 48 GB"),
        ("VRAM: 4x 24GB", "4 devices of 24 GB"),
        ("8 GPUs, host memory 16x64GB DDR5 RAM", "no devices are named"),
        ("VRAM: 4x 24GB or 8x 48GB", "no devices are named"),
        ("GPUs: 8*480G", "no devices are named"),
    ],
)
def test_devices_that_are_counted_by_their_memory(said: str, why: str) -> None:
    assert why in unjudged(f"# Kimi K2\n\n{said}\n\n```bash\n{VLLM} -tp 8\n```\n")


def test_of_kinds_that_are_alike_the_nearest_is_named() -> None:
    text = f"# On the MI350X runner\n\nMeasured on MI355X.\n\n```bash\n{VLLM} -tp $TP\n```\n"
    (judged,) = ask(text)
    assert "names MI355X" in judged.cluster_because


@pytest.mark.parametrize(
    ("said", "layout", "kind"),
    [("amd mi300", "", "8xMI300X"), ("8*48G VRAM", " -tp 8", "8xRTX4090-48G"), ("gfx1151", " -tp 4", "4xMI300X")],
)
def test_the_next_step_has_them_too(moonpad: Moonpad, tmp_path: Path, said: str, layout: str, kind: str) -> None:
    guide = tmp_path / "guide.md"
    guide.write_text(f"# Kimi K2 on {said}\n\n```bash\n{VLLM}{layout}\n```\n")
    assert moonpad("explain", "--file", str(guide)).stderr.rstrip().endswith(f"--on {kind}")


@pytest.mark.parametrize(
    ("device", "shown"),
    [
        ("Device 0: AMD Radeon Graphics, gfx1151 (0x1151), VMM: no", "on gfx1151 (not in the catalogue)"),
        ("Device 0: something", ""),
    ],
)
def test_a_device_of_a_log_stands_in_the_answer(moonpad: Moonpad, tmp_path: Path, device: str, shown: str) -> None:
    guide = tmp_path / "guide.md"
    log = f"ggml_cuda_init: found 1 ROCm devices:\n  {device}"
    guide.write_text(f"# A model of mine\n\n```\n$ llama-server -m /models/mine.gguf --port 8084\n{log}\n```\n")
    answer = " ".join(moonpad("explain", "--file", str(guide)).stdout.split())
    assert "llama-cpp" in answer
    assert (shown in answer) if shown else ("not in the catalogue)" not in answer)
