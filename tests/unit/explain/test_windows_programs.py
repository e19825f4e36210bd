"""Windows programs that a shell of WSL starts."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def told(command: str) -> list[str]:
    return [
        finding.where
        for judged in ask(f"{command} --port 8080\n")
        for finding in judged.findings
        if "Windows program" in finding.message
    ]


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ("./llama-server.exe --model /mnt/d/gguf/kimi.gguf", "--model"),
        ("/mnt/c/tools/llama-server.exe -m /mnt/d/gguf/kimi.gguf", "-m"),
        ("./llama-server.exe --mmproj /mnt/d/gguf/mmproj.gguf --model kimi.gguf", "--mmproj"),
    ],
)
def test_a_path_of_wsl_is_told(command: str, where: str) -> None:
    assert told(command) == [where]


@pytest.mark.parametrize(
    "command",
    [
        "./llama-server --model /mnt/d/gguf/kimi.gguf",
        "/mnt/c/tools/llama-server.exe --model kimi.gguf",
        "./llama-server.exe --model 'D:\\gguf\\kimi.gguf'",
        "./llama-server.exe --model /mnt/models/kimi.gguf",
        './llama-server.exe --model "$(wslpath -w /mnt/d/gguf/kimi.gguf)"',
    ],
)
def test_other_programs_and_paths_are_not(command: str) -> None:
    assert told(command) == []


def test_the_remedy_names_the_path_of_windows() -> None:
    (judged,) = ask("./llama-server.exe --model /mnt/d/gguf/kimi.gguf\n")
    (finding,) = [each for each in judged.findings if "Windows program" in each.message]
    assert "'D:\\gguf\\kimi.gguf'" in finding.remedy
