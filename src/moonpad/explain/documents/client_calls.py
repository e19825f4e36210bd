"""Requests that a text sends: calls of curl and of OpenAI's library, each with the lines that it reaches over."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_MOST_LINES: Final = 60
_LONGEST: Final = 2000
_CURL: Final = re.compile(r"(?:^|[\s$(`;&|!])curl[ \t]")
_CLIENT: Final = re.compile(r"\b(?:Async)?(?:ChatOpenAI|VLLMOpenAI|OpenAILike|OpenAI)\(")
_CREATE: Final = re.compile(r"\.(?P<kind>chat\.completions|completions)\.(?:create|parse|stream)\(")
_POST: Final = re.compile(r"\b(?:requests|httpx|session|client|s)\.post\(")
_URL: Final = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>localhost|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|(?<=://)[A-Za-z][\w.-]{0,100})"
    r":(?P<port>[0-9]{2,5})(?P<path>/[^\s\"'`<>|;&)]*)?(?![\w-])"
)
_BASE: Final = re.compile(r"\b(?:base_url|api_base|openai_api_base)[ ]*=[ ]*f?[\"'](?P<url>[^\"'\n]{1,200})[\"']")
_PATH: Final = re.compile(r"/v1/(?:chat/)?completions\b")
_WORDS: Final = ("OpenAI", "ompletions", ".post(")
_COMMENT: Final = re.compile(r"\s*(?:#|//)")


class ClientCall(NamedTuple):
    """`kind` is `curl`, `client` (the library's constructor), `create` (a request of it) or `post` (of another library
    of Python, whose address stands in the call). The address is "" where
    the statement has none, `port` "" where it is not a number; `text` is the whole statement."""

    kind: str
    line: int
    text: str
    scheme: str = ""
    host: str = ""
    port: str = ""
    path: str = ""

    @property
    def is_chat(self) -> bool:
        """Whether it asks for the completion of a chat."""
        return self.path.split("?")[0].rstrip("/").endswith("/v1/chat/completions") or (
            self.kind == "create" and ".chat.completions." in self.text
        )


@lru_cache(maxsize=8)
def client_calls(lines: tuple[str, ...]) -> tuple[ClientCall, ...]:
    """Those of a text, in its order; what stands in a comment is not one."""
    found: list[ClientCall] = []
    behind = 0
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST]
        if _COMMENT.match(text) or ("curl" not in text and not any(word in text for word in _WORDS)):
            continue
        if number > behind and (match := _CURL.search(text)):
            statement, behind = _curl(lines, number, match.start())
            found.append(_addressed(ClientCall("curl", number, statement), statement))
        elif match := _CLIENT.search(text):
            statement = whole_call(lines, number, match.end() - 1)
            base = _BASE.search(statement)
            found.append(_addressed(ClientCall("client", number, statement), base["url"] if base else ""))
        elif match := _POST.search(text):
            statement = whole_call(lines, number, match.end() - 1)
            if _PATH.search(statement) and _URL.search(statement):
                found.append(_addressed(ClientCall("post", number, statement), statement))
        elif match := _CREATE.search(text):
            statement = f".{match['kind']}.create{whole_call(lines, number, match.end() - 1)}"
            found.append(ClientCall("create", number, statement))
    return tuple(found)


def _addressed(call: ClientCall, text: str) -> ClientCall:
    match = _URL.search(text)
    if match is None:
        return call
    scheme, host, port, path = (match[name] or "" for name in ("scheme", "host", "port", "path"))
    return call._replace(scheme=scheme, host=host, port=port, path=path)


def _curl(lines: tuple[str, ...], number: int, start: int) -> tuple[str, int]:
    """The command up to where no quote is open and no line goes on, and its last line."""
    text = lines[number - 1][start:_LONGEST]
    last = number
    while last < min(len(lines), number + _MOST_LINES):
        if not text.rstrip().endswith("\\") and _is_closed(text):
            break
        if lines[last].lstrip().startswith(("```", "~~~")):
            break
        text += "\n" + lines[last][:_LONGEST]
        last += 1
    return text, last


def _is_closed(text: str) -> bool:
    """Whether no quote of a shell is open at the end."""
    quote, at = "", 0
    while at < len(text):
        sign = text[at]
        if sign == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        at += 1
    return not quote


def whole_call(lines: tuple[str, ...], number: int, start: int) -> str:
    """From an opening bracket to the one that closes it, or to the end of the block."""
    depth, parts = 0, []
    for at in range(number, min(len(lines), number + _MOST_LINES) + 1):
        line = lines[at - 1][:_LONGEST]
        if at > number and line.lstrip().startswith(("```", "~~~")):
            break
        first = start if at == number else 0
        for place in range(first, len(line)):
            depth += {"(": 1, ")": -1, "[": 1, "]": -1, "{": 1, "}": -1}.get(line[place], 0)
            if depth == 0:
                parts.append(line[first : place + 1])
                return "\n".join(parts)
        parts.append(line[first:])
    return "\n".join(parts)


def arguments(call: ClientCall) -> tuple[str, ...]:
    """Names of the arguments that stand in the call's own brackets: `top_k` of `create(top_k=5, stop=f(n=1))`."""
    text, names, depth, quote = call.text, [], 0, ""
    for match in re.finditer(r"(?P<name>[A-Za-z_]\w*)[ ]*=(?!=)|(?P<sign>\\.|[\"'()\[\]{}#])", text):
        sign = match["sign"]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in ("'", '"'):
            quote = sign
        elif sign and sign in "([{":
            depth += 1
        elif sign and sign in ")]}":
            depth -= 1
        elif match["name"] and depth == 1:
            names.append(match["name"])
    return tuple(names)
