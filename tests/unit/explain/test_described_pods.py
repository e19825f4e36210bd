"""What kubectl describe and docker inspect print: probes against the weights, and the size of /dev/shm."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

POD = """$ kubectl describe pod kimi-0
Containers:
  vllm:
    Image:      vllm/vllm-openai:v0.14.0
    Args:
      moonshotai/Kimi-K2-Thinking
      --tensor-parallel-size
      8
      --trust-remote-code
    State:          Running
    Limits:
      nvidia.com/gpu:  8
    Liveness:   http-get http://:8000/health delay={delay}s timeout=1s period=10s #success=1 #failure=3
{more}"""


def told(text: str, where: str) -> list[str]:
    found = [finding for judged in ask(text) for finding in judged.findings if finding.where == where]
    return [f"{finding.message} => {finding.remedy}" for finding in found]


def test_a_description_without_its_head_is_read() -> None:
    (judged,) = ask(POD.format(delay=900, more=""))
    assert judged.layout is not None
    assert judged.layout.tp == 8


def test_a_probe_that_gives_up_while_the_weights_are_read() -> None:
    (message,) = told(POD.format(delay=60, more=""), "livenessProbe")
    assert "gives up 90 s after the start" in message
    assert told(POD.format(delay=900, more=""), "livenessProbe") == []
    startup = "    Startup:    http-get http://:8000/health delay=0s timeout=1s period=10s #success=1 #failure=360\n"
    assert told(POD.format(delay=60, more=startup), "livenessProbe") == []


SERVE = "docker exec kimi vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct -tp {tp} --trust-remote-code\n"


@pytest.mark.parametrize(
    "shown",
    ['"HostConfig": {"IpcMode": "private", "ShmSize": 67108864}', "shm              64M     0   64M   0% /dev/shm"],
)
def test_memory_that_is_shown_for_several_ranks(shown: str) -> None:
    (message,) = [
        each for each in told(f"{SERVE.format(tp=4)}\n{shown}\n", "/dev/shm") if "4 ranks share 64 MiB" in each
    ]
    assert message.endswith("--shm-size 16g")
    assert not [each for each in told(f"{SERVE.format(tp=1)}\n{shown}\n", "/dev/shm") if "ranks share" in each]


@pytest.mark.parametrize(
    "shown",
    [
        '"HostConfig": {"IpcMode": "host", "ShmSize": 67108864}',
        '"HostConfig": {"IpcMode": "private", "ShmSize": 34359738368}',
        "tmpfs           252G     0  252G   0% /dev/shm",
    ],
)
def test_memory_that_is_enough(shown: str) -> None:
    assert not [each for each in told(f"{SERVE.format(tp=4)}\n{shown}\n", "/dev/shm") if "ranks share" in each]


def test_an_option_and_its_value_in_one_item_of_a_program() -> None:
    text = 'import subprocess\nsubprocess.run(["vllm", "serve", "Qwen/Qwen3-8B", "{item}", "--port", "8000"])\n'
    script = read_script(text.format(item="--max-model-len 8192"))
    assert [problem.remedy for problem in script.problems] == ["write them as two items, or as --max-model-len=8192"]
    assert read_script(text.format(item="--max-model-len=8192")).problems == ()


SHOWN = """.env

TP=4
MORE="--tensor-parallel-size 4 --max-model-len 8192"

docker-compose.yml

services:
  kimi:
    image: vllm/vllm-openai:v0.14.0
    command: {command}
    ipc: host
"""


def test_the_variables_of_a_file_that_is_shown_above_the_services() -> None:
    (judged,) = ask(SHOWN.format(command="--model Qwen/Qwen3-8B --tensor-parallel-size ${TP}"))
    assert judged.layout is not None
    assert judged.layout.tp == 4
    assert not judged.unknown


def test_several_options_in_one_item_are_told_once() -> None:
    (judged,) = ask(SHOWN.format(command='["--model", "Qwen/Qwen3-8B", "${MORE}"]'))
    found = [finding for finding in judged.findings if "one item of the list" in finding.message]
    assert [finding.remedy for finding in found] == ["write each as an item of its own, or the whole list as one text"]
    (split,) = ask(SHOWN.format(command="--model Qwen/Qwen3-8B ${MORE}"))
    assert not [finding for finding in split.findings if "one item of the list" in finding.message]
