"""A variable that a later release reads under a name with one word more."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

TEXT = (
    "docker run --ipc=host quay.io/ascend/vllm-ascend:v{version} bash -c "
    '"VLLM_LLMDD_RPC_PORT=5559 vllm serve /models/deepseek_r1_w8a8 --tensor-parallel-size 8"\n'
)


@pytest.mark.parametrize(
    ("version", "remedy"),
    [
        ("0.11.0rc0", "did you mean VLLM_ASCEND_LLMDD_RPC_PORT?"),
        ("0.30.0rc2", "with this release leave it out"),
    ],
)
def test_its_new_name_is_named(version: str, remedy: str) -> None:
    (judged,) = ask(TEXT.format(version=version))
    (finding,) = [each for each in judged.findings if each.code is Code.DEAD_ENV]
    assert finding.remedy == remedy
