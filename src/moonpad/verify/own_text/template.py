"""Renders a conversation by the chat template of one of our own models, as every engine does it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any, Final

from jinja2 import Template
from jinja2.sandbox import ImmutableSandboxedEnvironment

from moonpad.load.openai_schema import read_json

CHECKPOINTS: Final = "moonpad.catalog"
TEMPLATE: Final = "chat_template.jinja"


def model_of(card: Mapping[str, object]) -> str:
    """The name of the checkpoint by a card of the model list: that of its folder, or the id."""
    root = card.get("root")
    return PurePosixPath(root).name if isinstance(root, str) else str(card.get("id", ""))


def shipped_template(model: str) -> Template | None:
    """That of a model whose checkpoint comes with moonpad."""
    if not model or "/" in model or model.startswith("."):
        return None
    path = files(CHECKPOINTS) / model / TEMPLATE
    return _compiled(path.read_text("utf-8")) if path.is_file() else None


def render(template: Template, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] = ()) -> str:
    """The prompt, with the beginning of the assistant's turn."""
    return template.render(
        messages=[_with_parsed_arguments(message) for message in messages],
        tools=list(tools) or None,
        add_generation_prompt=True,
    )


@cache
def _compiled(text: str) -> Template:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = _tojson
    return environment.from_string(text)


def _tojson(value: object, separators: tuple[str, str] | None = None, **_: object) -> str:
    """As transformers has it: without HTML escapes, and with `separators`."""
    return json.dumps(value, ensure_ascii=False, separators=separators)


def _with_parsed_arguments(message: Mapping[str, Any]) -> dict[str, Any]:
    """Engines give the arguments of earlier calls to the template as an object."""
    row = dict(message)
    if calls := row.get("tool_calls"):
        row["tool_calls"] = [_with_object(call) for call in calls]
    return row


def _with_object(call: Mapping[str, Any]) -> dict[str, Any]:
    function = dict(call["function"])
    arguments = read_json(function.get("arguments") or "{}")
    if isinstance(arguments, dict):
        function["arguments"] = arguments
    return {**call, "function": function}
