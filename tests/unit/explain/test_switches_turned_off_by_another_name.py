"""`--disable-X` of a release that has `--no-enable-X`: the remedy keeps what is meant."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one

START = "vllm serve moonshotai/Kimi-K2-Base --tensor-parallel-size 8 --trust-remote-code "
ON_ASCEND = "docker run quay.io/ascend/vllm-ascend:{} " + START


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("--disable-prefix-caching", "--no-enable-prefix-caching"),
        ("--disable-expert-parallel", "--no-enable-expert-parallel"),
        ("--no-prefix-caching", "--no-enable-prefix-caching"),
        ("--disable_prefix_caching", "--no-enable-prefix-caching"),
    ],
)
def test_it_is_written_as_the_release_has_it(written: str, meant: str) -> None:
    one = ask_one(START + written, version="0.13.0")
    (finding,) = [each for each in one.findings if each.code is Code.UNKNOWN_FLAG]
    assert finding.severity is Severity.ERROR
    assert finding.remedy == f"write {meant}"
    (corrected,) = one.corrected
    assert meant in corrected.argv


def test_a_release_that_has_the_name_takes_it() -> None:
    one = ask_one(START + "--disable-prefix-caching", version="0.33.0")
    assert not [each for each in one.findings if each.code is Code.UNKNOWN_FLAG]


def test_what_is_no_switch_of_the_release_is_left_out() -> None:
    one = ask_one(START + "--disable-heron-caching", version="0.13.0")
    (finding,) = [each for each in one.findings if each.code is Code.UNKNOWN_FLAG]
    assert "write --no-" not in finding.remedy


def test_releases_of_the_engine_below_are_none_of_the_plugin() -> None:
    one = ask_one(ON_ASCEND.format("main-a3") + "--disable-prefix-caching", on="16xA3")
    (finding,) = [each for each in one.findings if each.code is Code.UNKNOWN_FLAG]
    assert "0.33.0 has it" not in finding.message
    assert "no release up to 0.30.0rc2 has it" in finding.message
    assert finding.remedy == "write --no-enable-prefix-caching"
