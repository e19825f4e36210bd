"""Devices that a text names only as those that something is not compatible with are not the ones that it runs on."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.device_mentions import mentions
from moonpad.explain.documents.spoken_capabilities import spoken_capabilities, spoken_capability
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

SERVE = "vllm serve nvidia/Kimi-K2.6-NVFP4 --tensor-parallel-size 4 --max-model-len 249984"
ABOVE = "4xB300 are mine. 8xB200 of others. vLLM 0.22.0."


def told(remark: str) -> str:
    (judged,) = ask(f"{ABOVE}\n\n```bash\n{SERVE}\n```\n\n{remark}\n")
    return "\n".join(finding.message for finding in judged.findings)


def test_a_remark_makes_no_fault() -> None:
    remark = "I have tried tokenspeed_mla, but it is not compatible with SM120 / RTX 6000 Pro."
    assert "12.0" not in told(remark)
    assert "Ampere" not in told(remark)  # of others than those that are named


@pytest.mark.parametrize(
    ("text", "capability"),
    [
        ("It is not compatible with SM120 / RTX 5090.", ""),
        ("It is incompatible with RTX 5090 and RTX 5080.", ""),
        ("No support for SM120 yet.", ""),
        ("该后端不兼容 RTX 5090。", ""),
        ("On 8xB200.", "10.0"),
        ("On 4×H100 80GB.", "9.0"),
        ("On 4xB300. It is not compatible with SM120.", "10.3"),
        ("On SM120.", "12.0"),
        ("A Blackwell 6000 Pro.", "12.0"),
        ("It is not compatible with FP8, RTX 5090 here.", "12.0"),
        ("RTX 5090 with sm_120 is not compatible with the current PyTorch installation.", "12.0"),
        ("RuntimeError: the kernel is not compatible with compute capability 12.0", "12.0"),
        ("4xB300 and 8xB200", ""),
    ],
)
def test_the_capability_that_is_there(text: str, capability: str) -> None:
    assert spoken_capability(read_script(f"{text}\n")) == capability


def test_several_are_all_known() -> None:
    assert spoken_capabilities(read_script("4xB300 and 8xB200\n")) == {"10.0", "10.3"}


def test_it_is_not_a_device_of_the_text() -> None:
    assert not mentions(("It is not compatible with SM120 / RTX 6000 Pro.",), ())
    assert mentions(("It runs on SM120 / RTX 6000 Pro.",), ())
