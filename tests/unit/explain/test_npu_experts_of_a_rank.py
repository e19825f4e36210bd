"""An error of the NPU's grouped matrix kernel that counts all experts, in one line and broken over two.

Oracle: the words of https://github.com/sgl-project/sglang/issues/27748.
"""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

COMMAND = "sglang serve --model-path zai-org/GLM-5 --tensor-parallel-size 8 --device npu --quantization modelslim"
FIRST = "AclNN_Parameter_Error(EZ1001): When groupList is not null,"
REST = "size of groupList(tensor) 256 should be equal to weight dim 0 32 with groupType 0."


@pytest.mark.parametrize("between", [" ", "\n  "])
def test_the_numbers_of_experts_are_told(between: str) -> None:
    text = f"On Atlas 800 A3:\n\n```bash\n{COMMAND}\n```\n\n```\n{FIRST}{between}{REST}\n```\n"
    (judged,) = ask(text, "8xA3", "0.5.12.post1")
    told = [finding for finding in judged.findings if "all 256 experts" in finding.message]
    assert len(told) == 1
    assert "a rank holds 32" in told[0].message
    assert "--ep-size 1" in told[0].remedy


def test_other_parameters_of_the_kernel_are_another_matter() -> None:
    text = f"```bash\n{COMMAND}\n```\n\n```\n{FIRST} dim 1 of x should be equal to dim 1 of weight.\n```\n"
    (judged,) = ask(text, "8xA3", "0.5.12.post1")
    assert not any("all 256 experts" in finding.message for finding in judged.findings)
