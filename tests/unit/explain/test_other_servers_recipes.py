"""Starts that another server takes over, vLLM-Omni: its options are its own, on the command line and in recipes."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

RECIPE = """meta:
  title: "A model that makes pictures"
  tasks:
    - TASK
model:
  model_id: "some-lab/Picture-20B"
  min_vllm_version: "0.18.0"
  base_args: []
variants:
  fp8:
    extra_args: ["--quantization", "fp8", "--ignored-layers", "img_mlp"]
  int8:
    extra_args: ["--quantization", "int8"]
"""


def errors(text: str, name: str) -> list[str]:
    judged: list[Judged] = ask(read_files([(name, text)]))
    found = [each for one in judged for each in (one, *one.alternatives)]
    return [each.where for one in found for each in one.findings if each.severity is Severity.ERROR]


def test_a_recipe_for_another_server_is_not_judged_by_the_options_of_this_one() -> None:
    assert errors(RECIPE.replace("TASK", "omni"), "recipe.yaml") == []


def test_a_recipe_for_this_server_is() -> None:
    assert set(errors(RECIPE.replace("TASK", "text"), "recipe.yaml")) == {"--quantization"}


@pytest.mark.parametrize(("option", "refused"), [("--omni", []), ("--async-scheduling", ["--quantization"])])
def test_a_method_of_quantisation_is_the_other_servers(option: str, refused: list[str]) -> None:
    text = f"pip install vllm==0.18.0\nvllm serve some-lab/Picture-20B {option} --quantization int8\n"
    assert errors(text, "start.sh") == refused
