"""Options that are there or not, as a variable is set: what they leave open is no more than themselves."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = (
    "#!/bin/bash\n# 8x H200\n{}\nvllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 $FLAG --trust-remote-code\n"
)
SET_BEFORE = 'FLAG="{}"; [ "$S" = 1 ] && FLAG=""'
IN_BRANCHES = 'if [ "$S" = 1 ]; then FLAG="{}"; else FLAG=""; fi'


@pytest.mark.parametrize("set_by", [SET_BEFORE, IN_BRANCHES])
@pytest.mark.parametrize("option", ["--disable-log-stats", "--enforce-eager", "--async-scheduling", "--port 8001"])
def test_the_layout_is_known_with_it_and_without(set_by: str, option: str) -> None:
    (judged,) = ask(SERVE.format(set_by.format(option)))
    assert not judged.unknown
    assert judged.memory is not None


@pytest.mark.parametrize("set_by", [SET_BEFORE, IN_BRANCHES])
@pytest.mark.parametrize("option", ["--enable-expert-parallel", "--max-model-len 8192", "--pipeline-parallel-size 2"])
def test_what_says_something_of_layout_or_context_leaves_it_open(set_by: str, option: str) -> None:
    (judged,) = ask(SERVE.format(set_by.format(option)))
    assert judged.unknown
