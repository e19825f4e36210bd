"""A line that says what a model needs, and what is there."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

SERVE = "```bash\nvllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code\n```\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("At least 8x H200 (we have 8x B200)", "8xB200"),
        ("Minimum: 8xH100; we use 8xB200 here", "8xB200"),
        ("至少 8x H200（我们有 8x B200）", "8xB200"),
        ("At least 8x H200", "8xH200"),
        ("We have 8x H200", "8xH200"),
    ],
)
def test_what_is_there_counts(line: str, expected: str) -> None:
    (judged,) = judge(read_script(f"# Kimi\n\n{line}\n\n{SERVE}"), Question())
    assert judged.cluster is not None
    assert judged.cluster.name == expected
