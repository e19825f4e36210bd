"""What a table of benchmarks gives the variables of the script that it runs: `search-space: [{ tp: 8, ep: 8, … }]`.

Source: https://github.com/SemiAnalysisAI/InferenceX, .github/configs and benchmarks.
"""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.source_text import InputText

_SPACE: Final = re.compile(r"^([ \t]*)(?:- )?search-space:[ \t]*\n((?:\1[ \t]*- .*\n?)+)", re.MULTILINE)
_PAIR: Final = re.compile(r"(?<![\w-])(tp|ep|dp-attn)[ \t]*:[ \t]*([0-9]{1,3}|true|false)(?![\w.])")
_VARIABLES: Final = {"tp": "TP", "ep": "EP_SIZE", "dp-attn": "DP_ATTENTION"}
_ROWS: Final = 200


def search_space_variables(whole: InputText) -> dict[str, Word]:
    """By name; only what all rows of the text have, with the same value."""
    rows: list[dict[str, tuple[int, int, str]]] = []
    for space in _SPACE.finditer(whole.clean) if "search-space" in whole.clean else ():
        at = space.start(2)
        for line in space[2].splitlines(keepends=True):
            pairs = {pair[1]: (at + pair.start(2), at + pair.end(2), pair[2]) for pair in _PAIR.finditer(line)}
            rows.append(pairs)
            at += len(line)
    if not rows or len(rows) > _ROWS:
        return {}
    shared = {
        name: place for name, place in rows[0].items() if all(name in row and row[name][2] == place[2] for row in rows)
    }
    return {_VARIABLES[name]: whole.word(text, start, end) for name, (start, end, text) in shared.items()}
