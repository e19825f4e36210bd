"""Weights that are too large for so many devices of the kinds that most have, where no device is named."""

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask_one

SERVE = "vllm serve zai-org/GLM-5.1 --tensor-parallel-size {tp}"


def told(judged: Judged) -> list[Finding]:
    return [each for each in judged.findings if "devices gets at least" in each.message]


def test_weights_larger_than_both_kinds_are_warned_of_with_both() -> None:
    (warned,) = told(ask_one(SERVE.format(tp=8), on="", version="0.23.0"))
    assert warned.severity is Severity.WARNING
    assert "each of 8 devices gets at least 172 GiB" in warned.message
    assert "H200" in warned.message
    assert "B200" in warned.message
    assert warned.remedy.startswith("take 16 devices")


def test_weights_that_one_kind_holds_are_a_note_with_the_other() -> None:
    (note,) = told(ask_one(SERVE.format(tp=2) + " --pipeline-parallel-size 5", on="", version="0.23.0"))
    assert note.severity is Severity.NOTE
    assert "H200" in note.message
    assert "B200" not in note.message


@pytest.mark.parametrize(
    ("text", "on"),
    [
        (SERVE.format(tp=16), ""),  # 86 GiB
        (SERVE.format(tp=8).replace("5.1", "5.1-FP8"), ""),
        (SERVE.format(tp=8), "8xB300"),  # which hold them
        (SERVE.format(tp=8), "8xH200"),  # an error says it
        (SERVE.format(tp=8) + " --cpu-offload-gb 64", ""),
        (SERVE.format(tp=8) + ' "$@"', ""),
        ("On our eight MI355X:\n\n" + SERVE.format(tp=8), ""),
    ],
)
def test_weights_that_may_fit_or_whose_devices_are_known_are_not_told(text: str, on: str) -> None:
    assert not told(ask_one(text, on=on, version="0.23.0"))


@pytest.mark.parametrize(
    "start",
    [
        "apptainer exec --rocm --env HIP_VISIBLE_DEVICES=0,1 /imgs/vllm-openai-rocm_v0.20.0.sif {serve}",
        "docker run --device /dev/kfd rocm/vllm:v0.20.0 {serve}",
    ],
)
def test_on_devices_of_amd_by_the_kinds_of_amd(start: str) -> None:
    assert not told(ask_one(start.format(serve=SERVE.format(tp=8)), on=""))
    (note,) = told(ask_one(start.format(serve=SERVE.format(tp=2) + " --pipeline-parallel-size 3"), on=""))
    assert "MI300X" in note.message
    assert "H200" not in note.message
