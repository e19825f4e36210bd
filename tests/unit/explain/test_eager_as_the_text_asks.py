"""Where the text calls a start without CUDA graphs needed, better settings have it too."""

import pytest

from tests.unit.explain.judging import ask

TEXT = """# Kimi-K2-Thinking on 8x H100

{said}

```bash
vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code --reasoning-parser kimi_k2 {more}
```
"""


def better_lines(said: str, more: str = "") -> list[tuple[str, ...]]:
    (judged,) = ask(TEXT.format(said=said, more=more))
    lines = [line.argv for each in judged.better for line in each.lines]
    assert lines
    return lines


@pytest.mark.parametrize(
    "said",
    [
        "### The `--enforce-eager` flag (CRITICAL for this model)",
        "--enforce-eager is required here: graphs do not fit.",
    ],
)
def test_needed_switch_is_in_each_better_command(said: str) -> None:
    assert all(argv.count("--enforce-eager") == 1 for argv in better_lines(said))
    assert all(argv.count("--enforce-eager") == 1 for argv in better_lines(said, "--enforce-eager"))


@pytest.mark.parametrize(
    "said", ["--enforce-eager is not required any more.", "Use --enforce-eager if you must debug.", "It serves well."]
)
def test_no_switch_where_nothing_asks_for_it(said: str) -> None:
    without = better_lines("It serves well.")
    assert better_lines(said) == without
