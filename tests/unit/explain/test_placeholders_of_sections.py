"""What is to be filled in below one start, in its own section, is not told of the start of the next one."""

from __future__ import annotations

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

FIRST = "## One\n\n```bash\nvllm serve openai/gpt-oss-20b --port 8001\n\nexport SOME_CACHE=/path/to/cache\n```\n"
SECOND = "\n{}```bash\nvllm serve zai-org/GLM-4.6 -tp 8 --port 8002\n```\n"


def told(text: str) -> list[Finding]:
    return [each for judged in ask(text) for each in judged.findings if "SOME_CACHE" in each.message]


def test_it_is_of_its_own_section() -> None:
    assert not told(FIRST + SECOND.format("## Two\n\n"))


def test_in_one_section_it_counts_for_what_follows() -> None:
    assert told(FIRST + SECOND.format("Then:\n\n"))
    block = "```bash\nexport SOME_CACHE=/path/to/cache\n```\n"
    start = "## One\n\n```bash\nvllm serve openai/gpt-oss-20b --port 8001\n```\n"
    assert told(start + block + SECOND.format("## Two\n\n"))
