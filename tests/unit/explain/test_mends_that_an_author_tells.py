"""An error whose cause is not known, and a sentence of its author that says what mended it."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.own_mends import own_mend
from tests.unit.explain.judging import first_line

POST = """### Bug

```
vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8
```

RuntimeError: the frobnicator of rank 3 has no spline

{}
"""


@pytest.mark.parametrize(
    "sentence",
    [
        "After a day the fix is to set VLLM_USE_FROB to 0.",
        "It was solved by setting VLLM_USE_FROB=0.",
        "Setting VLLM_USE_FROB=0 fixes the issue.",
        "Workaround: --disable-frob-all.",
        "The server starts fine with 0.10.2.",
        "解决方法是设置 VLLM_USE_FROB=0",
    ],
)
def test_the_first_line_repeats_it(sentence: str) -> None:
    line = first_line(POST.format(sentence))
    assert "the text itself says what mends it: (line 9) " in line
    assert sentence.rstrip(".") in line
    assert "not known" not in line.partition("The command")[0]


@pytest.mark.parametrize(
    "sentence",
    [
        "Setting VLLM_USE_FROB=0 does not fix it.",
        "Is there a fix? I tried VLLM_USE_FROB=0.",
        "The fix is simple.",
        "Perhaps it works with 0.10.2.",
        "> The fix is to set VLLM_USE_FROB to 0.",
        "The fix is to set VLLM_USE_FROB to 0.\n\nThe workaround is --disable-frob-all.",
    ],
)
def test_what_is_no_mend_stays_unsaid(sentence: str) -> None:
    assert own_mend(sentence.split("\n"), set()) is None
    assert "says what mends it" not in first_line(POST.format(sentence))


def test_the_lines_of_a_log_are_not_the_authors() -> None:
    assert own_mend(["it works with 0.10.2"], {1}) is None
