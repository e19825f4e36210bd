"""Images for AMD and Ascend that are built for another generation than the devices that the text names."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

SGLANG = "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1-0528 --tp 8 --trust-remote-code"
AMD = "docker run --device /dev/kfd --device /dev/dri --ipc host {} " + SGLANG
MI30X, MI35X = "lmsysorg/sglang:v0.5.12-rocm720-mi30x", "rocm/sgl-dev:v0.5.9-rocm700-mi35x-20260301"


def told(text: str) -> list[tuple[str, str]]:
    findings = [each for judged in ask(text) for each in judged.findings if each.code is Code.CONFLICT]
    return [(each.message, each.remedy) for each in findings if "is built for" in each.message]


@pytest.mark.parametrize(
    ("text", "part", "remedy"),
    [
        (f"8x MI355X\n\n{AMD.format(MI30X)}\n", f"{MI30X} is built for gfx942", "mi35x"),
        (f"8x MI300X\n\n{AMD.format(MI35X)}\n", f"{MI35X} is built for gfx950", "mi30x"),
        (f"8x MI325X, image `{MI35X}`\n\n{SGLANG}\n", f"{MI35X} is built for gfx950", "mi30x"),
    ],
)
def test_an_image_of_the_other_generation_is_told(text: str, part: str, remedy: str) -> None:
    ((message, what),) = told(text)
    assert part in message
    assert remedy in what


@pytest.mark.parametrize(
    "text",
    [
        f"8x MI325X\n\n{AMD.format(MI30X)}\n",
        f"8x MI350X\n\n{AMD.format(MI35X)}\n",
        f"MI300X: {MI30X}, MI355X: {MI35X}\n\n{SGLANG}\n",
        f"8x MI350X; it was right on MI300X. {MI35X}\n\n{SGLANG}\n",
    ],
)
def test_an_image_that_may_be_of_the_devices_is_not(text: str) -> None:
    assert not told(text)


def test_the_image_for_a2_has_no_chip_in_its_tag() -> None:
    image = "quay.io/ascend/vllm-ascend:v0.18.0"
    text = f"Atlas 800T A2\n\ndocker run --privileged {image}-a3 vllm serve /w/Kimi-K2.5-W4A8 -tp 8\n"
    ((_, remedy),) = told(text)
    assert remedy == f"take {image}"
    (finding,) = [each for judged in ask(text) for each in judged.findings if each.where == "--privileged"]
    assert "/dev/davinci0" in finding.remedy


def test_devices_of_ascend_are_found_without_an_option() -> None:
    (judged,) = ask(f"SGLang 0.5.6 on Atlas 800T A2\n\n{SGLANG}\n")
    assert judged.cluster is not None
    assert judged.cluster.name == "8xA2"
    (other,) = ask("8x 910B3\n\nllama-server -m Kimi-K2-Instruct-Q4_K_M.gguf -ngl 99\n")
    assert not [each for each in other.findings if each.severity == "error"]
