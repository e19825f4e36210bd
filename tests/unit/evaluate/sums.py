"""Questions with known answers, an endpoint that answers them in every way, and the command that asks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moonpad.cli.command_line import run
from moonpad.load.openai_schema import read_json
from tests.unit.evaluate.answering_server import Answer

COUNT = 120
FATE = {0: "wrong", 1: "cut", 2: "empty", 3: "no number"}
"""Of a question by its number modulo 12; the others are answered right."""


def fate(number: int) -> str:
    return FATE.get(number % 12, "right")


def answered(question: str, before: int) -> Answer:
    number = int(question.split()[2])
    right = str(2 * number)
    match fate(number):
        case "wrong":
            return Answer(str(2 * number + 1))
        case "cut":
            return Answer("Let me think about", finish="length")
        case "empty":
            return Answer(None, reasoning="so many thoughts", finish="length")
        case "no number":
            return Answer("I do not know")
    return Answer(right)


def evaluate(capfd: pytest.CaptureFixture[str], url: str, *argv: str) -> tuple[int, Any, str]:
    code = run(["eval", "--url", url, "--json", *argv])
    said = capfd.readouterr()
    return code, read_json(said.out), said.err


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
