"""`got an unexpected keyword argument` is said of any function: the name beside it makes the fault."""

from __future__ import annotations

import pytest

from moonpad.explain.checks.releases.error_agreement import pairs_of, shared_pairs
from moonpad.explain.checks.releases.told_faults import is_told

FAULT = "experts fail: MoeInfo got an unexpected keyword argument 'w9_bias'"


@pytest.mark.parametrize(
    "error",
    [
        "TypeError: scale_rows() got an unexpected keyword argument 'target_width'",
        "AttributeError: 'Loader' object has no attribute 'rows'",
    ],
)
def test_words_of_the_interpreter_alone_are_no_agreement(error: str) -> None:
    assert shared_pairs(FAULT, pairs_of(error)) == 0


def test_with_the_name_they_are() -> None:
    assert shared_pairs(FAULT, pairs_of("TypeError: MoeInfo got an unexpected keyword argument 'w9_bias'")) == 2


def test_a_text_that_says_no_more_does_not_tell_of_the_fault() -> None:
    assert not is_told(FAULT, "sglang", frozenset({"unexpect", "keyword", "argument"}))
