"""What the pages say to type at an endpoint, typed at the fake engine: the first hour and the start, in their order.
They are not run with the pages' other commands (tests/unit/docs), since they need an endpoint."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, Moonpad
from tests.unit.docs.commands import blocks_of, our_commands

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("clean_world")]

STEPS = {"first-hour.md": ("needs 8 GPUs", "needs an endpoint that is up"), "start.md": ("needs the devices",)}
LEFT_OUT = {
    r"verify .*": "the fake engine computes nothing, which verify finds",
    r"eval .*": "needs lm-eval and its questions",
    r"init --model /models/.*": "needs the weights",
    r"calibrate .*": "the fake engine is on no device",
    r"plan .*": "the fake engine is on no device",
    r"watch": "goes on until Ctrl-C",
    r"logs -f": "goes on until the run ends",
    r"chat moonpad.toml": "asks at a terminal",
    r".*\bdcp8\b.*": "the second configuration needs the devices",
    r"down kimi.toml .*": "makes room for the second configuration",
}
SMALLER = {
    "--requests 160": "--requests 16",
    "8192": "64",
    "1024": "16",
    "--concurrency 16": "--concurrency 4",
    "concurrency=1,4,16,64": "concurrency=1,2 --requests-per-stream 2",
}


@pytest.mark.parametrize("page", STEPS)
def test_the_steps_of_a_page(page: str, moonpad: Moonpad, fake_spec: Path) -> None:
    name = {"first-hour.md": "kimi.toml", "start.md": "moonpad.toml"}[page]
    shutil.copy(fake_spec, moonpad.home / name)
    typed = []
    try:
        for words in _steps(page):
            done = moonpad(*words)
            assert done.code == 0, f"{words}\n{done.stdout}\n{done.stderr}"
            typed.append(words[0])
    finally:
        moonpad("down", name)
    assert {"up", "status"} <= set(typed)
    assert page != "first-hour.md" or {"chat", "bench", "report", "doctor", "watch"} <= set(typed)


def _steps(page: str) -> Iterator[list[str]]:
    for block in blocks_of(ROOT / "docs" / page):
        if block.why_not_run.startswith(STEPS[page]):
            for words in (words for line in block.commands for words in our_commands(line)):
                line = shlex.join(words)
                if not any(re.fullmatch(pattern, line) for pattern in LEFT_OUT):
                    for large, small in SMALLER.items():
                        line = line.replace(large, small)
                    yield shlex.split(line)
