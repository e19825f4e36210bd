"""A state of main that the text states for the engine is what runs, and no image that it quotes for something else."""

from __future__ import annotations

import pytest

from moonpad.explain.target_detection import BY_NEWEST
from tests.unit.explain.judging import ask

_PAGE = """{stated}

```bash
vllm serve deepseek-ai/DeepSeek-V4-Pro --tensor-parallel-size 8 --trust-remote-code
```

```bash
vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code
```

The blog's recipe, with the image `vllm/vllm-openai:deepseekv4-cu130`, failed here.
"""


@pytest.mark.parametrize(
    "stated",
    [
        "**vLLM version**: v0.1.dev15833+g62d441ee8 (V1 engine).",
        "vLLM 0.1.dev15833+g62d441ee8 on 8x H200",
        "| vLLM | 0.1.dev15833+g62d441ee8 |",
        "(APIServer pid=1) INFO 05-01 10:00:00 [api_server.py:1] vLLM API server version 0.1.dev15833+g62d441ee8",
    ],
)
def test_the_stated_build_is_told_of_each_command(stated: str) -> None:
    judged = ask(_PAGE.format(stated=stated))
    assert len(judged) == 2
    for each in judged:
        assert "0.1.dev15833+g62d441ee8" in each.version_because
        assert each.version_because.endswith(BY_NEWEST)


@pytest.mark.parametrize(
    ("stated", "version"),
    [
        ("**vLLM version**: v0.21.0.", "0.21.0"),
        ("vLLM 0.21.0; 0.1.dev15833+g62d441ee8 is the build of the sampler", "0.21.0"),
        ("Here somebody else had vLLM 0.1.dev10+g1111111 and vLLM 0.1.dev20+g2222222.", "0.19.1"),
    ],
)
def test_another_release_goes_before_it(stated: str, version: str) -> None:
    assert ask(_PAGE.format(stated=stated))[0].version == version


def test_a_command_in_an_image_has_that_of_the_image() -> None:
    text = "vLLM version: 0.1.dev15833+g62d441ee8\n\ndocker run --gpus all vllm/vllm-openai:v0.20.0 --model m/n\n"
    assert ask(text)[0].version == "0.20.0"
