"""Values of charts whose options stand apart from the container that they are for."""

from __future__ import annotations

import pytest

from moonpad.explain.commands import Command
from moonpad.explain.script import read_script

PARTS = """model: org/m
modelParameters:
  tensorParallelSize: "8"
  maxModelLen: "65536"
  trustRemoteCode: true
  moeBackend: auto
  attentionConfig: >-
    '{"mla_prefill_backend":"TRTLLM_RAGGED"}'
inference:
  framework: vllm
  modelServer:
    image: {repository: vllm/vllm-openai, tag: v0.11.0}
    env: {VLLM_LOGGING_LEVEL: DEBUG}
    deployment:
      resources:
        gpu:
          limits: {nvidia.com/gpu: 8}
"""


def known(text: str) -> list[Command]:
    return [command for command in read_script(text).commands if command.program not in ("other", "docker")]


def argv(command: Command) -> str:
    return " ".join(word.text for word in command.argv)


def test_options_image_and_variables_come_together() -> None:
    (command,) = known(PARTS)
    assert command.program == "vllm serve"
    assert argv(command).startswith("org/m --tensor-parallel-size 8 --max-model-len 65536 --trust-remote-code")
    assert {name: word.text for name, word in command.env.items()} == {"VLLM_LOGGING_LEVEL": "DEBUG"}
    assert command.container is not None
    assert command.container.image is not None
    assert command.container.image.text == "vllm/vllm-openai:v0.11.0"
    assert command.container.devices == 8


def test_quotes_for_the_shell_of_the_template_are_no_part_of_the_value() -> None:
    (command,) = known(PARTS)
    assert command.argv[-1].text == '{"mla_prefill_backend":"TRTLLM_RAGGED"}'


def test_the_framework_decides_between_engines() -> None:
    text = (
        "inference: {framework: sglang}\nmodelParameters:\n  modelId: org/m\n  tpSize: 8\n  contextLength: 65536\n"
        "  memFractionStatic: 0.9\n"
    )
    (command,) = known(text)
    assert command.program == "sglang"
    assert argv(command) == "--model-path org/m --tp-size 8 --context-length 65536 --mem-fraction-static 0.9"


@pytest.mark.parametrize(
    "other",
    [
        "redis:\n  image: {repository: bitnami/redis, tag: '7'}\n",
        "modelParameters:\n  color: red\n  size: 3\ninference: {modelServer: {image: nginx:1}}\n",
    ],
)
def test_other_charts_start_no_engine(other: str) -> None:
    assert known(other) == []


def test_of_two_containers_it_is_for_that_of_the_engine() -> None:
    (command,) = known(PARTS + "proxy:\n  image: {repository: library/nginx, tag: '1'}\n")
    assert command.container is not None
    assert command.container.image is not None
    assert command.container.image.text == "vllm/vllm-openai:v0.11.0"


def test_which_of_two_engines_it_is_for_is_not_guessed() -> None:
    (command,) = known(PARTS + "other:\n  image: {repository: vllm/vllm-openai, tag: nightly}\n")
    assert command.container is None
