"""A model's own name in an error line is no sign of a fault that ended long ago.

Oracle: vLLM 0.11.1, which mended the crash of Kimi-Linear, is of November 2025; `latest` and no release are later.
"""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

EARLY = "builds of before 2025-11-11"
MODEL = "moonshotai/Kimi-Linear-48B-A3B-Instruct"
COMMANDS = {
    "image": f"docker run vllm/vllm-openai-rocm:latest {MODEL} --trust-remote-code --port 9090",
    "host": f"vllm serve {MODEL} --trust-remote-code --port 9090",
}


def told_now(command: str, said: str, version: str = "") -> bool:
    judged = ask(f"{said}\n\n```bash\n{command}\n```\n", "8xH200", version)
    remarks = [remark for each in judged for remark in each.remarks if EARLY in remark.finding.message]
    return any(not remark.of_former for remark in remarks)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_line_like_an_error_that_only_names_the_model_is_no_sign(command: str) -> None:
    assert not told_now(command, "Kimi-Linear activates 3B parameters out of 48B, but fits.")


def test_the_release_itself_is_told() -> None:
    assert told_now(COMMANDS["host"], "It does not serve:", "0.11.0")
