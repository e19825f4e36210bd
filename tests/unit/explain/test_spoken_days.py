"""The day of a build that the text speaks of."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.spoken_days import day_of_build, day_of_main
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask_one, at

NAMES = ("vllm", "vLLM")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("vLLM (main, 2025-11-03), on eight H200", "2025-11-03"),
        ("vLLM main of 2025-12-07", "2025-12-07"),
        ("vllm nightly (Feb 3, 2026)", "2026-02-03"),
        ("vLLM latest main, December 2025", "2025-12"),
        ("vLLM main, commit 8005e606 (2025-11)", "2025-11"),
        ("we built vLLM from source on 2026/01/05", "2026-01-05"),
        ("vLLM (2025-08-16, V1 engine)", "2025-08-16"),
        ("vLLM, stock upstream (June 2026).", "2026-06"),
        ("vLLM, end of July 2025.", "2025-07-28"),
        ("vLLM as of mid-August 2025", "2025-08"),
        ("vLLM 2026-01-05, eight H200", "2026-01-05"),
        ("| vLLM 2026-01-05 | 8 |", "2026-01-05"),
        ("all of it is from the vLLM 2026-07-23 post on pools", ""),
        ("方法论全部外推自 vLLM 2026-07-23 的 PD 专文", ""),
        ("vLLM meetup in June 2026", ""),
        ("vLLM serves Kimi-K2 since July 2025", ""),
        ("INFO 2025-12-07 10:00:00 vllm engine", ""),
        ("vllm main log of 2025-12-07 10:00:00", ""),
        ("vLLM 0.11.0 came out on 2025-10-02", ""),
        ("SGLang main of 2025-12-07", ""),
        ("org/vllm main of 2025-12-07", ""),
        ("vLLM main of 2025-12-07\nvLLM nightly of 2026-01-07", ""),
    ],
)
def test_a_day_counts_where_a_build_is_spoken_of(text: str, day: str) -> None:
    assert day_of_build(NAMES, tuple(text.split("\n"))) == day


@pytest.mark.parametrize(
    "line",
    [
        "Python version: 3.11.13 (main, Jul 23 2025, 00:34:44) [GCC 11.4.0] (64-bit runtime)",
        "3.12.3 (main, Mar  3 2026, 12:15:18) [GCC 13.3.0]",
        "sys.version: '3.12.11 | packaged by conda-forge | (main, Jun  4 2025, 14:45:31) [GCC 13.3.0]'",
        "Python 3.11.13 (main, Jul 23 2025)",
        "Python 3.13 main of 2025-11-20",
        "rustc 1.93.0-nightly (main 2025-11-20)",
        "Clang 21.1 (main, 2025-11-20)",
        "PyTorch nightly of 2025-11-20",
        "FlashInfer main of 2025-11-20",
    ],
)
def test_a_day_of_something_else_is_none_of_the_engine(line: str) -> None:
    assert day_of_main([line]) == ""
    assert day_of_build(NAMES, (f"vLLM, {line}",)) == ""


def test_a_day_of_the_engine_stays_one_beside_others() -> None:
    assert day_of_main(["Python 3.12, main of 2025-12-07"]) == "2025-12-07"
    assert day_of_build(NAMES, ("PyTorch 2.9 and vLLM main of 2025-12-07",)) == "2025-12-07"


def test_the_build_is_judged_by_the_release_that_was_out() -> None:
    judged = ask_one("# vLLM main of 2025-12-07\nvllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8")
    assert (judged.version, judged.version_behind) == ("0.12.0", "0.13.0")
    assert judged.version_because == "the text speaks of a build of 2025-12-07, when 0.12.0 was the newest"


def test_a_release_that_is_named_counts_more() -> None:
    judged = ask_one("# vLLM main of 2025-12-07\n# vLLM 0.11.2\nvllm serve moonshotai/Kimi-K2-Thinking")
    assert judged.version == "0.11.2"


LINEAR = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code"


def test_of_a_month_any_release_of_it_may_be_meant() -> None:
    """SGLang 0.5.8 was the newest on the first of February 2026, and 0.5.9, which has the model, came that month."""
    text = "SGLang (February 2026)\nsglang serve --model-path moonshotai/Kimi-K2.5 --trust-remote-code --tp-size 8"
    judged = ask_one(text, on="8xH200")
    assert not at(judged, Code.UNSUPPORTED_FORMAT)
    assert judged.version_because.startswith("the text speaks of a build of 2026-02, at whose beginning 0.5.8")
    assert at(ask_one(text.replace("February 2026", "December 2025"), on="8xH200"), Code.UNSUPPORTED_FORMAT)


def test_two_errors_at_one_place_are_two_faults() -> None:
    """What came with the next release is no error of a build of main, because another error stands there too."""
    text = f"SGLang main of 2026-08-01\n{LINEAR} --tp-size 4 --dcp-size 4 --attention-backend fa3"
    told = [each.message for each in ask_one(text, on="4xH200").findings if each.code is Code.ILLEGAL_LAYOUT]
    assert len(told) == 1
    assert "fa3" in told[0]
