"""What the line above a command asks for goes before a release that another sentence of the text names."""

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "```bash\nvllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code\n```\n"
REMARK = "- Original spec (Feb 2026) benchmarked K2.5 with vLLM v0.15.1"


@pytest.mark.parametrize("above", ["**Option A - vLLM (v0.19.0+):**", "### vLLM >= 0.19.0"])
def test_the_least_release_above_it(above: str) -> None:
    judged = ask_one(f"{REMARK}\n\n{above}\n\n{SERVE}", "")
    assert judged.version_because.startswith("the text asks for vllm 0.19.0 or later")


@pytest.mark.parametrize("above", ["**Option A:**", "**Option A - vLLM (v0.12.0+):**"])
def test_a_release_that_agrees_is_the_one(above: str) -> None:
    assert ask_one(f"{REMARK}\n\n{above}\n\n{SERVE}", "").version == "0.15.1"
