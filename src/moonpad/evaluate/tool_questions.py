"""Requests that offer tools, as the vendor verifier sends them: is a tool called where one is needed, with arguments
that are valid by its schema?

`calls` (of moonpad's own set, where it is known): a call exactly where the question needs one. `schema`: of the answers
that call, those whose calls are all valid. Both are yes or no a question, so that they have intervals and pairs as any
accuracy; the verifier's own F1 has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from moonpad.catalog.evaluations import Protocol
from moonpad.evaluate.question import Question, digest
from moonpad.evaluate.sample import Sample
from moonpad.evaluate.score import Score
from moonpad.spec.input_file import read_regular
from moonpad.spec.json_input import lines_in
from moonpad.values.errors import UsageError
from moonpad.verify.vendor import calls_problem, read_requests
from moonpad.verify.vendor_set import own_requests

CALLS: Final = "calls"
SCHEMA: Final = "schema"
CALL, WORDS, UNKNOWN = "a call", "words", ""
FILE_BYTES: Final = 64 << 20
UNSENT: Final = ("model", "stream", "stream_options")


def own_questions(protocol: Protocol, model: str) -> list[Question]:
    """moonpad's 500, of which every second needs a call (verify/vendor_set.py)."""
    bodies = own_requests()
    return [
        _question(number, body, CALL if number % 2 == 0 else WORDS, protocol, model)
        for number, body in enumerate(bodies)
    ]


def questions_of_file(path: Path, protocol: Protocol, model: str) -> list[Question]:
    """
    Raises:
        UsageError: the file cannot be read, or is not one of the vendor verifier's.
    """
    try:
        lines = [line.decode("utf-8") for line in lines_in(read_regular(path, FILE_BYTES))]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path} cannot be read: {reason}", remedy="--task tools --data FILE.jsonl") from error
    try:
        requests = read_requests(lines)
    except UsageError as error:
        raise UsageError(f"{path}: {error.message}", remedy=error.remedy) from error
    for request in requests:
        most = request.body.get("max_tokens")
        if most is not None and (type(most) is not int or most < 1):
            message = f"{path}: line {request.index} has {most!r} as max_tokens"
            raise UsageError(message, remedy="a number from 1 on, or none")
    return [_question(place, request.body, UNKNOWN, protocol, model) for place, request in enumerate(requests)]


def _question(number: int, body: Mapping[str, Any], target: str, protocol: Protocol, model: str) -> Question:
    kept = {name: value for name, value in body.items() if name not in UNSENT}
    payload = {"temperature": 0.0, **kept, "model": model}
    payload["max_tokens"] = min(protocol.max_tokens, kept.get("max_tokens") or protocol.max_tokens)
    last = next((message.get("content") for message in reversed(body["messages"])), "")
    text = last if isinstance(last, str) else json.dumps(last)
    return Question(number, digest(kept), text, target, payload)


def score(questions: Sequence[Question], samples: Iterable[Sample]) -> list[Score]:
    by_id = {question.doc_id: question for question in questions}
    return [row for sample in samples for row in _scores(by_id[sample.doc_id], sample)]


def _scores(question: Question, sample: Sample) -> Iterator[Score]:
    called = sample.finish_reason == "tool_calls"
    names = ", ".join(call.name for call in sample.message().tool_calls)
    if question.target != UNKNOWN:
        right = called == (question.target == CALL)
        yield Score(question.doc_id, CALLS, names or WORDS, float(right))
    if called:
        problem = calls_problem(sample.message(), question.payload.get("tools") or [])
        yield Score(question.doc_id, SCHEMA, problem[:2000] or names, float(not problem))
