"""One completion on its way to its client, whole or streamed. Every answer has `max_tokens` tokens, all the same."""

from __future__ import annotations

import json
from typing import Any

from fake_engine.wire import Connection, http_chunk

WORD = "kimi "
TEMPLATE_TOKENS = 4
DEFAULT_MAX_TOKENS = 16
FAILED = {"error": {"message": "EngineCore encountered an issue.", "type": "InternalServerError", "code": 500}}


def event(document: object) -> bytes:
    text = document if isinstance(document, str) else json.dumps(document)
    return http_chunk(f"data: {text}\n\n".encode())


def prompt_tokens_of(body: dict[str, Any]) -> int:
    """A token a word; a chat has those of its template too."""
    if "messages" not in body:
        return max(1, len(str(body.get("prompt", "")).split()))
    return TEMPLATE_TOKENS + sum(len(text_of(message.get("content")).split()) for message in body["messages"])


def text_of(content: object) -> str:
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content)
    return str(content or "")


class Completion:
    def __init__(self, connection: Connection, number: int, model: str, body: dict[str, Any], *, chat: bool) -> None:
        self.connection, self.chat = connection, chat
        self.prompt_tokens = prompt_tokens_of(body)
        self.max_tokens = int(body.get("max_tokens") or body.get("max_completion_tokens") or DEFAULT_MAX_TOKENS)
        self.streamed = bool(body.get("stream"))
        self.tokens = 0
        kind = "chat.completion" if chat else "text_completion"
        self._about = {"id": f"cmpl-{number}", "object": kind, "created": 0, "model": model}
        if self.streamed:
            self._about["object"] = f"{kind}.chunk" if chat else kind
            self._word = event(self._chunk({"content": WORD} if chat else WORD, None))
            connection.begin_stream()

    def token(self) -> None:
        self.tokens += 1
        if not self.streamed:
            return
        if self.tokens == 1 and self.chat:
            self.connection.send(event(self._chunk({"role": "assistant", "content": ""}, None)))
        self.connection.send(self._word)

    def finish(self) -> None:
        if self.streamed:
            last = event(self._chunk({} if self.chat else "", "length"))
            usage = event({**self._about, "choices": [], "usage": self._usage()})
            self.connection.send(last + usage + event("[DONE]"))
            self.connection.end_stream()
        else:
            self.connection.answer(200, {**self._about, "choices": [self._whole()], "usage": self._usage()})

    def fail(self) -> None:
        """The engine core died under it: a 500, or an error inside the stream whose 200 has been sent."""
        if self.streamed:
            self.connection.send(event(FAILED) + event("[DONE]"))
            self.connection.end_stream()
        else:
            self.connection.answer(500, FAILED)

    def _whole(self) -> dict[str, object]:
        text = WORD * self.tokens
        body: dict[str, object] = {"message": {"role": "assistant", "content": text}} if self.chat else {"text": text}
        return {"index": 0, **body, "finish_reason": "length"}

    def _chunk(self, body: object, finish_reason: str | None) -> dict[str, object]:
        choice = {"index": 0, "delta" if self.chat else "text": body, "finish_reason": finish_reason}
        return {**self._about, "choices": [choice]}

    def _usage(self) -> dict[str, int]:
        total = self.prompt_tokens + self.tokens
        return {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.tokens, "total_tokens": total}
