"""The memory of the one device, in a comment above the command, against all weights."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code"


def found(text: str, on: str = "") -> list[Finding]:
    return [each for one in ask(text, on) for each in one.findings if "as the memory of the device" in each.message]


@pytest.mark.parametrize("words", ["~40-80GB VRAM", "one card with 48 GB of VRAM", "Single 80 GB GPU", "<80GB VRAM"])
def test_weights_of_more(words: str) -> None:
    (finding,) = found(f"# {words}\n{SERVE} --port 8000\n")
    assert finding.severity is Severity.WARNING
    assert "91 GiB" in finding.message
    assert finding.remedy.startswith("add --tensor-parallel-size ")


@pytest.mark.parametrize(
    "text",
    [
        f"# 96GB VRAM\n{SERVE}\n",
        f"# 2x 48GB VRAM\n{SERVE}\n",
        f"# two cards, 48GB VRAM per card\n{SERVE}\n",
        f"# 80GB VRAM\n{SERVE} --tensor-parallel-size 2\n",
        f"# 80GB VRAM\n{SERVE} --tensor-parallel-size $TP\n",
        f"# 24GB VRAM\n{SERVE} --cpu-offload-gb 80\n",
        f"# 48GB VRAM\n{SERVE} --quantization bitsandbytes\n",
        f"# the KV cache takes 40GB of memory\n{SERVE}\n",
        f"# 24GB VRAM\n./llama-server -m x.gguf\n\n\n\n\n\n\n\n{SERVE}\n",
        "# 24GB VRAM\nvllm serve moonshotai/Moonlight-16B-A3B-Instruct-AWQ\n",
    ],
)
def test_it_fits_or_is_of_something_else(text: str) -> None:
    assert found(text) == []


def test_where_the_devices_are_known_the_memory_is_judged() -> None:
    assert found(f"# 80GB VRAM\n{SERVE}\n", on="1xH100") == []
