"""Questions of the user's own: a JSONL file, each line with a question and the right answer, exact or as a regex.

    {"question": "What is 6 × 7?", "answer": "42"}
    {"question": "What is 6 × 7?", "regex": "\\b42\\b", "id": "times", "system": "Answer in one word."}

An exact answer is compared without white space at both ends; with `"ignore_case": true` also without case. A regex is
searched for in the answer; its last group, or its whole match, is shown as what was taken from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from moonpad.catalog.evaluations import Protocol
from moonpad.evaluate.question import Question, digest
from moonpad.evaluate.sample import Sample
from moonpad.evaluate.score import Score
from moonpad.evaluate.time_limit import time_limit
from moonpad.spec.input_file import read_regular
from moonpad.spec.json_input import lines_in, load_json
from moonpad.values.errors import UsageError

FILTER: Final = "answer"
FILE_BYTES: Final = 64 << 20
MOST_QUESTIONS: Final = 100_000
SEARCHED: Final = 200_000
"""Characters of an answer that a regex sees."""
REGEX_S: Final = 10.0
"""For one answer; a sound one takes microseconds."""
SEED: Final = 1234
REMEDY: Final = 'a line is {"question": …, "answer": …}, or "regex" in place of "answer"'


class Line(msgspec.Struct, forbid_unknown_fields=True):
    question: str
    answer: str | None = None
    regex: str | None = None
    id: str | int | None = None
    system: str = ""
    ignore_case: bool = False

    def right(self, content: str) -> tuple[bool, str]:
        """Whether an answer is right, and what was taken from it."""
        if self.regex is None:
            given, wanted = content.strip(), (self.answer or "").strip()
            same = given.casefold() == wanted.casefold() if self.ignore_case else given == wanted
            return same, given
        match = re.search(self.regex, content[:SEARCHED], re.IGNORECASE if self.ignore_case else 0)
        return match is not None, (match[match.lastindex or 0] or "") if match else ""


def read_lines(path: Path) -> list[Line]:
    """
    Raises:
        UsageError: the file cannot be read, or a line is not a question; the message has its number.
    """
    try:
        text = read_regular(path, FILE_BYTES)
    except OSError as error:
        remedy = "--task FILE.jsonl; gsm8k and tools are the tasks with names"
        raise UsageError(f"{path} cannot be read: {error.strerror or error}", remedy=remedy) from error
    numbered = {number: line for number, line in enumerate(lines_in(text), 1) if line.strip()}
    lines = [_line(path, number, line) for number, line in numbered.items()]
    if not lines:
        raise UsageError(f"{path} holds no question", remedy=REMEDY)
    if len(lines) > MOST_QUESTIONS:
        raise UsageError(f"{path} has {len(lines):,} questions; the limit is {MOST_QUESTIONS:,}", remedy="split it")
    seen: dict[str, int] = {}
    for number, line in zip(numbered, lines, strict=True):
        if line.id is not None and (first := seen.setdefault(str(line.id), number)) != number:
            message = f"{path}, line {number}: line {first} has the id {line.id!r} too"
            raise UsageError(message, remedy="give each question its own id, or none; --again N asks questions twice")
    return lines


def _line(path: Path, number: int, text: bytes) -> Line:
    try:
        line = msgspec.convert(load_json(text), Line)
        if (line.answer is None) == (line.regex is None):
            raise ValueError("it needs either an answer or a regex")
        if not line.question.strip():
            raise ValueError("the question is empty")
        if line.regex == "" or (line.answer is not None and not line.answer.strip()):
            raise ValueError("the answer is empty" if line.regex is None else "the regex is empty: it finds any answer")
        if line.regex is not None:
            re.compile(line.regex)
    except (ValueError, msgspec.ValidationError, re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"{path}, line {number}: {error}", remedy=REMEDY) from error
    return line


def questions_of(lines: Sequence[Line], protocol: Protocol, model: str) -> list[Question]:
    return [_question(number, line, protocol, model) for number, line in enumerate(lines)]


def _question(number: int, line: Line, protocol: Protocol, model: str) -> Question:
    system = [{"role": "system", "content": line.system}] if line.system else []
    payload: dict[str, Any] = {
        "messages": [*system, {"role": "user", "content": line.question}],
        "model": model,
        "max_tokens": protocol.max_tokens,
        "temperature": protocol.gen_kwargs.get("temperature", 0.0),
        "seed": SEED,
    }
    target = line.answer if line.regex is None else line.regex
    return Question(number, digest(msgspec.to_builtins(line)), line.question, target or "", payload)


def score(lines: Sequence[Line], samples: Iterable[Sample]) -> list[Score]:
    """
    Raises:
        UsageError: a regex takes too long: nested repetition may take longer than the world is old.
    """
    scores = []
    for sample in samples:
        line, content = lines[sample.doc_id], sample.content or ""
        try:
            with time_limit(REGEX_S):
                right, taken = line.right(content)
        except TimeoutError as error:
            message = f"question {sample.doc_id + 1}: {line.regex!r} takes more than {REGEX_S:g} s on one answer"
            remedy = "write the regex without repetition in repetition, as in (a+)+, and evaluate again"
            raise UsageError(message, remedy=remedy) from error
        scores.append(Score(sample.doc_id, FILTER, taken[:2000], float(right)))
    return scores
