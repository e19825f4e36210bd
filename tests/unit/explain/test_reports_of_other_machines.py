"""A report is told of the machines, networks, images and values that it is about, and of no others."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask_one

K3 = "vllm serve moonshotai/Kimi-K3 --trust-remote-code -tp 8 -pp 2"
GRAPHS = "every kind of CUDA graph gave wrong answers"
BLOCK = "multiple of the scheduler's block"


def said(text: str, on: str, version: str = "") -> str:
    judged = ask_one(text, on=on, version=version)
    return " ".join(each.message for each in judged.findings if each.code is Code.KNOWN_REPORT)


@pytest.mark.parametrize("network", ["export FI_PROVIDER=efa", "# p6-b200.48xlarge, 2 of them", "# they meet over EFA"])
def test_faults_of_graphs_over_efa_are_told_there(network: str) -> None:
    assert GRAPHS in said(f"{network}\n{K3}", "2x8xB200", "0.27.0")


@pytest.mark.parametrize("network", ["export UCX_NET_DEVICES=mlx5_0:1", "# InfiniBand", "# DEFAULT values"])
def test_faults_of_graphs_over_efa_are_not_told_of_other_networks(network: str) -> None:
    assert GRAPHS not in said(f"{network}\n{K3}", "2x8xB200", "0.27.0")


@pytest.mark.parametrize(("value", "told"), [("32768", True), ("0", False)])
def test_interval_of_zero_is_off(value: str, told: bool) -> None:
    text = f"export VLLM_PREFIX_CACHE_RETENTION_INTERVAL={value}\n{K3}"
    assert (BLOCK in said(text, "2x8xB200", "0.28.0")) is told


def test_interval_is_no_fault_of_a_release_that_does_not_read_it() -> None:
    text = f"export VLLM_PREFIX_CACHE_RETENTION_INTERVAL=32768\n{K3}"
    assert BLOCK not in said(text, "2x8xB200", "0.33.0")


@pytest.mark.parametrize(
    ("image", "told"), [("rocm/vllm-dev:nightly", True), ("vllm/vllm-openai-rocm:v0.15.0", False), ("", False)]
)
def test_package_is_lacking_in_the_nightlies_alone(image: str, told: bool) -> None:
    started = f"docker run --device=/dev/kfd {image} vllm serve" if image else "vllm serve"
    text = f"{started} moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code --load-format fastsafetensors"
    assert ("package fastsafetensors" in said(text, "8xMI300X")) is told


@pytest.mark.parametrize(("executor", "told"), [("ray", True), ("mp", False)])
def test_stages_lose_their_caches_over_ray_alone(executor: str, told: bool) -> None:
    text = f"vllm serve moonshotai/Kimi-K2.5 -tp 8 -pp 4 --trust-remote-code --distributed-executor-backend {executor}"
    assert ("KeyError" in said(text, "4x8xH100", "0.18.0")) is told


def test_two_stages_of_a_release_that_ran_them_have_no_report() -> None:
    text = "vllm serve moonshotai/Kimi-K2.5 -tp 8 -pp 2 --trust-remote-code --distributed-executor-backend mp"
    assert "KeyError" not in said(text, "2x8xH100", "0.18.0")


@pytest.mark.parametrize(
    ("folder", "text_alone"),
    [
        ("/m/kimi-k26-nvfp4", False),
        ("/m/kimi-k25", False),
        ("/m/kimi-k2.5", False),
        ("/m/kimi-k2-instruct", True),
        ("/m/kimi-k2-0905", True),
    ],
)
def test_option_for_pictures_is_idle_for_models_of_text_alone(folder: str, text_alone: bool) -> None:
    judged = ask_one(f"vllm serve {folder} -tp 8 --mm-encoder-tp-mode data", version="0.20.1")
    assert any("no vision tower" in each.message for each in judged.findings) is text_alone
