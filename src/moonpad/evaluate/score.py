"""What was taken from an answer by one filter, and whether it is right. A line of `scores.jsonl`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from moonpad.spec.json_input import json_lines


class Score(msgspec.Struct, frozen=True):
    """`exact_match` is 1 for a right answer, by lm-eval's name."""

    doc_id: int
    filter: str
    extracted: str
    exact_match: float
    round: Literal[1, 2] = 1

    @property
    def correct(self) -> bool:
        return self.exact_match == 1.0


def read_scores(path: Path) -> list[Score]:
    """Raises OSError: the file cannot be read; ValueError: a line is not a score."""
    return [msgspec.convert(row, Score) for row in json_lines(path, most_bytes=512_000_000)]
