"""The arguments that an engine's log repeats: `Namespace(a=1)`, `{'a': 1}`, `ServerArgs(a=1)`, `with config: a=1, …`.

Written by Python's `repr`, with objects among the values that are not literals (`<CompilationMode.VLLM_COMPILE: 3>`,
`AttentionConfig(backend=None)`). One pass, linear in the text; nothing here raises, whatever the text is.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

Logged = str | int | float | bool | None | tuple["Logged", ...] | Mapping[str, "Logged"]
"""An object that is not a literal is a Mapping of its own arguments, or its text."""

KEY_NAME: Final = re.compile(r"(?:^|_)(?:keys?|token|secret|password|passwd)$|api_?key", re.IGNORECASE)
"""Names of arguments whose values are not repeated."""
LONGEST: Final = 200_000
"""Of a text; the longest that an engine is known to write has 16,000 characters."""
MOST: Final = 2_000
DEEPEST: Final = 6

# A name is a word; in the text of a dict it is quoted.
_NAME: Final = re.compile(r"\s*(?:(['\"])([A-Za-z_]\w{0,80})\1\s*:|([A-Za-z_]\w{0,80})\s*=(?!=))\s*", re.ASCII)
_MARK: Final = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[\[({]|[\])}]|,""")
_MARK_OR_BLANK: Final = re.compile(_MARK.pattern + r"|[ ](?=[a-z_]\w{0,80}=)")
_CALL: Final = re.compile(r"[A-Za-z_][\w.]{0,80}\(", re.ASCII)
_INTEGER: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{0,18})?(?:e[+-]?[0-9]{1,3})?", re.ASCII | re.IGNORECASE)
_WORDS: Final[Mapping[str, bool | None]] = {
    "True": True, "False": False, "None": None, "true": True, "false": False, "null": None,
}  # fmt: skip


def arguments_in(text: str, depth: int = 0) -> dict[str, Logged]:
    """The `name=value` or `'name': value` pairs at the beginning of the text, up to a bracket that closes."""
    pairs: dict[str, Logged] = {}
    for item in _items(text[:LONGEST]):
        if named := _NAME.match(item):
            pairs[named[2] or named[3]] = _value(item[named.end() :].strip(), depth)
    return pairs


def words_of(text: str) -> dict[str, Logged]:
    """The same of pairs with blanks between them, as pydantic prints an object: `model='a' tp=8 kv=Config(b=1)`."""
    text = text[:LONGEST]
    depth, commas = 0, list(text)
    for mark in _MARK_OR_BLANK.finditer(text):
        if mark[0] in "[({":
            depth += 1
        elif mark[0] in "])}":
            depth -= 1
        elif mark[0] == " " and depth == 0:
            commas[mark.start()] = ","
    return arguments_in("".join(commas))


def is_closed(text: str) -> bool:
    """Whether a bracket closes that was opened before the text."""
    depth = 0
    for mark in _MARK.finditer(text):
        depth += (mark[0] in "[({") - (mark[0] in "])}")
        if depth < 0:
            return True
    return False


def _items(text: str) -> Iterator[str]:
    """The parts between the commas that stand outside of every bracket and quote."""
    open_brackets, begin, count = 0, 0, 0
    for mark in _MARK.finditer(text):
        if mark[0] in "[({":
            open_brackets += 1
        elif mark[0] in "])}":
            open_brackets -= 1
            if open_brackets < 0:
                yield text[begin : mark.start()]
                return
        elif mark[0] == "," and not open_brackets:
            yield text[begin : mark.start()]
            begin, count = mark.end(), count + 1
            if count >= MOST:
                return
    yield text[begin:]


def _value(text: str, depth: int) -> Logged:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    if text[:1] in ("'", '"'):
        return _quoted(text)
    if depth < DEEPEST and text[:1] in ("[", "("):
        return tuple(_value(item.strip(), depth + 1) for item in _items(text[1:]) if item.strip())
    call = _CALL.match(text)
    if depth < DEEPEST and (call or text[:1] == "{"):
        return arguments_in(text[call.end() if call else 1 :], depth + 1)
    return text


def _quoted(text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text.strip("'\"")
    return value if isinstance(value, str) else text


def argv_of(arguments: Mapping[str, Logged]) -> tuple[str, ...]:
    """The words of a command line that says the same: what an engine's reader reads. None says nothing."""
    words: list[str] = []
    for name, value in arguments.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag if value else f"--no-{flag[2:]}")
        elif isinstance(value, Mapping):
            words.append(f"{flag}={json.dumps(plain_value(value))}")
        elif isinstance(value, tuple):
            texts = [str(item) for item in value if not isinstance(item, (tuple, Mapping))]
            words += (flag, *texts) if len(texts) > 1 else (f"{flag}={text}" for text in texts)
        elif value is not None:
            words.append(f"{flag}={value}")
    return tuple(words)


def plain_value(value: Logged) -> object:
    """As JSON can hold it."""
    if isinstance(value, Mapping):
        return {name: plain_value(inner) for name, inner in value.items()}
    return [plain_value(inner) for inner in value] if isinstance(value, tuple) else value
