"""A command that a terminal has cut at its width, in several places."""

from __future__ import annotations

from moonpad.explain.script import read_script

WIDTH = 70
COMMAND = (
    "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code "
    "--context-length 65536 --mem-fraction-static 0.9 --chunked-prefill-size 8192 --host 0.0.0.0 --port 30000"
)


def test_all_places_are_told_at_the_first() -> None:
    text = "\n".join(COMMAND[at : at + WIDTH] for at in range(0, len(COMMAND), WIDTH))
    (problem,) = read_script(text).problems
    below = len(COMMAND) // WIDTH - 1
    assert problem.message.startswith(f"this line and the {below} below it were each cut after {WIDTH} characters")
