"""Words to fill in that name a release or a folder, with and without spaces: no redirection takes the next option."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

SERVE = "sglang serve --model-path {model} --tp-size 8 {draft} --speculative-num-steps 3 --speculative-eagle-topk 1 "
SERVE += "--speculative-num-draft-tokens 4 --speculative-algorithm EAGLE --trust-remote-code"


def messages(model: str, draft: str) -> list[str]:
    text = SERVE.format(model=model, draft=f"--speculative-draft-model-path {draft}" if draft else "")
    found = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [f"{finding.severity} {finding.message}" for finding in found]


@pytest.mark.parametrize(
    ("model", "draft"),
    [
        ("<GLM-5.2-FP8>", "<GLM-5.2-FP8 MTP weights>"),
        ("<path to zai-org/GLM-5.2>", "<path/to/draft-v0.1>"),
        ("<Kimi-K2.6>", ""),
    ],
)
def test_each_is_one_word_to_fill_in(model: str, draft: str) -> None:
    said = messages(model, draft)
    assert not [each for each in said if "num-steps is not" in each or "takes no such argument" in each]
    assert [each for each in said if f"to be filled in: {model}" in each]


def test_a_file_that_is_read_is_none() -> None:
    said = messages("zai-org/GLM-5.2", "")
    text = SERVE.format(model="zai-org/GLM-5.2", draft="") + " <in.txt>out.txt"
    found = [finding.message for each in judge(read_script(text), Question()) for finding in each.findings]
    assert len(found) == len(said)
    assert not [each for each in found if "to be filled in" in each]
