"""A script, a document or a command line → its commands. Nothing of it is executed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

from moonpad.explain import hints
from moonpad.explain.commands import Command, Piece, Problem, Script, Word
from moonpad.explain.expand import Expander, Variables
from moonpad.explain.markdown import Block, Bullets, is_markdown, only_flags, parts_of
from moonpad.explain.shell_words import tokens_of
from moonpad.explain.source import IGNORED, Problems, Source, Text, place_word
from moonpad.explain.syntax import Simple
from moonpad.explain.tokens import RawWord
from moonpad.explain.walk import Reading, Shell
from moonpad.explain.wrappers import assignment

_DASHES: Final = ("–", "—", "−", "‐", "‑")
_QUOTES: Final = frozenset("“”„‘’«»")
_FIXABLE: Final = 50
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def read_script(text: str, *, markdown: bool | None = None) -> Script:
    """Reads a bash script, or the shell blocks of a markdown document; None finds out which it is.

    Raises UsageError for more than 1 MB, 50 levels of nesting, 500 commands of engines, or variables and loops that
    unfold into more than 10,000 words.
    """
    whole = Text(text)
    problems = Problems(whole)
    reading = Reading(whole, problems)
    document = is_markdown(whole.clean) if markdown is None else markdown
    for part in parts_of(whole.clean) if document else (Block(0, whole.clean, None, None, 0),):
        reading.heading = part.heading
        if isinstance(part, Bullets):
            _read_bullets(part, reading)
        elif only_flags(part.text):
            _read_flags(part, reading)
        else:
            _read_block(part, reading, document)
    return _script(reading, document)


def read_command(words: Sequence[str]) -> Script:
    """Reads a command line that a shell has already split, as behind `moonpad explain --`.

    The places are those in the line as it would be typed, which is the script's text. Raises UsageError as above.
    """
    words = [_LONE_SURROGATE.sub("\ufffd", word) for word in words]
    written = [shlex.quote(word) for word in words]
    whole = Text(" ".join(written))
    reading = Reading(whole, Problems(whole))
    if not words:
        return _script(reading, False)
    placed: list[Word] = []
    position = 0
    for word, shown in zip(words, written, strict=True):
        end = position + len(shown.replace("\r\n", "\n"))
        inner = position + 1 if shown == f"'{word}'" else position
        piece = Piece(0, len(word), inner, inner + len(word) if inner > position or shown == word else end)
        placed.append(place_word(whole, word, position, end, (piece,)))
        position = end + 1
    shell = Shell(reading, Source.block(whole, 0, whole.clean))
    while len(placed) > 1 and (pair := assignment(placed[0])):
        shell.scope.set(*pair, export=True)
        placed.pop(0)
    shell.line(placed, Simple((), (), (), None, ""))
    return _script(reading, False)


def _read_block(block: Block, reading: Reading, document: bool) -> None:
    reading.intro = block.intro
    before, known = len(reading.problems.found), reading.budget.commands
    shell = Shell(reading, Source.block(reading.text, block.start, block.text))
    shell.read(substitutions=block.substitutions, indent=block.indent)
    if reading.budget.commands == known and document:
        # Outputs stand in shell blocks too: they are no commands with mistakes.
        del reading.problems.found[before:]
    else:
        for start, character in reading.text.odd:
            if block.start <= start < block.end:
                message = f"an invisible character (U+{ord(character):04X}) stands here, which a shell does not ignore"
                reading.problems.add("invisible-character", start, start + 1, message, "type the line again")
    reading.intro = None


def _read_flags(block: Block, reading: Reading) -> None:
    words = _words(reading, block.start, block.text)
    _keep_fragment(words, {}, block.heading, block.intro, reading)


def _read_bullets(bullets: Bullets, reading: Reading) -> None:
    """A list that only explains flags of the command above is no fragment of its own."""
    argv: list[Word] = []
    env: dict[str, Word] = {}
    for start, code in bullets.codes:
        words = _words(reading, start, code)
        if words and (pair := assignment(words[0])):
            env[pair[0]] = pair[1]
        else:
            argv += words
    above = next((one for one in reversed(reading.commands) if one.program not in ("other", "fragment")), None)
    named = {word.text.partition("=")[0] for word in argv if word.text.startswith("-")} | set(env)
    if above is None or not named <= _named_in(above):
        _keep_fragment(argv, env, bullets.heading, bullets.intro, reading)


def _named_in(command: Command) -> set[str]:
    return {word.text.partition("=")[0] for word in command.words} | set(command.env)


def _words(reading: Reading, start: int, text: str) -> list[Word]:
    """All words of a text, whatever stands between them."""
    source = Source.block(reading.text, start, text)
    expander = Expander(source, Variables(), reading.budget)
    raw_words: list[RawWord] = [
        token.word for token in tokens_of(source, Problems(reading.text)) if token.kind == "word" and token.word
    ]
    return [word for raw in raw_words for word in expander.fields(raw)]


def _keep_fragment(
    argv: Sequence[Word], env: dict[str, Word], heading: str | None, intro: str | None, reading: Reading
) -> None:
    if argv:
        reading.budget.count(known=True)
        command = Command("fragment", tuple(argv), (), env, label=intro, heading=heading, line=argv[0].line)
        reading.commands.append(command)


def _script(reading: Reading, document: bool) -> Script:
    whole = reading.text
    text = whole.clean.replace(IGNORED, " ")
    named, least = hints.versions_of(text)
    for command in reading.commands:
        image = command.container.image if command.container else None
        if image is not None and (found := hints.version_of_image(image.text)):
            named.setdefault(*found)
    placed = [(machine, whole.place(offset)[0]) for offset, machine in hints.machines_of(text)]
    _check_characters(reading)
    problems = sorted((problem for _, problem in reading.problems.found), key=lambda one: (one.line, one.column))
    return Script(
        tuple(reading.commands),
        whole.lines,
        dict(reading.files),
        named,
        least,
        tuple(dict.fromkeys(machine for machine, _ in placed)),
        tuple(dict.fromkeys(placed)),
        tuple(dict.fromkeys(problems)),
        document,
    )


def _check_characters(reading: Reading) -> None:
    """Dashes and quotes that a text processor has made of the typed ones."""
    for command in reading.commands:
        for word in command.words if command.program != "other" else ():
            if word.text.startswith(_DASHES):
                code, message = (
                    "dash",
                    f"this begins with {word.text[0]}, which is no hyphen: it is not taken for a flag",
                )
                remedy = f"--{word.text.lstrip(''.join(_DASHES) + '-')}"[:_FIXABLE]
            elif _QUOTES & set(word.text[:1] + word.text[-1:]):
                code, message, remedy = "quotes", "these quotes are no quotes for a shell", "type ' or \""
            else:
                continue
            end = word.end_column if word.end_line == word.line else word.column + 1
            problem = Problem(code, word.line, word.column, end, message, remedy)
            reading.problems.found.append((0, problem))
