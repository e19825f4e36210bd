"""Parsers that no recorded release has, where no release is named."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask_one

TEXT = "python -m sglang.launch_server --model-path zai-org/GLM-5.3-Flash --tp-size 8 --tool-call-parser {}"


@pytest.mark.parametrize(("parser", "severity"), [("glm53", "warning"), ("glm4x7", "error")])
def test_an_image_of_the_day_of_a_model_may_have_a_parser_of_its_number(parser: str, severity: str) -> None:
    found = ask_one(TEXT.format(parser)).findings
    assert [str(each.severity) for each in found if each.code is Code.INVALID_VALUE] == [severity]


def test_a_release_that_is_named_does_not_have_it() -> None:
    found = ask_one(TEXT.format("glm53"), version="0.5.20").findings
    assert [str(each.severity) for each in found if each.code is Code.INVALID_VALUE] == ["error"]


def test_of_an_engine_that_lists_its_parsers_apart() -> None:
    text = "vllm serve zai-org/GLM-9 --tensor-parallel-size 8 --tool-call-parser glm99 --enable-auto-tool-choice"
    for version, severity in (("", "warning"), ("0.32.0", "error")):
        found = ask_one(text, version=version).findings
        assert [str(each.severity) for each in found if "glm99" in each.message] == [severity]
