"""One answer to one question, as it is kept. A line of `samples.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from moonpad.load.openai_schema import Message, ToolCall


class Sample(msgspec.Struct, frozen=True):
    """`round` 1 is the evaluation; 2 asks some questions again, to see how much the endpoint differs from itself.

    `content` is None where the endpoint sent null. `asked` is the digest of the request (Question.asked).
    `problem`: why there is no answer; "" with one. `seconds` of the last attempt.
    """

    doc_id: int
    asked: str
    round: Literal[1, 2] = 1
    content: str | None = None
    reasoning: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    seconds: float = 0.0
    attempts: int = 1
    problem: str = ""

    @property
    def failed(self) -> bool:
        return bool(self.problem)

    @property
    def cut(self) -> bool:
        """The limit on tokens ended it, and not the model."""
        return not self.failed and self.finish_reason == "length"

    @property
    def empty(self) -> bool:
        """An answer without a word of content and without a call: what thinking that took all tokens leaves."""
        return not self.failed and not (self.content or "").strip() and not self.tool_calls

    @property
    def usable(self) -> bool:
        """Whether the model had its say: neither failed, nor cut, nor empty."""
        return not (self.failed or self.cut or self.empty)

    def outputs(self, path: str) -> dict[str, Any]:
        """The answer as the API gave it, as far as lm-eval reads it."""
        body = {"text": self.content or ""} if path == "/completions" else {"message": {"content": self.content}}
        return {"choices": [{"index": 0, "finish_reason": self.finish_reason, **body}]}

    def message(self) -> Message:
        functions = [(call.get("id"), call.get("function")) for call in self.tool_calls]
        calls = tuple(
            ToolCall(str(id_), str(function.get("name")), str(function.get("arguments")))
            for id_, function in functions
            if isinstance(function, dict)
        )
        return Message(self.content or "", self.reasoning, tool_calls=calls, finish_reason=self.finish_reason)


def short_enough(sample: Sample, most_bytes: int) -> Sample:
    """The sample as one line of so many bytes: without its thoughts if need be, and else as a failure."""
    if _size(sample) <= most_bytes:
        return sample
    without = msgspec.structs.replace(sample, reasoning="")
    if _size(without) <= most_bytes:
        return without
    problem = f"the answer has {_size(sample):,} bytes, too many to be kept"
    return msgspec.structs.replace(without, content=None, tool_calls=(), finish_reason="", problem=problem)


def _size(sample: Sample) -> int:
    """As a line of JSON in ASCII."""
    return len(json.dumps(msgspec.to_builtins(sample)))


def read_samples(rows: Iterable[object]) -> list[Sample]:
    """Of the lines of a file; what is not a sample is left out. Of one question and round an answer is preferred to a
    failure, and the first answer to a later one."""
    chosen: dict[tuple[int, int], Sample] = {}
    for row in rows:
        try:
            sample = msgspec.convert(row, Sample)
        except msgspec.ValidationError:
            continue
        key = (sample.round, sample.doc_id)
        if key not in chosen or (chosen[key].failed and not sample.failed):
            chosen[key] = sample
    return list(chosen.values())
