"""A backend that is slow or coarse on most devices may be the only one that works on those of the text."""

from __future__ import annotations

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask

SPARSE = (
    "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3.2 --tp 8 --trust-remote-code=1"
    " --attention-backend flashinfer"
)


def asked(on: str) -> Judged:
    (judged,) = ask(SPARSE, on=on, version="0.5.10")
    assert any(each.where == "--attention-backend" for each in judged.findings)
    return judged


def test_without_devices_the_corrected_command_keeps_it() -> None:
    judged = asked("")
    assert judged.corrected
    assert all("--attention-backend" in line.argv for line in judged.corrected)


def test_with_devices_on_which_the_default_works_it_is_left_out() -> None:
    judged = asked("8xH200")
    assert judged.corrected
    assert all("--attention-backend" not in line.argv for line in judged.corrected)
