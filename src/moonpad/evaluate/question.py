"""One question: what is sent, and what is right. A line of `requests.jsonl`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec

from moonpad.spec.input_file import open_regular
from moonpad.spec.json_input import load_json
from moonpad.values.errors import UsageError

FILE_BYTES: Final = 512_000_000


class Question(msgspec.Struct, frozen=True):
    """`doc_id` is its place in the set, from 0; `doc_hash` is of the question itself. `target` is the right answer."""

    doc_id: int
    doc_hash: str
    question: str
    target: str
    payload: dict[str, Any]

    @property
    def asked(self) -> str:
        """A digest of the request without the model's name: two evaluations with the same asked the same."""
        return digest({**self.payload, "model": ""})


def digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def read_questions(path: Path) -> list[Question]:
    """In the order in which they are sent.

    Raises:
        UsageError: the file is not there, or is not one of ours: it is written whole, so that no line of it is torn.
    """
    try:
        with open_regular(path, FILE_BYTES) as file:
            questions = [msgspec.convert(load_json(line), Question) for line in file]
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", remedy="name a folder of moonpad eval") from error
    except (ValueError, msgspec.ValidationError) as error:
        raise UsageError(f"{path} does not hold questions: {error}", remedy="name a folder of moonpad eval") from error
    if not questions:
        raise UsageError(f"{path} holds no question", remedy="name a folder of moonpad eval")
    if len({question.doc_id for question in questions}) < len(questions):
        raise UsageError(f"{path} has a question twice", remedy="evaluate again, into another folder")
    return questions


def lines_of(questions: Iterable[Question]) -> str:
    return "".join(json.dumps(msgspec.to_builtins(question)) + "\n" for question in questions)
