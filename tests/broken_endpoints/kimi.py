"""A scripted Kimi: able, deterministic, and written from its model card and the API's documentation, not from probes.

It does sums, finds what a text says, calls tools with what the user named, and answers from their results.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TOKEN = re.compile(r"<\|[a-z_]+\|>|\[EOS\]|</?think>| ?\w+|[^\w]")
SPECIAL = {"[EOS]": 163585, "<|im_end|>": 163586}
PROPER = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-ZÄÖÜ][a-zà-ÿ]+\b")
FILLER = ("wave", "gull", "harbour", "mast", "tide", "lamp", "rope", "salt")


def tokens_of(text: str) -> list[str]:
    return TOKEN.findall(text)


@dataclass
class Call:
    name: str
    arguments: str
    number: int

    @property
    def id(self) -> str:
        return f"functions.{self.name}:{self.number}"


@dataclass
class Turn:
    """What the model says: its thinking, its words, its calls."""

    reasoning: str = ""
    content: str = ""
    calls: list[Call] = field(default_factory=list)


def text_of(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in content)
    return content if isinstance(content, str) else ""


def rendered(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] = (), *, opened: bool = True) -> str:
    """The prompt in the family's format."""
    parts = []
    if tools:
        parts.append(f"<|im_system|>tool_declare<|im_middle|>{json.dumps(tools)}<|im_end|>")
    if not messages or messages[0].get("role") != "system":
        parts.append("<|im_system|>system<|im_middle|>You are Kimi, an AI assistant created by Moonshot AI.<|im_end|>")
    for message in messages:
        role, body = str(message.get("role")), text_of(message.get("content"))
        if role == "assistant":
            thought = str(message.get("reasoning") or message.get("reasoning_content") or "")
            body = f"<think>{thought}</think>{body}"
            for call in message.get("tool_calls") or ():
                function = call["function"]
                body += f"<|tool_call_begin|>{call['id']}<|tool_call_argument_begin|>{function['arguments']}"
                body += "<|tool_call_end|>"
        if role == "tool":
            body = f"## Return of {message.get('tool_call_id')}\n{body}"
        parts.append(f"<|im_{role}|>{message.get('name') or role}<|im_middle|>{body}<|im_end|>")
    return "".join(parts) + ("<|im_assistant|>assistant<|im_middle|>" if opened else "")


def answer(body: Mapping[str, Any], salt: str = "") -> Turn:
    """The turn that follows a conversation, by the fields of a chat request."""
    messages = body["messages"]
    last = messages[-1]
    user = next(
        (text_of(message.get("content")) for message in reversed(messages) if message.get("role") == "user"), ""
    )
    tools = body.get("tools") or []
    choice = body.get("tool_choice") or ("auto" if tools else "none")
    if (forced := forced_by(body)) is not None:
        return forced
    if last.get("role") == "tool":
        result = text_of(last.get("content"))
        following = re.fullmatch(r"[Nn]ext\w*: (\S+)", result)
        if following is not None and tools:
            before = sum(len(message.get("tool_calls") or ()) for message in messages)
            key = next(iter(tools[0]["function"]["parameters"]["properties"]))
            call = Call(tools[0]["function"]["name"], json.dumps({key: following[1]}), before)
            return Turn("There is another one.", "", [call])
        return Turn("The tool has answered.", f"The tool says: {result}")
    if tools and choice != "none":
        named = choice["function"]["name"] if isinstance(choice, dict) else ""
        chosen = chosen_tool(user, tools, named, must=bool(named) or choice == "required")
        before = sum(len(message.get("tool_calls") or ()) for message in messages)
        if choice == "auto" and len(asked := calls_of_several(user, tools, before)) > 1:
            return Turn("I need several look-ups.", "", asked)
        if chosen is not None:
            return Turn("I need a tool for this.", "", list(calls_of(chosen, user, before)))
    if (form := formed(body)) is not None:
        return Turn("It wants a form.", form)
    narrow = body.get("top_k") == 1 or body.get("top_p", 1.0) < 0.1 or body.get("min_p", 0.0) > 0.8
    if body.get("temperature", 1.0) > 0 and not narrow:
        return Turn("Let me imagine.", sampled(body, salt))
    return under_parameters(answer_to(user, text_of(messages[0].get("content"))), body)


def under_parameters(turn: Turn, body: Mapping[str, Any]) -> Turn:
    """Other words where tokens are banned or penalised."""
    for name in ("presence_penalty", "frequency_penalty", "repetition_penalty"):
        if body.get(name):
            turn.content = f"{turn.content} {name.partition('_')[0]}"
    if body.get("min_tokens"):
        turn.content += f" {' '.join(FILLER * 8)}"
    if any(bias < 0 for bias in (body.get("logit_bias") or {}).values()):
        turn.content = turn.content.replace("8", "")
    return turn


