"""Options with three dashes or more: no parser takes them, whatever the build."""

from __future__ import annotations

import argparse

import pytest

from tests.unit.explain.judging import ask

MODEL = "Qwen/Qwen3-VL-235B-A22B-Instruct-FP8 --tensor-parallel-size 4"


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("----limit-mm-per-prompt.video 0", "--limit-mm-per-prompt.video"),
        ("---compilation-config.mode=3", "--compilation-config.mode=3"),
        ("---max-num-seqs 128", "--max-num-seqs"),
    ],
)
def test_it_is_an_error_and_mended(written: str, right: str) -> None:
    (one,) = ask(f"vllm serve {MODEL} {written}")
    named = written.split()[0].partition("=")[0]
    assert [str(each.severity) for each in one.findings if each.where == named] == ["error"]
    assert one.corrected is not None
    assert right in one.corrected[0].argv
    assert not [word for word in one.corrected[0].argv if word.startswith("---")]


def test_what_no_release_has_is_an_error_too() -> None:
    (one,) = ask(f"vllm serve {MODEL} ---surely-none-such 3")
    assert [str(each.severity) for each in one.findings if each.where == "---surely-none-such"] == ["error"]


def test_argparse_refuses_more_dashes() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seqs", type=int)
    assert parser.parse_known_args(["----seqs", "3"])[1] == ["----seqs", "3"]
