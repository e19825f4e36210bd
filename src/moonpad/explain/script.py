"""A script, a document or a command line → its commands. Nothing of it is executed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Final

from moonpad.explain import text_hints
from moonpad.explain.commands import Command, Piece, Problem, Script, Word
from moonpad.explain.foreign_shells import as_shell, is_dockerfile, read_dockerfile
from moonpad.explain.input_limits import PROBLEMS, Budget
from moonpad.explain.interpreter import ScriptState, Shell, words_of
from moonpad.explain.markdown import Block, Bullets, inline_parts, is_markdown, only_flags, parts_of
from moonpad.explain.source_text import IGNORED, InputText, Source
from moonpad.explain.wrappers import assignment
from moonpad.values.errors import UsageError

_FIRST_KEY: Final = re.compile(
    r"""(?:[ \t]*(?:\#.*)?\n|---.*\n|%.*\n)*(?:- )?["']?[A-Za-z_][\w./-]*["']?[ ]*:(?:\s|$)"""
)
"""Files for compose and Kubernetes are YAML with a key in its first line."""
_CONFIG_MAP: Final = re.compile(r"^[ ]*kind:[ ]*ConfigMap\b", re.MULTILINE)
_DASHES: Final = ("–", "—", "−", "‐", "‑")
_QUOTES: Final = frozenset("“”„‘’«»")
_FIXABLE: Final = 50
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def read_script(text: str, *, markdown: bool | None = None) -> Script:
    """Reads a bash script, the shell blocks of a markdown document, or the containers of a YAML file; for None
    `markdown` is found out.

    Raises UsageError for more than 1 MB, 50 levels of nesting, 500 commands of engines, or variables and loops that
    unfold into more than 10,000 words.
    """
    state = ScriptState(InputText(text))
    return _script(state, _read_file(0, state.text.clean, state, markdown))


def read_files(files: Sequence[tuple[str, str]]) -> Script:
    """Reads the pieces of one deployment, name and text of each. Variables of one are not known to the next.

    Raises UsageError as above, of all of them together.
    """
    if len(files) == 1:
        return read_script(files[0][1])
    texts = [text.replace("\r\n", "\n").rstrip("\r\n") + "\n" for _, text in files]
    whole = InputText("".join(texts), Budget(len(files)))
    state = ScriptState(whole)
    documents, origins, start = False, list[tuple[str, int]](), 0
    for text in texts:
        if _CONFIG_MAP.search(text):
            from moonpad.explain.manifests import collect_config_maps

            collect_config_maps(whole.clean[start : start + len(text)], start, state)
        start += len(text)
    start = 0
    for (name, _), text in zip(files, texts, strict=True):
        origins.append((name, whole.place(start)[0]))
        documents |= _read_file(start, whole.clean[start : start + len(text)], state)
        start += len(text)
    return replace(_script(state, documents), origins=tuple(origins))


def _read_file(start: int, text: str, state: ScriptState, markdown: bool | None = None) -> bool:
    """Whether it is a markdown document."""
    document = is_markdown(text) if markdown is None else markdown
    if not document and _read_as_data(text, start, state):
        return False
    before = len(state.commands)
    for part in parts_of(text, start) if document else (Block(start, text, None, None, 0),):
        _read_part(part, state, document)
    if document and not any(command.program != "other" for command in state.commands[before:]):
        for part in inline_parts(text, start):
            _read_part(part, state, document)
    state.heading = None
    return document


def _read_part(part: Block | Bullets, state: ScriptState, document: bool) -> None:
    state.heading = part.heading
    if isinstance(part, Bullets) or only_flags(part.text):
        _read_flags(part, state)
    elif part.language == "data":
        with suppress(UsageError):  # a part of a file is shown, which alone is none
            _read_as_data(part.text, part.start, state)
    elif is_dockerfile(part.text):
        read_dockerfile(part.text, part.start, state)
    else:
        _read_block(part, state, document)


def _read_as_data(text: str, start: int, state: ScriptState) -> bool:
    """Whether it is YAML or JSON with commands in it; read if so."""
    is_json = text.lstrip("\0\n\t ")[:1] in ("{", "[") and text.rstrip("\0\n\t ")[-1:] in ("}", "]")
    if not is_json and not _FIRST_KEY.match(text):
        return False
    from moonpad.explain.manifests import read_manifest  # it needs PyYAML

    return read_manifest(text, start, state)


def read_command(words: Sequence[str]) -> Script:
    """Reads a command line that a shell has already split, as behind `moonpad explain --`.

    The places are those in the line as it would be typed, which is the script's text. Raises UsageError as above.
    """
    words = [_LONE_SURROGATE.sub("\ufffd", word) for word in words]
    written = [shlex.quote(word) for word in words]
    whole = InputText(" ".join(written))
    state = ScriptState(whole)
    placed: list[Word] = []
    position = 0
    for word, shown in zip(words, written, strict=True):
        end = position + len(shown.replace("\r\n", "\n"))
        inner = position + 1 if shown == f"'{word}'" else position
        piece = Piece(0, len(word), inner, inner + len(word) if inner > position or shown == word else end)
        placed.append(whole.word(word, position, end, (piece,)))
        position = end + 1
    shell = Shell(state, Source.block(whole, 0, whole.clean))
    first = 0
    while first + 1 < len(placed) and (pair := assignment(placed[first])):
        shell.scope.set(*pair, export=True)
        first += 1
    if placed:
        shell.command(placed[first:])
    return _script(state, False)


def _read_block(block: Block, state: ScriptState, document: bool) -> None:
    state.intro = block.intro
    problems_before, commands_before = len(state.problems.items), state.budget.commands
    shell = Shell(state, Source.block(state.text, block.start, as_shell(block.text)))
    shell.read(substitutions=block.substitutions, indent=block.indent)
    if state.budget.commands == commands_before and document:
        # Outputs stand in shell blocks too: they are not commands with mistakes.
        del state.problems.items[problems_before:]
    else:
        for start, character in state.text.odd_in(block.start, block.start + len(block.text)):
            message = f"the shell does not ignore this invisible character (U+{ord(character):04X})"
            state.problems.add("invisible-character", start, start + 1, message, "retype the line")
    state.intro = None


def _read_flags(part: Block | Bullets, state: ScriptState) -> None:
    """Flags without a command. A list that only explains those of the command above is left out."""
    argv: list[Word] = []
    env: dict[str, Word] = {}
    for start, code in part.codes if isinstance(part, Bullets) else ((part.start, part.text),):
        state.budget.work(25, "its lists of flags")
        words = words_of(Source.block(state.text, start, code), state)
        if words and (pair := assignment(words[0])):
            env[pair[0]] = pair[1]
        else:
            argv += words
    if isinstance(part, Bullets) and (above := state.last_known) is not None:
        state.budget.work(len(above.words) + len(above.env), "its lists of flags")
        flags = {word.text.partition("=")[0] for word in argv if word.text.startswith("-")} | set(env)
        if flags <= {word.text.partition("=")[0] for word in above.words} | set(above.env):
            return
    if argv:
        line = argv[0].line
        state.add(Command("fragment", tuple(argv), (), env, label=part.intro, heading=part.heading, line=line))


def _script(state: ScriptState, document: bool) -> Script:
    whole = state.text
    text = whole.clean.replace(IGNORED, " ")
    named, minimum = text_hints.versions_of(text)
    for command in state.commands:
        image = command.container.image if command.container else None
        if image is not None and (version := text_hints.version_of_image(image.text)):
            named.setdefault(*version)
    hints = dict.fromkeys((machine, whole.place(offset)[0]) for offset, machine in text_hints.machines_of(text))
    state.budget.work(5 * len(hints), "the machines that it names")
    problems = (*state.problems.items, *islice(_odd_characters(state.commands), PROBLEMS))
    return Script(
        tuple(state.commands),
        whole.lines,
        dict(state.files),
        named,
        minimum,
        tuple(hints),
        tuple(dict.fromkeys(sorted(problems, key=lambda problem: (problem.line, problem.column)))),
        document,
        budget=state.budget,
    )


def _odd_characters(commands: Sequence[Command]) -> Iterator[Problem]:
    """Dashes and quotes that a text processor has made of the typed ones."""
    for word in (word for command in commands if command.program != "other" for word in command.words):
        end = word.end_column if word.end_line == word.line else word.column + 1
        if word.text.startswith(_DASHES):
            message = f"this begins with {word.text[0]}, not with a hyphen, so it is not read as a flag"
            remedy = f"--{word.text.lstrip(''.join(_DASHES) + '-')}"[:_FIXABLE]
            yield Problem("dash", word.line, word.column, end, message, remedy)
        elif _QUOTES & set(word.text[:1] + word.text[-1:]):
            message = "the shell does not read these characters as quotes"
            yield Problem("quotes", word.line, word.column, end, message, "type ' or \"")
