r"""`--port \$port` and `--port '$port'` outside of a text for another shell: the engine gets the letters, and its
parser refuses them. The value is read as it was meant, and the slip is told."""

from __future__ import annotations

import re
from typing import Final

from moonpad.catalog.options import OptionSet, option_set
from moonpad.explain.commands import Piece, Word
from moonpad.explain.programs import is_server
from moonpad.explain.shell.scope import Scope
from moonpad.explain.source_text import InputText, Problems
from moonpad.values.records import replace

ESCAPED: Final = "escaped-dollar"
_NAMED: Final = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<name>[A-Za-z_]\w*))", re.ASCII)
_ESCAPE: Final = "\\$"


def with_variables(
    program: str, words: tuple[Word, ...], scope: Scope, text: InputText, problems: Problems
) -> tuple[Word, ...]:
    """The arguments of a server, with the variables whose dollar the shell takes for a letter, in the values of its
    options."""
    options = option_set(program) if is_server(program) else None
    if options is None or not any("$" in word.text and not word.unresolved for word in words):
        return words
    before = ("", *(word.text for word in words))
    pairs = zip(before, words, strict=False)
    return tuple(_meant(word, last, options, scope, text.clean, problems) for last, word in pairs)


def _meant(word: Word, last: str, options: OptionSet, scope: Scope, text: str, problems: Problems) -> Word:
    match = _NAMED.search(word.text) if "$" in word.text and not word.unresolved else None
    if match is None or match.end() != len(word.text):
        return word
    if not _takes_value(word.text[: match.start()].removesuffix("=") or last, options):
        return word  # `0.0.0.0:$PORT`, JSON, and words of their own are not asked about
    piece = next((piece for piece in word.pieces if piece.start <= match.start() < piece.end), None)
    sign = _sign(piece, match, text) if piece is not None else ""
    if piece is None or not sign:
        return word
    name = match["braced"] or match["name"]
    how = "a backslash before" if sign == _ESCAPE else "single quotes around"
    remedy = "leave the backslash out" if sign == _ESCAPE else "write double quotes"
    message = f"{how} the dollar: the engine gets {match[0]} as it is written, and not the value of {name}"
    problems.add(ESCAPED, piece.source_start, piece.source_start + len(sign) + len(match[0]) - 1, message, remedy)
    value = scope.variables.get(name)
    if isinstance(value, Word):
        return replace(word, text=word.text[: match.start()] + value.text, unresolved=value.unresolved, pieces=())
    return replace(word, unresolved=(name,))


def _takes_value(written: str, options: OptionSet) -> bool:
    """Of an option, or of all that begin so, where the parser takes the beginning of one."""
    name = written.replace("_", "-")
    if (option := options.named(name)) is not None or not (options.prefixes and name.startswith("--")):
        return option is not None and option.takes_value
    alike = [option for each, option in options.by_name.items() if each.startswith(name)]
    return bool(alike) and all(option.takes_value for option in alike)


def _sign(piece: Piece, match: re.Match[str], text: str) -> str:
    written = text[piece.source_start : piece.source_end]
    if piece.end - piece.start == 1 and written == _ESCAPE:
        return _ESCAPE
    whole = piece.start == match.start() and piece.end == match.end() and written == match[0]
    around = text[piece.source_start - 1 : piece.source_start] + text[piece.source_end : piece.source_end + 1]
    return "$" if whole and around == "''" else ""
