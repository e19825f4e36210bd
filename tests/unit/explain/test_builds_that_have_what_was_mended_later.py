"""What a release mended a development build before it may hold already: told so, and behind what it cannot hold."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

SERVE = (
    "vllm serve deepseek-ai/DeepSeek-V3.2 -tp 8 --tokenizer-mode deepseek_v32 --tool-call-parser deepseek_v32"
    " --enable-auto-tool-choice --reasoning-parser deepseek_v3"
)
MAY = "which this build may have already"


def mended(version: str) -> list[str]:
    (judged,) = ask(f"vllm {version}\n\n```bash\n{SERVE}\n```\n")
    found = [remark.finding for remark in judged.remarks]
    return [each.message for each in found if each.code is Code.MENDED_LATER]


def test_the_release_that_a_build_leads_to() -> None:
    told = mended("0.13.0rc2.dev178+g676db55ee")
    assert all((MAY in each) is ("mended in vLLM 0.13.0" in each or "mended in vLLM 0.14.0" in each) for each in told)
    doubted = [MAY in each for each in told]
    assert doubted == sorted(doubted)
    assert True in doubted


@pytest.mark.parametrize("version", ["0.12.0", "0.13.0"])
def test_of_a_release_it_is_sure(version: str) -> None:
    assert mended(version)
    assert not any(MAY in each for each in mended(version))
