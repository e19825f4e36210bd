"""A release that a quoted result was measured with is not the one that a guide is for."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.text_hints import version_mentions
from tests.unit.explain.judging import ask

GUIDE = """# Qwen3.5-35B-A3B

This page was {page}.

## Deployment

```shell
vllm serve Qwen/Qwen3.5-35B-A3B --quantization ascend --tensor-parallel-size 2
```

## Accuracy

You can get the result, here is the result of `Qwen3.5-35B-A3B` in vllm-ascend:0.17.0rc1 for reference only.
"""


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("validated on vLLM-Ascend v0.23.0rc1", "0.23.0rc1"),
        ("written based on vLLM-Ascend v0.22.1rc. All later releases run", "0.22.1rc1"),
        ("written long ago", "0.17.0rc1"),  # better than none
        ("written for what vLLM-Ascend >= 0.15.0rc1 has", "0.17.0rc1"),  # the lowest is not the one in use
    ],
)
def test_a_guide_is_for_the_release_that_it_was_written_on(page: str, expected: str) -> None:
    assert [each.version for each in ask(GUIDE.format(page=page))] == [expected]


@pytest.mark.parametrize(
    "line",
    [
        "The results below are with vllm-ascend:0.17.0rc1, which is the release to run.",
        "Tested with quay.io/ascend/vllm-ascend:v0.17.0rc1, for reference see the table.",
        "docker pull quay.io/ascend/vllm-ascend:v0.17.0rc1  # for reference only",
    ],
)
def test_a_release_to_run_is_kept_beside_another(line: str) -> None:
    lines = ("Written based on vLLM-Ascend v0.23.0rc1.", line)
    assert "0.17.0rc1" in {each.version for each in version_mentions(lines)}
