"""Chats to text, through the very template that the served checkpoint carries.

The environment has the two things that inference engines add to plain jinja2: `tojson` with `separators`
and without HTML escapes. Nothing here needs torch or transformers.
"""

import json
from functools import cache
from pathlib import Path

from jinja2 import Template
from jinja2.sandbox import ImmutableSandboxedEnvironment

TEMPLATE_PATH = Path(__file__).with_name("chat_template.jinja")

Message = dict[str, object]
Tool = dict[str, object]


def dump_json(value: object, separators: tuple[str, str] | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, separators=separators)


@cache
def load_template() -> Template:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = dump_json
    return environment.from_string(TEMPLATE_PATH.read_text())


def render(messages: list[Message], tools: list[Tool] | None = None, generation_prompt: bool = True) -> str:
    return load_template().render(messages=messages, tools=tools, add_generation_prompt=generation_prompt)


def render_answer(answer: Message) -> str:
    """What the model has to write after the generation prompt, its end token included.

    The answer is rendered as the last link of a chain, so that its thinking is kept; the frame is cut off.
    """
    frame = render([{"role": "system", "content": ""}])
    link = {**answer, "tool_calls": answer.get("tool_calls") or [_STAND_IN]}
    text = render([{"role": "system", "content": ""}, link], generation_prompt=False)
    text = text.removeprefix(frame)
    if answer.get("tool_calls"):
        return text
    return text[: text.index("<|tool_calls_section_begin|>")] + "<|im_end|>"


_STAND_IN = {"id": "functions.none:0", "function": {"name": "none", "arguments": "{}"}}