def answer_to(user: str, system: str = "") -> Turn:
    if "German" in system:
        return Turn("In German, then.", "Guten Morgen! Wie kann ich helfen?")
    if match := re.search(r"[Cc]ount to (\d+)", user):
        return Turn(f"I count to {match[1]}.", " ".join(map(str, range(1, int(match[1]) + 1))))
    if match := re.search(r"JSON for (\w+), age (\d+)", user):
        return Turn("It wants JSON.", f'{{"name": "{match[1]}", "age": {match[2]}}}')
    if match := re.search(r'[Ss]ay "(.*)"', user):
        return Turn("I repeat it.", match[1])
    if match := re.search(r"[Ee]xplain ([^.?]+)", user):
        words = f"In short, {match[1]} is a thing that large models use, so that they answer sooner and forget nothing."
        return Turn(f"I explain {match[1]}.", words)
    if match := re.search(r"capital of (\w+)", user):
        return Turn("I know it.", f"The capital of {match[1]} is a large town.")
    if match := re.search(r"(\d+(?:\s*[*/+-]\s*\d+)+)", user):
        value = eval(match[1])  # noqa: S307 - digits and signs alone
        value = int(value) if value == int(value) else value
        return Turn(f"{match[1]} is {value}.", f"The result of this is {value}, dear friend.")
    if match := re.search(r"[Ww]hat is the (number of the [^?]+)\?", user):
        stated = re.search(rf"{re.escape(match[1])} is (\d+)", user)
        return Turn("I look for it.", stated[1] if stated else "I do not know.")
    if "story" in user:
        return Turn("A story, then.", " ".join(FILLER * 30))
    if "ferry" in user:
        return Turn("The text says so.", "It leaves at nine.")
    return Turn("A greeting, it seems.", "Hello to you, and a good day.")


def sampled(body: Mapping[str, Any], salt: str) -> str:
    seed = salt if body.get("seed") is None else body["seed"]
    dice = random.Random(f"{seed} at {body.get('temperature')}")
    return " ".join(dice.choice(FILLER) for _ in range(24))


def formed(body: Mapping[str, Any]) -> str | None:
    form = body.get("response_format") or {}
    if form.get("type") == "json_object":
        return '{"town": "Rome"}'
    if form.get("type") == "json_schema":
        return json.dumps(filled(form["json_schema"]["schema"], "", "", []), ensure_ascii=False)
    return None


CONTROL = {"n": "\n", "t": "\t", "r": "\r"}
WRITTEN_CALL = re.compile(
    r"<\|tool_call_begin\|>functions\.(.+?):(\d+)<\|tool_call_argument_begin\|>(.*?)<\|tool_call_end\|>", re.DOTALL
)


def forced_by(body: Mapping[str, Any]) -> Turn | None:
    """A text that a regular expression forces: one without choices, or a date."""
    pattern = (body.get("structured_outputs") or {}).get("regex")
    if not pattern:
        return None
    if r"\d" in pattern:
        return Turn("It wants a form.", "2026-05-01")
    text = re.sub(r"\\(.)", lambda match: CONTROL.get(match[1], match[1]), pattern)
    calls = [Call(name, arguments, int(number)) for name, number, arguments in WRITTEN_CALL.findall(text)]
    return Turn("It wants a form.", "" if calls else text, calls)


def chosen_tool(user: str, tools: Sequence[Any], named: str, *, must: bool) -> Any:
    def stems(text: str) -> set[str]:
        return {word.rstrip("s") for word in re.findall(r"[a-z]{4,}", text.lower())}

    words = stems(user)

    def score(tool: Any) -> int:
        function = tool["function"]
        return len(words & stems(f"{function['name']} {function.get('description', '')}"))

    offered = [tool for tool in tools if not named or tool["function"]["name"] == named]
    best = max(offered, key=score)
    return best if must or score(best) > 0 else None


def calls_of_several(user: str, tools: Sequence[Any], first: int) -> list[Call]:
    """One for each part of the question that names something and fits another tool than the part before."""
    chosen = [(part, chosen_tool(part, tools, "", must=False)) for part in re.split(r", | and ", user)]
    named = re.compile(rf"{PROPER.pattern}|\b[A-Z]{{3,}}\b")
    fitting = [(part, tool) for part, tool in chosen if tool is not None and named.search(part)]
    if len({tool["function"]["name"] for _, tool in fitting}) < 2:
        return []
    return [calls_of(tool, part, first + number)[0] for number, (part, tool) in enumerate(fitting)]


def calls_of(tool: Any, user: str, first: int) -> list[Call]:
    function = tool["function"]
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    required = schema.get("required") or []
    names = PROPER.findall(user)
    of = [names[place : place + 1] for place in range(len(names))] if len(required) == 1 and names else [names]
    return [
        Call(function["name"], json.dumps(filled(schema, "", user, subset), ensure_ascii=False), first + number)
        for number, subset in enumerate(of)
    ]


def filled(schema: Mapping[str, Any], name: str, user: str, names: Sequence[str]) -> Any:
    """A value by the schema, out of what the user said."""
    if options := schema.get("enum"):
        return next((option for option in options if str(option) in user), options[0])
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties") or {}
        return {key: filled(inner, key, user, names) for key, inner in properties.items()}
    if kind == "array" and (options := schema["items"].get("enum")):
        return [option for option in options if str(option) in user] or options[:1]
    if kind == "array" and schema["items"].get("type") in ("integer", "number"):
        return [int(number) for number in re.findall(r"\d+", user)] or [1, 2]
    if kind == "array":
        return re.findall(r"[A-ZÄÖÜ][a-zà-ÿ]+", user.partition(" for ")[2]) or list(names) or ["one", "two"]
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        match = re.search(r"\d+", user)
        return int(match[0]) if match else 1
    if match := re.search(r"[Ff]ollow the \w+ from (\w+) to", user):
        return match[1]
    if match := re.search(rf"\b{re.escape(name)} ([A-ZÄÖÜ][\wà-ÿ]+)", user):
        return match[1]
    if name == "text" and "\n" in user:
        return user.partition("\n")[2]
    if name == "path" and (match := re.search(r"\b[\w-]+\.\w+\b", user)):
        return match[0]
    return names[0] if names else "London"
