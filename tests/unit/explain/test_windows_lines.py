"""Lines for PowerShell and cmd.exe that are written as for a shell of Unix."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

RUN = "docker run --gpus all --ipc=host -p 127.0.0.1:8000:8000 {end}\n  vllm/vllm-openai:v0.14.0 {end}\n  "
MODEL = "--model moonshotai/Kimi-VL-A3B-Instruct --trust-remote-code --max-model-len 32768"


def told(text: str, where: str) -> list[str]:
    found = [finding for judged in ask(text) for finding in judged.findings if finding.where == where]
    return [f"{finding.message} => {finding.remedy}" for finding in found]


@pytest.mark.parametrize(
    ("around", "name", "sign"),
    [
        ("On Windows:\n\n```powershell\n{}\n```\n", "PowerShell", "`"),
        ("On Windows:\n\n```bat\n{}\n```\n", "cmd.exe", "^"),
        ("@echo off\n{}\n", "cmd.exe", "^"),
    ],
)
def test_a_backslash_continues_no_line_there(around: str, name: str, sign: str) -> None:
    (message,) = told(around.format(RUN.format(end="\\") + MODEL), "\\")
    assert f"{name} does not continue a line by a backslash" in message
    assert message.endswith(f"write {sign} in its place")
    assert told(around.format(RUN.format(end=sign) + MODEL), "\\") == []


@pytest.mark.parametrize(
    "around",
    [
        "Start:\n\n```bash\n{}\n```\n",
        "#!/bin/bash\n{}\n",
        "启动:\n\n```cmd\n{}\n```\n",
        "In WSL:\n\n```powershell\nwsl -d Ubuntu\n{}\n```\n",
        "First `$env:HF_HOME = 'D:\\hf'` on Windows, then on the server:\n\n```sh\n{}\n```\n",
    ],
)
def test_a_backslash_of_another_shell(around: str) -> None:
    assert told(around.format(RUN.format(end="\\") + MODEL), "\\") == []


LLAMA = ".\\llama-server.exe -m D:\\gguf\\kimi-q4.gguf -c 8192 -ngl 99 --port 8080"


@pytest.mark.parametrize("value", ["0,1", "0, 1", "2,3,4"])
def test_a_list_of_powershell(value: str) -> None:
    (message,) = told(f"$env:CUDA_VISIBLE_DEVICES={value}\n{LLAMA}\n", "CUDA_VISIBLE_DEVICES")
    assert f'write $env:CUDA_VISIBLE_DEVICES = "{value.replace(" ", "")}"' in message


@pytest.mark.parametrize("value", ['"0,1"', "'0,1'", "0", "1\n$env:B='a,b'"])
def test_a_text_of_powershell(value: str) -> None:
    messages = told(f"$env:CUDA_VISIBLE_DEVICES={value}\n{LLAMA}\n", "CUDA_VISIBLE_DEVICES")
    assert not [each for each in messages if "is a list to PowerShell" in each]


def test_quotes_of_cmd() -> None:
    run = RUN.format(end="^") + MODEL + " --limit-mm-per-prompt {}\n"
    (message,) = told("@echo off\n" + run.format("'{\"image\": 4}'"), "'")
    assert "cmd.exe has no single quotes" in message
    assert told("@echo off\n" + run.format('"{\\"image\\": 4}"'), "'") == []
    power = RUN.format(end="`") + MODEL + " --limit-mm-per-prompt '{\"image\": 4}'"
    assert told(f"```powershell\n{power}\n```\n", "'") == []
