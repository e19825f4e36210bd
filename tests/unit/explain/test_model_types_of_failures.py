"""A log that says that a model's type is not known names the release of Transformers that came with it.

glm4v_moe is in the register of Transformers from 4.56.0 on (models/auto/configuration_auto.py).
"""

from __future__ import annotations

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask_one

SERVE = "python3 -m sglang.launch_server --model-path /model/GLM-4.5V-FP8 --tp-size 4"
SAYS = "ValueError: The checkpoint you are trying to load has model type `{}` but Transformers does not recognize this"


def _remedy(kind: str) -> str:
    judged = ask_one(f"```\n{SERVE}\n```\n\n```\n{SAYS.format(kind)} architecture.\n```\n", on="")
    (failure,) = [each for each in judged.findings if each.code is Code.LOGGED_FAILURE]
    assert kind in failure.message
    return failure.remedy


def test_a_type_that_a_release_came_with() -> None:
    assert _remedy("glm4v_moe").startswith("install transformers 4.56.0 or later, which came with glm4v_moe")


def test_a_type_that_is_nowhere_known() -> None:
    assert "install transformers" not in _remedy("a_type_of_somebody")
