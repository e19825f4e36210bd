"""Messages that a page of reference lists below each other, or tells of in a chapter about typical errors, are no log
of the start beside them."""

from __future__ import annotations

import pytest

from moonpad.explain.checks.releases.told_faults import told_words
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

START = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --trust-remote-code"
MESSAGES = """- `ValueError: --moe-a2a-backend deepep requires expert parallelism`
- `AssertionError: --enable-dp-attention needs dp_size > 1`
"""


def page(head: str, messages: str = MESSAGES, more: str = "") -> str:
    return f"# Options\n\n{head}\n\n{messages}\n```bash\n{START}\n```\n{more}"


def stopped(text: str) -> bool:
    return any("stopped" in finding.message for judged in ask(text, "2x8xH200") for finding in judged.findings)


@pytest.mark.parametrize("head", ["## Messages", "## Diagnostics", "Сообщения движка", "Meldungen:", "## 消息"])
def test_several_messages_under_a_heading_were_printed_by_nothing(head: str) -> None:
    assert not read_script(page(head)).error_lines
    assert not stopped(page(head))


@pytest.mark.parametrize(
    ("head", "messages", "more"),
    [
        ("It ends with one of these, from time to time:", MESSAGES, ""),
        ("## What happened", MESSAGES, ""),
        ("## Messages", MESSAGES, "\nI use two machines.\n"),
        ("## Messages", MESSAGES, "\n## Your current environment\n\n2 x 8 H200\n"),
        ("## Messages", MESSAGES.partition("\n")[0], ""),
    ],
)
def test_what_a_person_reports_is_his_error(head: str, messages: str, more: str) -> None:
    assert read_script(page(head, messages, more)).error_lines


def test_a_step_that_is_an_error_among_others_counts() -> None:
    steps = "1. started as below\n2. `ValueError: --moe-a2a-backend deepep requires expert parallelism`\n"
    assert read_script(page("## Steps", steps)).error_lines


@pytest.mark.parametrize("heading", ["Typische Fehlermeldungen", "Mögliche Fehler", "Troubleshooting", "常见问题"])
def test_a_chapter_about_typical_errors_complains_of_nothing(heading: str) -> None:
    text = f"""## Start

```bash
vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8
```

## {heading}

* No available memory for the cache blocks, shared memory broadcast hangs, reader misses a flag

## Notes
"""
    assert not told_words(read_script(text))
    assert told_words(read_script(text.replace(heading, "It hangs")))
