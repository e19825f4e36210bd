"""A lowest release that one section asks for, above its own start, is not asked of the starts of others."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

PULLED = "```bash\ndocker pull vllm/vllm-openai:v0.17.0\n```\n\n"
PLAIN = "```bash\nvllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code\n```\n\n"
DRAFT = PLAIN.replace(
    " --trust", """ --speculative-config '{"model": "lightseekorg/kimi-k2.5-eagle3-mla", "method": "eagle3"}' --trust"""
)
ASKED = "Supported in `vLLM>=0.18.0`.\n\n"


def releases(text: str) -> list[tuple[str, bool]]:
    """Of each start the release that is judged, and whether it is the newest for a lowest one."""
    return [(each.version, "0.18.0 or later" in each.version_because) for each in ask(text)]


@pytest.mark.parametrize("title", ["### Eagle3", "## Speculative decoding"])
def test_the_section_of_a_feature(title: str) -> None:
    plain, draft = releases(f"# Kimi-K2.5\n\n{PULLED}{PLAIN}{title}\n\n{ASKED}{DRAFT}")
    assert plain == ("0.17.0", False)
    assert draft[1]
    assert draft[0] not in ("0.17.0", "0.18.0")


def test_another_start_is_not_bound_by_it() -> None:
    plain, draft = releases(f"# Kimi-K2.5\n\n{PLAIN}## Eagle3\n\n{ASKED}{DRAFT}")
    assert not plain[1]
    assert draft[1]


@pytest.mark.parametrize("place", [f"# Kimi-K2.5\n\n{ASKED}", f"# Kimi-K2.5\n\n## Prerequisites\n\n{ASKED}"])
def test_what_the_whole_text_asks_for(place: str) -> None:
    both = releases(f"{place}## Plain\n\n{PLAIN}## Eagle3\n\n{DRAFT}")
    assert [each[1] for each in both] == [True, True]


def test_a_release_that_the_section_itself_names() -> None:
    named = f"# Kimi-K2.5\n\n## Eagle3\n\nMeasured with vLLM 0.17.0. {ASKED}{DRAFT}"
    assert releases(named) == [("0.17.0", False)]
