"""`GPU_ARCHS=gfx950` beside a start: the architecture of the devices on which it runs."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code\n"


def devices(text: str) -> str:
    (one,) = ask(text)
    return f"{one.cluster.devices}x{one.cluster.device.product}" if one.cluster is not None else ""


@pytest.mark.parametrize(
    "setting",
    ["export VLLM_ROCM_USE_AITER=1 GPU_ARCHS=gfx950 SAFETENSORS_FAST_GPU=1\n", "export GPU_ARCHS='gfx950'\n"],
)
def test_the_setting_of_a_run_names_them(setting: str) -> None:
    assert devices(setting + SERVE) == "8xInstinct MI355X 288GB"


@pytest.mark.parametrize(
    "setting",
    [
        'export GPU_ARCHS="gfx942;gfx950"\n',
        "GPU_ARCHS=gfx950 pip install -e aiter\n",
        "cmake -DGPU_ARCHS=gfx950 .\n",
        "export GPU_ARCHS=gfx942\n",
    ],
)
def test_a_build_is_for_what_it_could_run_on(setting: str) -> None:
    assert devices(setting + SERVE) == ""
