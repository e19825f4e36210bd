"""Commands of PowerShell whose arguments stand in a list."""

from __future__ import annotations

from moonpad.explain.commands import Command
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

RUN = """param(
    [int]$Port = 8123,
    [string]$Image = "vllm/vllm-openai:v0.20.0"
)
function Start-Server {
    $config = "{`"method`":`"mtp`",`"num_speculative_tokens`":2}"
    $given = @(
        "run", "--rm",   # taken away when it ends
        "--gpus", "all",
        "-p", "127.0.0.1:${Port}:8000",
        $Image,
        'Qwen/Qwen3-8B',
        "--port", "8000",
        "--max-model-len", "$Length",
        "--speculative-config", $config
    )
    & docker @given
}
"""
SERVE = """$arguments = @("Qwen/Qwen3-8B", "--port", "8000", "--max-model-len", "8192")
vllm serve @arguments
"""


def servers(text: str) -> list[Command]:
    return [command for command in read_script(text).commands if command.program == "vllm serve"]


def test_a_container_is_read_with_the_variables_of_the_text() -> None:
    (command,) = servers(RUN)
    texts = [word.text for word in command.argv]
    assert texts[:3] == ["Qwen/Qwen3-8B", "--port", "8000"]
    assert texts[-1] == '{"method":"mtp","num_speculative_tokens":2}'
    assert command.container is not None
    assert command.container.values("--publish") == ("127.0.0.1:8123:8000",)
    assert command.argv[4].unresolved == ("Length",)
    assert not read_script(RUN).problems


def test_a_server_is_read() -> None:
    (command,) = servers(SERVE)
    assert command.program == "vllm serve"
    assert [word.text for word in command.argv][-2:] == ["--max-model-len", "8192"]


def test_a_list_that_nothing_is_started_with() -> None:
    assert not servers(SERVE.replace("vllm serve @arguments", "Write-Host $arguments"))


def told(text: str) -> bool:
    return any("PowerShell before 7.3" in f.message for each in ask(text) for f in each.findings)


def test_quotes_inside_of_an_argument() -> None:
    assert told(RUN)
    assert not told(RUN.replace('`"', '\\`"'))
    assert not told(SERVE)
