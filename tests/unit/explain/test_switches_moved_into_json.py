"""A variable that has become a key of an option's JSON: what its value is there, and what the option says already."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

_HEAD = "# vllm-ascend 0.30.0rc2\n"
_COMMAND = "vllm serve /m/Kimi-K2-W8A8 --quantization ascend --tensor-parallel-size 8"
_NAME = "VLLM_ASCEND_BALANCE_SCHEDULING"


def _finding(value: str, more: str = "") -> tuple[str, str]:
    (judged,) = ask(f"{_HEAD}export {_NAME}={value}\n{_COMMAND} {more}\n", "8xA3")
    (finding,) = [each for each in judged.findings if each.where == _NAME]
    return finding.message, finding.remedy


def test_a_switch_that_is_off_is_written_as_false() -> None:
    assert "enable_balance_scheduling: false in --additional-config" in _finding("0")[1]
    assert "false" not in _finding("1")[1]


@pytest.mark.parametrize(
    ("value", "key", "against"), [("0", "true", True), ("1", "true", False), ("0", "false", False)]
)
def test_an_option_that_says_the_opposite_is_named(value: str, key: str, against: bool) -> None:
    message, _ = _finding(value, f"""--additional-config '{{"enable_balance_scheduling": {key}}}'""")
    assert (f"says {key} where it says {value}" in message) is against
