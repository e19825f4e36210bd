"""The prompt that a chat request makes, as text or tokens for the plain completions API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from jinja2 import Template, TemplateError

from moonpad.load.openai_schema import count_of
from moonpad.verify.api import Api, Body
from moonpad.verify.own_text.continuation import NoCompletions
from moonpad.verify.own_text.kimi_text import THINK
from moonpad.verify.own_text.template import render
from moonpad.verify.probe_helpers import tokenize

NO_TOKENIZER: Final = "there is no /tokenize that takes messages, and the chat template is not known"


@dataclass(frozen=True, slots=True)
class Prompt:
    """`text` is "" where only the tokens are known. `count`: its tokens by the server's own tokenizer, if there is one.
    `thinking`: it ends inside the assistant's thinking."""

    text: str
    tokens: tuple[int, ...] = ()
    count: int | None = None
    thinking: bool = False

    @property
    def sent(self) -> str | Sequence[int]:
        return self.text or list(self.tokens)


class NoPrompt(NoCompletions):
    """The prompt of a request cannot be told."""


async def prompt_of(api: Api, body: Body, template: Template | None) -> Prompt:
    """By the model's own template, where it is known, else by the server's /tokenize.

    Raises:
        NoPrompt: neither can be had.
    """
    messages: Any = body["messages"]
    tools: Any = body.get("tools") or ()
    document = await tokenize(
        api, messages=messages, add_generation_prompt=True, **({"tools": list(tools)} if tools else {})
    )
    count = count_of(document.get("count"))
    if template is not None:
        try:
            text = render(template, messages, tools)
        except (TemplateError, TypeError, KeyError, ValueError) as error:
            raise NoPrompt(f"the chat template cannot render the request: {error}") from error
        return Prompt(text, count=count, thinking=text.rstrip().endswith(THINK))
    tokens = _tokens(document)
    if not tokens:
        raise NoPrompt(NO_TOKENIZER, ever=not document)
    text = await _detokenized(api, tokens)
    return Prompt(text, tokens, count or len(tokens), text.rstrip().endswith(THINK))


def _tokens(document: Mapping[str, object]) -> tuple[int, ...]:
    tokens = document.get("tokens")
    return tuple(tokens) if isinstance(tokens, list) and all(type(token) is int for token in tokens) else ()


async def _detokenized(api: Api, tokens: Sequence[int]) -> str:
    """Their text, if the tokenizer makes the same tokens of it again; "" otherwise."""
    reply = await api.post_root("/detokenize", {"tokens": list(tokens)})
    document = reply.json() if reply.status == 200 else None
    text = document.get("prompt") if isinstance(document, dict) else None
    if not isinstance(text, str):
        return ""
    again = await tokenize(api, prompt=text, add_special_tokens=False)
    return text if again.get("tokens") == list(tokens) else ""
