"""A change that the text itself names as the mend of what it tells stands first."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

TEXT = """# Accuracy is lower than expected

- SGLang baseline: `v0.5.12.post1`

{}

```bash
sglang serve --model-path /models/DeepSeek-V4-Flash --tp 2
```
"""


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("Fix PR: https://github.com/sgl-project/sglang/pull/29036", True),
        ("It was fixed by #29036.", True),
        ("See #29036.", False),
    ],
)
def test_a_change_that_is_named(line: str, first: bool) -> None:
    (judged,) = ask(TEXT.format(line))
    assert judged.version == "0.5.12.post1"
    told = [each.finding.message for each in judged.remarks if each.as_told]
    assert any("29036" in message for message in told) is first
