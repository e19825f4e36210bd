"""Where a text says only whose devices they are, nothing is said that is true of some of them alone."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SGLANG = "python3 -m sglang.launch_server --trust-remote-code --tensor-parallel-size 8 --model-path"
MXFP4 = f"{SGLANG} amd/Kimi-K2.6-MXFP4 --attention-backend aiter"


def told(text: str) -> str:
    (judged,) = ask(text)
    return "\n".join(f"{finding.message} {finding.remedy}" for finding in judged.findings)


@pytest.mark.parametrize("before", ["", "export SGLANG_USE_AITER=1\n", "# on ROCm 7\n"])
def test_devices_that_are_not_named_may_compute_fp4(before: str) -> None:
    said = told(f"```bash\n{before}{MXFP4}\n```\n")
    assert "FP4 (MXFP4" not in said
    assert "serve FP8, INT4" not in said
    assert "these devices" not in said


@pytest.mark.parametrize(
    ("kind", "refused"), [("MI300X", True), ("MI325X", True), ("MI350X", False), ("MI355X", False)]
)
def test_devices_that_are_named_do_or_do_not(kind: str, refused: bool) -> None:
    """https://github.com/ROCm/ATOM/issues/1582: MXFP4 by Quark is for gfx950"""
    assert ("made for gfx950" in told(f"On 8x {kind}:\n```bash\n{MXFP4}\n```\n")) is refused


@pytest.mark.parametrize(
    ("command", "example"),
    [
        (MXFP4, "8xMI355X"),
        (f"{SGLANG} /data/models/amd/Kimi-K2.6-MXFP4", "8xMI355X"),
        (f"{SGLANG} moonshotai/Kimi-K2.6 --attention-backend aiter", "8xMI300X"),
        (f"{SGLANG} moonshotai/Kimi-K2.6", "8xH200"),
    ],
)
def test_proposed_devices_compute_in_the_format_of_the_weights(command: str, example: str) -> None:
    (judged,) = ask(f"{command}\n")
    assert judged.cluster is None
    assert judged.unjudged.endswith(f"--on {example}")


def test_a_capability_is_spoken_of_as_of_one_device() -> None:
    command = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size $N --max-model-len 249984"
    said = told(f"vLLM 0.22.0 on SM120.\n```bash\n{command}\n```\n")
    assert "a device of capability 12.0 has" in said
