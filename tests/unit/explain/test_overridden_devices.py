"""HSA_OVERRIDE_GFX_VERSION with the number of another family than the devices', or than the build's."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --trust-remote-code"


def found(text: str, on: str = "") -> list[Finding]:
    return [each for one in ask(text, on) for each in one.findings if each.where == "HSA_OVERRIDE_GFX_VERSION"]


@pytest.mark.parametrize("value", ["11.0.0", "10.3.0", "12.0.1"])
def test_another_family(value: str) -> None:
    (finding,) = found(f"export HSA_OVERRIDE_GFX_VERSION={value}\n{SERVE}\n", on="8xMI300X")
    assert finding.severity is Severity.WARNING
    assert "gfx942" in finding.message


def test_another_family_than_that_of_the_build() -> None:
    text = (
        "```dockerfile\nFROM rocm/dev-ubuntu-22.04\nRUN cmake -B build -DGGML_HIP=ON -DAMDGPU_TARGETS=gfx90a\n```\n\n"
        "```bash\nHSA_OVERRIDE_GFX_VERSION=11.0.0 ./llama-server -m /m/Kimi-K2-Instruct-Q4_K_M.gguf -ngl 99\n```\n"
    )
    (finding,) = found(text)
    assert "gfx1100" in finding.message
    assert "gfx90a" in finding.message


@pytest.mark.parametrize(
    ("text", "on"),
    [
        (f"export HSA_OVERRIDE_GFX_VERSION=9.4.2\n{SERVE}\n", "8xMI300X"),
        (f"export HSA_OVERRIDE_GFX_VERSION=$GFX\n{SERVE}\n", "8xMI300X"),
        (f"export HSA_OVERRIDE_GFX_VERSION=11.0.0\n{SERVE}\n", ""),
        ("# cmake -DAMDGPU_TARGETS=gfx1100\nHSA_OVERRIDE_GFX_VERSION=11.0.0 ./llama-server -m m-Q4_K_M.gguf\n", ""),
        ("# cmake -DAMDGPU_TARGETS=gfx1030\nHSA_OVERRIDE_GFX_VERSION=10.3.0 ./llama-server -m m-Q4_K_M.gguf\n", ""),
    ],
)
def test_same_family_or_not_known(text: str, on: str) -> None:
    assert found(text, on) == []


BUILD = "FROM rocm/pytorch:latest\nENV PYTORCH_ROCM_ARCH={}\nRUN pip install -e .\nCMD {}\n"
LLAMA = (
    "cmake -S . -B build -DGGML_HIP=ON -DAMDGPU_TARGETS={}\n# {}\n"
    "./llama-server -m /m/Kimi-K2-Instruct-Q4_K_M.gguf -ngl 99\n"
)


@pytest.mark.parametrize(
    ("text", "on", "told"),
    [
        (BUILD.format("gfx90a", SERVE), "8xMI300X", True),
        (BUILD.format('"gfx90a;gfx1100"', SERVE), "8xMI355X", True),
        (LLAMA.format("gfx1100", "4x MI300X"), "", True),
        (BUILD.format("gfx942", SERVE), "8xMI300X", False),
        (BUILD.format('"gfx90a;gfx942"', SERVE), "8xMI325X", False),
        (BUILD.format("gfx90a", SERVE), "8xH200", False),
        (BUILD.format("gfx90a", SERVE), "", False),
        (BUILD.format("$ARCH", SERVE), "8xMI300X", False),
        (f"# PYTORCH_ROCM_ARCH=gfx90a was for MI250\n{SERVE}\n", "8xMI300X", False),
    ],
)
def test_a_build_for_another_target(text: str, on: str, *, told: bool) -> None:
    assert any("the build has code for" in each.message for one in ask(text, on) for each in one.findings) == told
