"""A page for the devices of one maker may have a section for another's: the nearest heading, and the image that the
section pulls, say whose devices its commands are for."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "python3 -m sglang.launch_server --model moonshotai/Kimi-K2-Instruct --trust-remote-code --tp 8"
FIRST = f"```bash\ndocker pull lmsysorg/sglang:v0.4.9.post2-rocm700-mi35x\n{SERVE}\n```\n"
PULL = "```bash\ndocker pull lmsysorg/sglang:v0.4.9.post3-cu128-b200\n```\n"


def named_devices(text: str) -> list[str]:
    return [judged.cluster.name if judged.cluster is not None else "" for judged in ask(text)]


@pytest.mark.parametrize("heading", ["## B200", "## NVIDIA B200 GPUs", "## The other machine", "## Second, 8 x B200"])
@pytest.mark.parametrize("title", ["# Kimi-K2 on MI355X", "# Kimi-K2 on AMD Instinct MI355X GPUs"])
def test_a_section_with_its_own_image(title: str, heading: str) -> None:
    text = f"{title}\n\n## MI355X\n\n{FIRST}\n{heading}\n\n{PULL}\nThen:\n\n```bash\n{SERVE}\n```\n"
    assert named_devices(text) == ["8xMI355X", "8xB200"]


def test_a_heading_without_an_image() -> None:
    text = f"# Kimi-K2 on MI355X\n\n{FIRST}\n## NVIDIA B200\n\n```bash\n{SERVE}\n```\n"
    assert named_devices(text) == ["8xMI355X", "8xB200"]


def test_the_other_way_round() -> None:
    text = f"# Kimi-K2 on 8x B200\n\n{PULL}\n```bash\n{SERVE}\n```\n\n## MI355X\n\n{FIRST}"
    assert named_devices(text) == ["8xB200", "8xMI355X"]


def test_the_release_is_that_of_the_image_of_its_section() -> None:
    text = f"# Kimi-K2 on MI355X\n\n## MI355X\n\n{FIRST}\n## B200\n\n{PULL}\n```bash\n{SERVE}\n```\n"
    assert [judged.version for judged in ask(text)] == ["0.4.9.post2", "0.4.9.post3"]


def test_what_ended_with_a_later_build_is_not_told_of_the_next() -> None:
    # sgl-project/sglang#8120 was reported up to 0.4.9.post2.
    for release, told in (("0.4.9.post2", True), ("0.4.9.post3", False)):
        text = f"# Kimi-K2 on 8x B200, sglang {release}\n\n```bash\n{SERVE}\n```\n"
        (judged,) = ask(text)
        assert any("#8120" in finding.message for finding in judged.findings) is told


@pytest.mark.parametrize("heading", ["## Start", "## nvidia/Kimi-K2.5-NVFP4", "## CUDA graphs", "## Option B"])
def test_other_headings_leave_the_title_s_devices(heading: str) -> None:
    text = f"# Kimi-K2 on MI355X\n\nCompare 8x B200.\n\n{heading}\n\n```bash\n{SERVE}\n```\n"
    assert named_devices(text) == ["8xMI355X"]


@pytest.mark.parametrize(("image", "told"), [("v0.4.9.post3-cu128-b200", False), ("v0.4.9.post3-cu126", True)])
def test_wheels_without_kernels_are_not_those_of_an_image_for_the_devices(image: str, told: bool) -> None:
    (judged,) = ask(
        f"# Kimi-K2 on 8x B200\n\n```bash\ndocker pull lmsysorg/sglang:{image}\n```\n```bash\n{SERVE}\n```\n"
    )
    assert any("no kernels of Blackwell" in finding.message for finding in judged.findings) is told
