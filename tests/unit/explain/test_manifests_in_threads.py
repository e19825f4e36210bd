"""Parts of manifests that a person puts into a thread without a fence: YAML joins the lines that it folds, so no line
lacks a backslash, and what stands above and below is no part of the file."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

SERVICES = """\
services:
  kimi:
    image: lmsysorg/sglang:v0.5.6
    command: {sign}
      python3 -m sglang.launch_server
      --model-path moonshotai/Kimi-K2-Thinking
      --tp 8
      --trust-remote-code
"""
PART = """\
The part of my values on 8xH200, which never gets ready:

    image: vllm/vllm-openai:v0.11.1
    {key}
      vllm serve
      moonshotai/Kimi-K2-Thinking
      --tensor-parallel-size 8
      --trust-remote-code
    ports:
      - 8000:8000

Does anybody see why?
"""


def judged_of(text: str) -> list[Judged]:
    return list(judge(read_script(text), Question()))


def told_of_lines(text: str) -> list[str]:
    return [problem.message for problem in read_script(text).problems if "backslash" in problem.message]


@pytest.mark.parametrize("sign", [">", ">-", ">+", "> # one line"])
@pytest.mark.parametrize(
    "above",
    [
        "My compose file, on 8xH200, and it does not start:\n\n",
        "hi all, this is on 8xH200\n",
        "我的文件如下，8xH200，启动报错：\n\n",
        "docker-compose.yml on 8xH200\n",
        "Here it is:\nname: kimi\n",
    ],
)
def test_services_below_a_sentence_are_read_as_such(above: str, sign: str) -> None:
    text = above + SERVICES.format(sign=sign) + "\nAny idea?\n"
    (judged,) = judged_of(text)
    assert judged.version == "0.5.6"
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert not told_of_lines(text)
    assert any("shm_size" in finding.message for finding in judged.findings)  # read as a container's


def test_a_command_above_the_services_is_read_too() -> None:
    text = "This works:\nvllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8\nand this does not:\n"
    text += SERVICES.format(sign=">")
    first, *rest = judged_of(text)
    assert (first.engine, [judged.engine for judged in rest]) == ("vllm", ["sglang"])
    assert not told_of_lines(text)


@pytest.mark.parametrize("key", ["command: >", "args: >-", "- >", "- command: >", "startCommand: >"])
def test_lines_of_a_folded_part_are_one_command(key: str) -> None:
    (judged,) = judged_of(PART.format(key=key))
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.commands[0].argv[-1] == "--trust-remote-code"
    assert not told_of_lines(PART.format(key=key))


@pytest.mark.parametrize("key", ["command: |", "- |"])
def test_lines_that_yaml_keeps_lack_a_backslash(key: str) -> None:
    assert told_of_lines(PART.format(key=key).replace("serve\n      moon", "serve moon"))
