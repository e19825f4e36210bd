"""What an OpenAI chat API sends, as frozen values. Pure; no input raises an exception."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from moonpad.values.records import replace
from moonpad.values.units import MIB

# vLLM writes the first, SGLang and older vLLM the second (vllm-project/vllm#27755).
REASONING_FIELDS: Final = ("reasoning", "reasoning_content")
MOST_TOKENS: Final = 10**8
"""Ten times the longest context of any model: a server that counts more in one request does not count."""
TEMPLATE_TOKENS: Final = 1 << 16
MOST_NAME_CHARACTERS: Final = 512
"""Of a model's id, which each request repeats."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer. `text` is what of the body was kept, cut where `truncated`."""

    status: int
    text: str
    truncated: bool = False

    def json(self) -> object:
        """The parsed body; None where it is not JSON."""
        return read_json(self.text)

    def error_text(self) -> str:
        """What the server says went wrong, in one line of at most 300 characters."""
        document = self.json()
        message = error_of(document) if isinstance(document, dict) else ""
        return one_line(message or self.text) or "no text"

    @property
    def because(self) -> str:
        """Why there is no other answer."""
        return f"HTTP {self.status}: {self.error_text()}"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counts them; None where it does not report them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None

    def credible(self, sent_bytes: int, most_output: int) -> Usage:
        """Without the counts that cannot be of a request of `sent_bytes` bytes, for which at most `most_output` tokens
        were generated: a sum with them would be wrong.

        A token of a prompt is a byte at least, but for what templates and gateways add.
        """
        return replace(
            self,
            prompt_tokens=_at_most(self.prompt_tokens, sent_bytes + TEMPLATE_TOKENS),
            completion_tokens=_at_most(self.completion_tokens, most_output),
            reasoning_tokens=_at_most(self.reasoning_tokens, most_output),
        )


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`arguments` is the JSON text as the server wrote it."""

    id: str
    name: str
    arguments: str

    def as_json(self) -> dict[str, object]:
        """As the API has it, in an answer and in the history."""
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


@dataclass(frozen=True, slots=True)
class Message:
    """One answer of the assistant. `reasoning_field` is the name under which the reasoning came, "" without any."""

    content: str = ""
    reasoning: str = ""
    reasoning_field: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = ""
    usage: Usage | None = None

    def as_history(self) -> dict[str, object]:
        """As it goes back to the model: the thinking under both names, since engines read one of them."""
        calls = [call.as_json() for call in self.tool_calls]
        thinking = {"reasoning": self.reasoning, "reasoning_content": self.reasoning} if self.reasoning else {}
        return {"role": "assistant", "content": self.content, **({"tool_calls": calls} if calls else {}), **thinking}


@dataclass(frozen=True, slots=True)
class Malformed:
    """An answer that is not of the API's shape."""

    because: str


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of the tool call number `index`; `id` and `name` come with its first piece."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Delta:
    """One event of a stream. The event with the usage has nothing else."""

    content: str = ""
    reasoning: str = ""
    reasoning_field: str = ""
    calls: tuple[CallDelta, ...] = ()
    finish_reason: str = ""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The event `data: [DONE]`."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The stream is not right: an error inside it, an event that is not JSON, a cut connection."""

    because: str


Event = Delta | Done | Broken | Reply
"""A reply is an HTTP error instead of a stream."""


def read_json(text: str | bytes) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def model_cards(document: object) -> tuple[dict[str, object], ...] | Malformed:
    """The models of `GET /v1/models`, each with at least an `id`."""
    rows = document.get("data") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        return Malformed("`data` is not a list")
    cards = tuple(row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str))
    if len(cards) < len(rows) or not all(0 < len(card["id"]) <= MOST_NAME_CHARACTERS for card in cards):
        return Malformed(f"a model without an `id` of 1 to {MOST_NAME_CHARACTERS} characters")
    return cards


def names_of(cards: Sequence[Mapping[str, object]], most: int = 8) -> str:
    """The ids of the models, of many the first."""
    more = f" and {len(cards) - most} more" if len(cards) > most else ""
    return (", ".join(str(card["id"]) for card in cards[:most]) or "none") + more


def read_answer(document: object) -> Message | Malformed:
    """The first choice of a chat completion that was not streamed."""
    if not isinstance(document, dict):
        return Malformed("the body is not a JSON object")
    choice = _first(document.get("choices")) or {}
    message = choice.get("message")
    if not isinstance(message, dict):
        return Malformed(f"no choice with a message; {one_line(error_of(document)) or 'and no error'}")
    calls = _calls(message.get("tool_calls"))
    if isinstance(calls, Malformed):
        return calls
    if not isinstance(message.get("content"), str | None):
        return Malformed("`content` is neither text nor null")
    field, reasoning = reasoning_of(message)
    return Message(
        content=message.get("content") or "",
        reasoning=reasoning,
        reasoning_field=field,
        tool_calls=calls,
        finish_reason=text_of(choice.get("finish_reason"))[:MOST_NAME_CHARACTERS],
        usage=read_usage(document.get("usage")),
    )


