"""Lists of words in texts of other kinds: of JSON, Python or Terraform, and items with dashes in a template."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final

from moonpad.engines.image_names import OF_NO_ENGINE
from moonpad.explain.commands import Command, Piece, Word
from moonpad.explain.programs import base_name, program_named
from moonpad.explain.shell.interpreter import ScriptState, words_of
from moonpad.explain.shell.wrappers import peel
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_MOST: Final = 40
_LIST: Final = re.compile(
    r"\[(?=\s*+(?:(?:#|//)[^\n]*+\n\s*+)*+[\"'])"
    r"(?:\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|(?:#|//)[^\n]*+|[^\[\]\"'#/]|/(?!/)){10,6000}+\]"
)
"""A list of words as JSON, Python or Terraform has it: strings, and between them expressions and comments."""
_ITEM: Final = re.compile(
    r"\"(?P<double>(?:[^\"\\\n]|\\.)*)\"|'(?P<single>(?:[^'\\\n]|\\.)*)'|(?:#|//)[^\n]*|(?P<other>[^\s,\"'#][^,\"'#\n]*)"
)
_INTERPRETER: Final = re.compile(r"python[\d.]*|bash|sh|uv|uvx|kubectl|helm|curl|docker|podman")
"""What runs a program of another name, or none of an engine's."""
_VERB: Final = re.compile(r"[a-z]{2,20}")
_OF_SERVERS: Final = frozenset({"serve", "server", "start", "run"})
_DASHED: Final = re.compile(
    r"^(?P<indent>[ ]*)-[ ]+\S[^\n]*\n"
    r"(?:(?P=indent)-[ ]+\S[^\n]*(?:\n|\Z)|[ \t]*(?:#[^\n]*|\{\{-?[^\n]*\}\}[ \t]*)\n){3,200}",
    re.MULTILINE,
)
"""Items of one indentation; comments and lines of templates stand between them."""
_DASH: Final = re.compile(
    r"^[ ]*-[ ]+(?:\"(?P<double>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|(?P<template>\{\{[^\n]*\}\})"
    r"|(?P<plain>[^\s#\"'{\[][^\s]*(?<!:)))[ \t]*(?:[ ]#[^\n]*)?$",
    re.MULTILINE,
)
"""An item of one word: sentences in a list of a document are none."""
_ANY_ITEM: Final = re.compile(r"^[ ]*-[ ]", re.MULTILINE)
_BRANCH: Final = re.compile(r"^[ \t]*\{\{-?[ \t]*(?:if|else|range|with|include|toYaml)\b", re.MULTILINE)


