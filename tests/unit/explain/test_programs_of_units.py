"""`ExecStart=` by a bare name, where the program is in an environment of Python: systemd does not look there."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

UNIT = """\
[Unit]
Description=Kimi

[Service]
{setting}
ExecStart={program} moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code
Restart=always

[Install]
WantedBy=multi-user.target
"""


def remedies(program: str, setting: str, more: str = "") -> list[str]:
    found = [
        finding for judged in ask(UNIT.format(program=program, setting=setting) + more) for finding in judged.findings
    ]
    return [each.remedy for each in found if "systemd looks for" in each.message]


@pytest.mark.parametrize(
    ("program", "setting", "folder"),
    [
        ("vllm serve", "Environment=PATH=/opt/engine/bin:/usr/bin", "/opt/engine/bin"),
        ("vllm serve", 'Environment="PATH=/srv/.venv/bin:/usr/bin:/bin"', "/srv/.venv/bin"),
        ("python3 -m sglang.launch_server --model-path", "Environment=VIRTUAL_ENV=/opt/engine", "/opt/engine/bin"),
        ("vllm serve", "# the engine is in /opt/engine/.venv", "/opt/engine/.venv/bin"),
    ],
)
def test_a_bare_name_is_not_found_there(program: str, setting: str, folder: str) -> None:
    (remedy,) = remedies(program, setting)
    assert f"ExecStart={folder}/{program.split()[0]} " in remedy


@pytest.mark.parametrize(
    ("program", "setting"),
    [
        ("/opt/engine/bin/vllm serve", "Environment=PATH=/opt/engine/bin:/usr/bin"),
        ("vllm serve", "ExecSearchPath=/opt/engine/bin\n# /opt/engine/.venv"),
        ("vllm serve", "User=engine"),
        ("vllm serve", "Environment=PATH=/usr/local/bin:/usr/bin"),
        ("docker run --gpus all vllm/vllm-openai:v0.12.0 --model", "Environment=PATH=/opt/engine/bin:/usr/bin"),
    ],
)
def test_what_is_found_is_left(program: str, setting: str) -> None:
    assert remedies(program, setting) == []


@pytest.mark.parametrize(("kind", "expected"), [("notify", 1), ("forking", 1), ("simple", 0), ("exec", 0)])
def test_a_server_sends_systemd_no_sign(kind: str, expected: int) -> None:
    text = UNIT.format(program="/opt/engine/bin/vllm serve", setting=f"Type={kind}")
    found = [finding for judged in ask(text) for finding in judged.findings if f"Type={kind} waits" in finding.message]
    assert [each.remedy for each in found] == ["write Type=simple or exec"] * expected
