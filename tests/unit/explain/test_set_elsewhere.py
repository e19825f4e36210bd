"""A variable that a row asks for, and that a line above the command may bring."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVES = """
pip install vllm-ascend==0.22.1rc1
{above}
vllm serve vllm-ascend/GLM-5-w8a8 --tensor-parallel-size 16 --additional-config '{{"enable_dsa_cp": true}}'
"""
ASKED = "enable_dsa_cp needs FlashComm"


@pytest.mark.parametrize(
    ("above", "told"),
    [
        ("", True),
        ("export HCCL_BUFFSIZE=200", True),
        ("{{flashcomm1}}", False),
        ("source settings.sh", False),
        (". ./settings.sh # of this node", False),
        ("source /usr/local/Ascend/ascend-toolkit/set_env.sh", True),
        ("source .venv/bin/activate", True),
    ],
)
def test_a_line_that_may_set_it(above: str, *, told: bool) -> None:
    text = SERVES.format(above=above)
    found = [finding.message for judged in ask(text) for finding in judged.findings]
    assert any(ASKED in message for message in found) == told