def word_lists(state: ScriptState, texts: list[tuple[int, str]], decisive: Collection[str]) -> Iterator[Command]:
    """`decisive`: an option without which nothing is a deployment."""
    for start, text in texts:
        state.budget.work(len(text) // 4, "lists of words")
        for match in islice(_LIST.finditer(text), _MOST):
            inside = match.group()[1:-1]
            words = [
                word
                for items in _joined(inside, list(_ITEM.finditer(inside)))
                for word in _item(items, state, start + match.start() + 1)
            ]
            yield from _command(words, "<what is added to the list>", state, decisive)


def dashed_lists(state: ScriptState, texts: list[tuple[int, str]], decisive: Collection[str]) -> Iterator[Command]:
    """`- --model` and so on: of a named template, or of a manifest that is not YAML as a whole."""
    others = {word.line for command in state.commands if _is_no_engine(command) for word in command.argv}
    for start, text in texts:
        state.budget.work(len(text) // 4, "items with dashes")
        for match in islice(_DASHED.finditer(text), _MOST):
            found = list(_DASH.finditer(match.group()))
            if len(found) < len(_ANY_ITEM.findall(match.group())):
                continue
            words = [_dashed(item, state, start + match.start()) for item in found]
            if words[0].line in others:
                continue
            added = "<what the template adds>" if _BRANCH.search(match.group()) else ""
            yield from _command(words, added, state, decisive)


def _is_no_engine(command: Command) -> bool:
    image = command.container.image if command.container is not None else None
    return image is not None and bool(OF_NO_ENGINE.search(image.text))


def _dashed(item: re.Match[str], state: ScriptState, start: int) -> Word:
    which = next(name for name, value in item.groupdict().items() if value is not None)
    word = state.text.word(item[which], start + item.start(which), start + item.end(which))
    return replace(word, unresolved=(item[which],)) if "{{" in item[which] else word


def _command(words: list[Word], added: str, state: ScriptState, decisive: Collection[str]) -> Iterator[Command]:
    flags = {word.text.partition("=")[0] for word in words if word.text.startswith("-")}
    if len(flags) < 3 or not flags & {*decisive}:
        return
    rest = (more(added, words[0].line),) if added else ()
    interpreter = (replace(words[0], text="python", pieces=()),) if words[0].text == "-m" else ()
    started = words[:1] if words[0].text.startswith("-") else _apart(words[0])
    peeled = peel([*interpreter, *started, *words[1:]], {}, {})
    if program_named(peeled.program) is not None:
        argv, wrappers = (*peeled.argv, *rest), peeled.wrappers
        yield Command(peeled.program, argv, peeled.prefix, {}, wrappers, line=words[0].line)
    elif not _begins_with_other([*started, *words[1:2]]):
        yield fragment([*words, *rest], state, "")


def _begins_with_other(words: Sequence[Word]) -> bool:
    """`["scripts/deploy.sh", "--model", …]`, `["python", "-m", "tools.load", …]`, `["eval", "run", "--model", …]`: what
    reads the options is a program of somebody's own."""
    first = base_name(words[0]) if words else ""
    verbs = [word.text for word in words[:2]]
    own = len(verbs) > 1 and all(map(_VERB.fullmatch, verbs)) and verbs[0] not in _OF_SERVERS
    return own or first.endswith((".sh", ".py")) or _INTERPRETER.fullmatch(first) is not None


def _apart(word: Word) -> list[Word]:
    """`"vllm bench serve"`, the program in one string of the list."""
    return [replace(word, text=part, pieces=()) for part in word.text.split()] or [word]


def _joined(text: str, items: Sequence[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """Strings that Python makes one of, `'{"a": 1, ' '"b": 2}'`: an object is open, and no comma stands between. Other
    languages have lists without commas, in which each string is a word."""
    together: list[re.Match[str]] = []
    for item in items:
        written = "".join(map(_string, together))
        is_open = written.count("{") > written.count("}")
        if is_open and (item["other"] or "").strip() == "+":
            continue
        between = text[together[-1].end() : item.start()] if together else ""
        if is_open and between.strip() in ("", "+") and item["other"] is None:
            together.append(item)
            continue
        if together:
            yield together
        together = [item]
    if together:
        yield together


def _string(item: re.Match[str]) -> str:
    return item["double"] or item["single"] or ""


def _item(items: Sequence[re.Match[str]], state: ScriptState, start: int) -> Iterator[Word]:
    item = items[0]
    text = "".join(map(_string, items)) if item["double"] is not None or item["single"] is not None else None
    begin, end = start + item.start(), start + items[-1].end()
    if text is not None:
        plain = re.sub(r"\\([\"'])", r"\1", text)
        if re.match(r"--?[A-Za-z][\w-]*[ ]+\S", plain):  # flag and value in one string, which a shell splits
            yield from words_of(Source(plain, state.text, (Piece(0, len(plain), begin, end),)), state)
        else:
            yield state.text.word(plain, begin, end)
    elif item["other"]:
        name = item["other"].strip()[:60]
        yield replace(state.text.word(f"${{{name}}}", begin, end), unresolved=(name,))


def more(what: str, line: int) -> Word:
    """What stands for words that are not in the text, `<what the image adds>`."""
    return Word(what, line, end_line=line, unresolved=("@",))


def fragment(words: list[Word], state: ScriptState, name: str) -> Command:
    role = next((role for role in ("prefill", "decode") if role in name.casefold()), None)
    line = words[0].line
    return Command("fragment", tuple(words), (), {}, label=role, heading=state.heading, line=line)
