"""Servers that Docker's library starts for a program, and applications of pm2."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

IMAGE = '"vllm/vllm-openai:v0.14.0"'
CALL = "import docker\nclient = docker.from_env()\nclient.containers.run(\n    {image}, {command},\n    {more})\n"
WORDS = '["Qwen/Qwen3-8B", "--tensor-parallel-size", "2"]'
DEVICES = 'device_requests=[docker.types.DeviceRequest(count=-1, capabilities=[["gpu"]])]'


def told(text: str, where: str) -> list[str]:
    found = [finding for judged in ask(text) for finding in judged.findings if finding.where == where]
    return [f"{finding.message} => {finding.remedy}" for finding in found]


@pytest.mark.parametrize("command", [WORDS, '"Qwen/Qwen3-8B --tensor-parallel-size 2"', f"command={WORDS}"])
def test_the_command_of_a_call_is_read(command: str) -> None:
    (judged,) = ask(CALL.format(image=IMAGE, command=command, more=DEVICES))
    assert judged.layout is not None
    assert judged.layout.tp == 2


def test_a_container_of_a_call_without_devices() -> None:
    (message,) = told(CALL.format(image=IMAGE, command=WORDS, more='ipc_mode="host"'), "device_requests")
    assert "the container gets no GPU" in message
    for given in (DEVICES, 'runtime="nvidia"', "**options"):
        assert told(CALL.format(image=IMAGE, command=WORDS, more=given), "device_requests") == []


def test_a_container_that_needs_no_device() -> None:
    command = '["-m", "/m/kimi-q4.gguf", "--port", "8080"]'
    text = CALL.format(image='"ghcr.io/ggml-org/llama.cpp:server"', command=command, more="detach=True")
    assert told(text, "device_requests") == []


APP = """module.exports = {{
  apps: [
    {{
      name: "kimi",
      script: "{script}",
      args: {args},
      {more}
      env: {{ CUDA_VISIBLE_DEVICES: "1" }},
    }},
  ],
}};
"""


@pytest.mark.parametrize(
    "args",
    ['"serve Qwen/Qwen3-8B --tensor-parallel-size 2"', '["serve", "Qwen/Qwen3-8B", "--tensor-parallel-size", "2"]'],
)
def test_an_application_of_pm2_is_read(args: str) -> None:
    script = read_script(APP.format(script="/opt/venv/bin/vllm", args=args, more='interpreter: "none",'))
    (command,) = script.commands
    assert command.program == "vllm serve"
    assert [word.text for word in command.argv] == ["Qwen/Qwen3-8B", "--tensor-parallel-size", "2"]
    assert command.env["CUDA_VISIBLE_DEVICES"].text == "1"


def test_the_interpreter_of_pm2() -> None:
    args = '"serve Qwen/Qwen3-8B --max-model-len 8192"'
    (message,) = told(APP.format(script="/opt/venv/bin/vllm", args=args, more=""), "interpreter")
    assert "pm2 runs /opt/venv/bin/vllm with node" in message
    given = APP.format(script="/opt/venv/bin/vllm", args=args, more='interpreter: "/opt/venv/bin/python",')
    assert told(given, "interpreter") == []
    compiled = APP.format(script="/opt/llama-server", args='"-m /m/kimi-q4.gguf --port 8080"', more="")
    assert told(compiled, "interpreter") == []
