"""Options that stand in a table alone, one in each row: `| `--tp 8` | two nodes |`, `| `--tp` | 8 |`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.explain.commands import Command, Word
from moonpad.explain.flag_lists import knows_most, with_program
from moonpad.explain.shell.interpreter import ScriptState, words_of
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_TABLE: Final = re.compile(r"(?:^[ \t]*\|.*\|[ \t]*(?:\n|$)){3,}", re.MULTILINE)
_ROW: Final = re.compile(
    r"^[ \t]*\|[ \t]*`?(?P<code>--?[A-Za-z][^|`\n]*?)`?[ \t]*\|[ \t]*`?(?P<value>[^|`\n]*?)`?[ \t]*\|", re.MULTILINE
)
_MOST: Final = 10
_VALUES: Final = re.compile(
    r"[ \t]*\|[^|\n]*\|[ \t*]*(?:value|setting|set to|ours|used|值|取值|设置)[ \t*]*\|", re.IGNORECASE
)
_ALTERNATIVES: Final = re.compile(
    r"\bor\b| / |[0-9][ ]?/[ ]?[0-9]|,|…|\.\.\.|[<>~≥≤]|default|[0-9][ ]?[-–][ ]?[0-9]", re.IGNORECASE
)
"""Words of a cell that is not one value."""
_LEAST: Final = 3


def table_options(state: ScriptState, texts: list[tuple[int, str]], decisive: Collection[str]) -> Iterator[Command]:
    """A list of options for each table that has enough of them, one of the `decisive` among them."""
    for start, text in texts:
        state.budget.work(len(text) // 8, "options in tables")
        for table in islice(_TABLE.finditer(text), _MOST):
            rows = list(_rows(table[0], start + table.start(), state))
            words = [word for code, _ in rows for word in code]
            flags = {word.text.partition("=")[0] for word in words if word.text.startswith("-")}
            if len(flags) < _LEAST or not flags & {*decisive}:
                continue
            command = with_program(Command("fragment", tuple(words), line=words[0].line))
            if command.program == "fragment" or not knows_most(command, flags):
                continue
            if argv := tuple(_argv(rows, command.program)):  # of a table that compares others, no value is told
                yield replace(command, argv=argv, guessed=True)


def _rows(table: str, start: int, state: ScriptState) -> Iterator[tuple[list[Word], Word | None]]:
    """What stands in the first column, and the value in the second where that is a column of values."""
    values = _VALUES.match(table) is not None
    for row in _ROW.finditer(table):
        code = words_of(Source.block(state.text, start + row.start("code"), row["code"]), state)
        value = row["value"] if values and len(code) == 1 and "=" not in code[0].text else ""
        sure = value and not _ALTERNATIVES.search(value)
        yield (
            code,
            state.text.word(value, start + row.start("value"), start + row.end("value")) if sure else None,
        )


def _argv(rows: Sequence[tuple[list[Word], Word | None]], program: str) -> Iterator[Word]:
    """Without the options whose value is not told: what they are set to is open."""
    options = option_set(program)
    for code, value in rows:
        option = options.named(code[0].text.partition("=")[0]) if options is not None and code else None
        takes_value = option is not None and option.nargs != "0"
        if len(code) == 1 and "=" not in code[0].text and takes_value:
            if value is not None:
                yield from (code[0], value)
        else:
            yield from code
