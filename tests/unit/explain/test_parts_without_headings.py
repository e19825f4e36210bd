"""Words that say of a part that it is resolved, or that it works, in a text that has no headings."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"


@pytest.mark.parametrize(
    "text",
    [
        f"```bash\n# RESOLVED: the crash at start\n{SERVE}\n```\n",
        f"```bash\n# fixed\n{SERVE}\n```\n",
        f"**What works:**\n\n```bash\n{SERVE}\n```\n",
        f"**Working command**\n\n{SERVE}\n",
        "# resolved\n",
    ],
)
def test_such_a_text_is_read(text: str) -> None:
    script = read_script(text, markdown=True)
    assert [command.program for command in script.commands if command.program == "vllm serve"] == (
        ["vllm serve"] if "vllm" in text else []
    )
