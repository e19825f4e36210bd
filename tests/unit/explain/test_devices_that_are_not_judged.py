"""Devices of makers that moonpad does not judge stand in the first lines, also where the model is not known either."""

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

TPU = "# Serving on TPU v6e\n\n```bash\nvllm serve {model} --tensor-parallel-size 8\n```\n"
SHOWN = "on Google TPUs (not judged)"


def view(text: str) -> str:
    return explain_view(ask(text), read_script(text), 200).plain


def test_model_that_is_not_planned_does_not_hide_them() -> None:
    assert SHOWN in view(TPU.format(model="zai-org/GLM-5.1-FP8"))


def test_they_are_said_once_where_they_are_the_reason() -> None:
    shown = view(TPU.format(model="moonshotai/Kimi-K2-Instruct"))
    assert shown.count("Google TPUs") == 1


@pytest.mark.parametrize("title", ["# Serving on H200", "# Serving on 8xMI355X"])
def test_other_titles_name_none(title: str) -> None:
    assert SHOWN not in view(TPU.format(model="zai-org/GLM-5.1-FP8").replace("# Serving on TPU v6e", title))
