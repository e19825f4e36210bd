"""The HTTP requests to a model, by the chat API or the completions API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from moonpad.load.endpoint_url import Target

Api = Literal["chat", "completions"]
PATHS: Final[Mapping[Api, str]] = {"chat": "/chat/completions", "completions": "/completions"}


@dataclass(frozen=True, slots=True)
class RequestBuilder:
    """Where no temperature is given, sampling is left to the server's defaults, as `vllm bench serve` does."""

    target: Target
    model: str
    api: Api = "chat"
    ignore_eos: bool = False
    temperature: float | None = None

    def stream(self, text: str, output_tokens: int) -> bytes:
        """One streamed answer to one text, by the API of the run."""
        if self.api == "chat":
            return self.chat([_user(text)], output_tokens)
        return self._post({"prompt": text, **self._options(output_tokens)})

    def chat(
        self, messages: Sequence[Mapping[str, Any]], output_tokens: int, tools: Sequence[Mapping[str, Any]] = ()
    ) -> bytes:
        """One streamed answer to a conversation."""
        return self._post(
            {"messages": messages, **self._options(output_tokens), **({"tools": list(tools)} if tools else {})}
        )

    def count_by_usage(self, text: str) -> bytes:
        """One token, not streamed: its usage has the count of the input."""
        prompt = {"messages": [_user(text)]} if self.api == "chat" else {"prompt": text}
        return self._post({**prompt, "max_tokens": 1})

    def count_by_tokenize(self, text: str) -> bytes:
        """vLLM's way to count, without computing anything."""
        body = {"messages": [_user(text)], "add_generation_prompt": True} if self.api == "chat" else {"prompt": text}
        return self.target.post(f"{self.target.root_path}/tokenize", orjson.dumps({"model": self.model, **body}))

    def _options(self, output_tokens: int) -> dict[str, Any]:
        options: dict[str, Any] = {
            "max_tokens": output_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if self.ignore_eos:
            options["ignore_eos"] = True  # vLLM and SGLang read it; the OpenAI API has no such key
        if self.temperature is not None:
            options["temperature"] = self.temperature
        return options

    def _post(self, body: Mapping[str, Any]) -> bytes:
        return self.target.post(f"{self.target.api_path}{PATHS[self.api]}", orjson.dumps({"model": self.model, **body}))


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
