"""Trials one below the other in a document, each with the image of its own part."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "python3 -m sglang.launch_server --model-path {} --tp-size 8 --trust-remote-code"
TRIALS = """# What we tried

## Trial 1

### Image: `{first}`

### Command

```
{start} --port 30001
```

## Trial 2

### Image: `{second}`

### Command

```
{start} --port 30002
```
"""


@pytest.mark.parametrize(
    ("first", "second", "releases"),
    [
        (
            "rocm/sgl-dev:v0.5.8-rocm720-mi35x-20260126",
            "rocm/sgl-dev:v0.5.9-rocm720-mi35x-20260225",
            ("0.5.8", "0.5.9"),
        ),
        ("rocm/sgl-dev:v0.5.10-rocm720-mi30x-20260407", "rocm/sgl-dev:v0.5.9-rocm720-mi30x-20260225", ("", "0.5.9")),
        ("someone/amd:v0.5.8-rocm720-mi30x-k2", "someone/amd:v0.5.9-rocm720-mi30x-k2", ("0.5.8", "0.5.9")),
    ],
)
@pytest.mark.parametrize("model", ["moonshotai/Kimi-K2.5", "zai-org/GLM-5-FP8"])
def test_each_part_has_the_release_of_its_image(first: str, second: str, releases: tuple[str, str], model: str) -> None:
    text = TRIALS.format(first=first, second=second, start=START.format(model))
    found = [judged for judged in ask(text, "8xMI355X") if judged.layout is not None]
    assert len(found) == 2
    for judged, release in zip(found, releases, strict=True):
        assert "none is named" not in judged.version_because
        assert judged.version == release or not release


def test_images_of_several_days_in_one_part_say_nothing() -> None:
    images = "rocm/sgl-dev:v0.5.8-rocm720-mi35x-20260126 and rocm/sgl-dev:v0.5.9-rocm720-mi35x-20260225"
    text = f"# Both\n\n{images}\n\n```\n{START.format('moonshotai/Kimi-K2.5')}\n```\n"
    assert [judged.version_because for judged in ask(text, "8xMI355X")] == ["none is named: judged by the newest"]


@pytest.mark.parametrize("name", ["Kimi-K2-7B", "Kimi-K2-72B"])
def test_a_command_with_a_model_that_nobody_has_is_not_corrected(name: str) -> None:
    (judged,) = ask(START.format(f"moonshotai/{name}"), "8xH200")
    assert any("has no repository" in finding.message for finding in judged.findings)
    assert judged.corrected == judged.commands or not judged.corrected
    (other,) = ask(START.format("moonshotai/Kimi-K2-Instruct"), "8xH200")
    assert other.corrected
