"""What is tried where no command of an engine was found: options without a program, and commands inside other texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.explain.commands import Command, Piece, Word
from moonpad.explain.interpreter import ScriptState, Shell, words_of
from moonpad.explain.programs import base_name, program_named
from moonpad.explain.source_text import Source
from moonpad.explain.wrappers import SPEAKS_OF

DECISIVE: Final = frozenset({
    *("--tensor-parallel-size", "-tp", "--tp", "--tp-size", "--data-parallel-size", "-dp", "--dp", "--dp-size"),
    *("--pipeline-parallel-size", "-pp", "--max-model-len", "--context-length", "--model", "--model-path"),
    *("--tp_size", "--ep_size", "--max_seq_len", "--n-gpu-layers", "-ngl", "--ctx-size"),
})  # fmt: skip
"""With one of these a few options are a deployment, and with two of them a command of an unknown program is one."""
_LONGEST: Final = 5000
_MOST: Final = 40
_NAMED: Final = re.compile(
    r"(?:^|[\s{,(])[\"']?-{0,2}(?P<name>[\w.-]{0,40}?)(?:arg(?:ument)?s|flags|options|params?|parameters|command|cmd)"
    r"[\"']?[ \t]*[:=]?[ \t]*(?:(?P<quote>[\"'])(?P<quoted>--?[A-Za-z](?:\\.|(?!(?P=quote)).){1,5000})(?P=quote)"
    r"|(?P<bare>--[A-Za-z][^\n]*))",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
"""`args: --tensor-parallel-size 8 --port 8000 …`, `--framework-args "--model-path m …"`, `ENV LLAMA_ARGS="-c 8 …"`."""
_LIST: Final = re.compile(r"\[\s*\"(?:[^\"\\]|\\.){1,200}\"\s*(?:,\s*\"(?:[^\"\\]|\\.){0,2000}\"\s*){2,200},?\s*\]")
"""A list of words as JSON has it."""
_SPOKEN: Final = re.compile(
    rf"(?<![\w-])(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*(?:python3? -m )?(?:\S*/)?(?:{SPEAKING.pattern})"
)


def read_last_resort(state: ScriptState, texts: list[tuple[int, str]]) -> None:
    """Of the texts, with their offsets. The first way that finds something is taken."""
    for commands in (_unknown_programs(state), _named_options(state, texts), _lists(state, texts)):
        found = list(commands)
        if found:
            state.commands += found
            return
    for start, text in texts:
        _spoken(state, start, text)


def _unknown_programs(state: ScriptState) -> Iterator[Command]:
    """`./serve.sh --model m --tensor-parallel-size 8`: what the program does with them is not known."""
    for command in state.commands:
        words = [*command.prefix, *command.argv]
        first = next((at for at, word in enumerate(words) if word.text.startswith("-") and at), None)
        if command.program not in ("other", "docker") or first is None:
            continue
        decisive = {word.text.partition("=")[0] for word in words} & DECISIVE
        if len(decisive) > 1 and not _measures(words[0].text):
            at = next(at for at, word in enumerate(words) if word.text.partition("=")[0] in DECISIVE)
            image = command.container.image if command.container else None
            if image is not None and image in words:
                at = words.index(image) + 1
            rest = Word(f"<what {base_name(words[0])} adds>", command.line, unresolved=("@",))
            yield replace(command, program="fragment", prefix=(), argv=(*words[at:], rest), wrappers=())


def _measures(name: str) -> bool:
    return bool(re.search(r"bench|eval|client|convert|quant|download", name))


def _named_options(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    for start, text in texts:
        state.budget.work(len(text) // 4, "options behind a name")
        for number, match in enumerate(_NAMED.finditer(text)):
            which = "quoted" if match["quoted"] else "bare"
            code = match[which]
            if number == _MOST or code.count(" -") < 2 or len(code) > _LONGEST:
                continue
            code = code.replace("\\\n", "  ")
            code = code.rstrip("\"', ") if which == "bare" else code
            if match["quote"] == '"' and '\\"' in code:
                code = code.replace('\\"', '"')
                begin, end = start + match.start(which), start + match.end(which)
                source = Source(code, state.text, (Piece(0, len(code), begin, end),))
            else:
                source = Source.block(state.text, start + match.start(which), code)
            words = words_of(source, state)
            if {word.text.partition("=")[0] for word in words} & DECISIVE:
                yield _fragment(words, state, match["name"])


def _lists(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    for start, text in texts:
        for match in _LIST.finditer(text):
            try:
                items = json.loads(re.sub(r",\s*\]$", "]", match.group()))
            except ValueError:
                continue
            if len({item.partition("=")[0] for item in items} & DECISIVE) > 1:
                at, end = start + match.start(), start + match.end()
                yield _fragment([state.text.word(item, at, end) for item in items], state, "")


def _fragment(words: list[Word], state: ScriptState, name: str) -> Command:
    role = next((role for role in ("prefill", "decode") if role in name.casefold()), None)
    line = words[0].line
    return Command("fragment", tuple(words), (), {}, label=role, heading=state.heading, line=line)


def _spoken(state: ScriptState, start: int, text: str) -> None:
    """A command in a text of any other kind."""
    for number, match in enumerate(_SPOKEN.finditer(text)):
        if number == _MOST:
            return
        begin = match.start()
        line_start = text.rfind("\n", 0, begin) + 1
        quote = text[begin - 1 : begin]
        end = begin
        while True:  # to the end of the line, and on behind a backslash
            end = text.find("\n", end)
            end = len(text) if end < 0 else end
            if end == len(text) or not text[:end].rstrip(" \t").endswith("\\"):
                break
            end += 1
        if quote in ('"', "'", "`") and (closing := text.find(quote, begin, end)) > 0:
            end = closing
        first = text[line_start:begin].split()[:1]
        if (first and base_name(Word(first[0])) in SPEAKS_OF) or " -" not in text[begin:end]:
            continue
        before = len(state.commands)
        Shell(state, Source.block(state.text, start + begin, text[begin:end])).read()
        state.commands[before:] = [command for command in state.commands[before:] if _serves(command)]


def _serves(command: Command) -> bool:
    program = program_named(command.program)
    return program is not None and program.kind == "server" and len(command.argv) > 1