def join(deltas: Iterable[Delta]) -> Message:
    """The message that a stream adds up to."""
    deltas = tuple(deltas)
    pieces: dict[int, list[CallDelta]] = {}
    for piece in (piece for delta in deltas for piece in delta.calls):
        pieces.setdefault(piece.index, []).append(piece)
    return Message(
        content="".join(delta.content for delta in deltas),
        reasoning="".join(delta.reasoning for delta in deltas),
        reasoning_field=_last(delta.reasoning_field for delta in deltas),
        tool_calls=tuple(_joined(pieces[index]) for index in sorted(pieces)),
        finish_reason=_last(delta.finish_reason for delta in deltas),
        usage=next((delta.usage for delta in reversed(deltas) if delta.usage), None),
    )


def _joined(pieces: Sequence[CallDelta]) -> ToolCall:
    """One call; its id and name are the first that came."""
    return ToolCall(
        next((piece.id for piece in pieces if piece.id), ""),
        next((piece.name for piece in pieces if piece.name), ""),
        "".join(piece.arguments for piece in pieces),
    )


def reasoning_of(message: Mapping[str, object]) -> tuple[str, str]:
    """The name of the field with the thinking, and its text; "" for both without any."""
    # A server may send both names, for old clients and new: then they hold the same text.
    return next(((field, text) for field in REASONING_FIELDS if (text := text_of(message.get(field)))), ("", ""))


def _calls(rows: object) -> tuple[ToolCall, ...] | Malformed:
    if rows is None:
        return ()
    if not isinstance(rows, list):
        return Malformed("`tool_calls` is not a list")
    calls = []
    for row in rows:
        function = row.get("function") if isinstance(row, dict) else None
        if not isinstance(function, dict):
            return Malformed("a tool call without a `function`")
        if not isinstance(function.get("arguments"), str):
            return Malformed("the `arguments` of a tool call are not a string")
        calls.append(ToolCall(text_of(row.get("id")), text_of(function.get("name")), function["arguments"]))
    return tuple(calls)


def read_usage(row: object) -> Usage | None:
    """A count that is not one (`count_of`) counts as not reported."""
    if not isinstance(row, dict):
        return None
    details, of_prompt = row.get("completion_tokens_details"), row.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=count_of(row.get("prompt_tokens")),
        completion_tokens=count_of(row.get("completion_tokens")),
        total_tokens=count_of(row.get("total_tokens")),
        reasoning_tokens=count_of(details.get("reasoning_tokens")) if isinstance(details, dict) else None,
        cached_tokens=count_of(of_prompt.get("cached_tokens")) if isinstance(of_prompt, dict) else None,
    )


def usage_of(document: object) -> Usage:
    """Of a whole answer; all None where it reports nothing."""
    return (read_usage(document.get("usage")) if isinstance(document, dict) else None) or Usage()


def count_of(value: object) -> int | None:
    """A number of tokens that a server reports: a whole number from 0 to MOST_TOKENS. None for anything else."""
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def most_events(asked_tokens: int) -> int:
    """Events of the stream of an answer of at most so many tokens: there may be several to a token, and some without.
    A stream of more ignores the limit that it was given, and may have no end.
    """
    return 4 * asked_tokens + 256


def most_event_bytes(asked_tokens: int) -> int:
    """Of one event: a whole answer with its log-probabilities fits. Parsed, JSON takes up to thirty times its size."""
    return min(16 * MIB, MIB + 1024 * asked_tokens)


def _at_most(count: int | None, most: int) -> int | None:
    return None if count is None or count > most else count


def error_of(document: Mapping[str, object]) -> str:
    """The message of an error body: OpenAI's `{"error": {"message"}}`, older vLLM's `message`, FastAPI's `detail`."""
    error = document.get("error")
    if isinstance(error, dict):
        return text_of(error.get("message"))
    return text_of(error) or text_of(document.get("message")) or text_of(document.get("detail"))


def _first(rows: object) -> dict[str, object] | None:
    return rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else None


def _last(texts: Iterable[str]) -> str:
    return next((text for text in reversed(tuple(texts)) if text), "")


def text_of(value: object) -> str:
    """ "" for anything else than a text."""
    return value if isinstance(value, str) else ""


def one_line(text: str, most: int = 300) -> str:
    line = " ".join(text.lstrip()[: 4 * most].split())  # of megabytes the beginning is enough
    return line if len(line) <= most and len(text) <= 4 * most else line[:most] + " …"


def has_choice(text: str) -> bool:
    """Whether the text of an answer is a completion of any kind."""
    document = read_json(text)
    return isinstance(document, dict) and _first(document.get("choices")) is not None


def completion_text(document: object) -> str | None:
    """The text of the first choice of a plain completion; None without one."""
    choice = _first(document.get("choices")) if isinstance(document, dict) else None
    text = (choice or {}).get("text")
    return text if isinstance(text, str) else None
