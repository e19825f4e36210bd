"""Defaults in the braces of a template: `{{ tp | default(4) }}`, `{{ .Values.tp | default 4 }}`.

Sources: https://helm.sh/docs/chart_template_guide/functions_and_pipelines/#using-the-default-function,
https://jinja.palletsprojects.com/en/stable/templates/#jinja-filters.default
"""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = r"-?\d{1,12}(?:\.\d{1,6})?|true|false"
_WORD: Final = r"[\w./:@+-]{1,120}"
_DEFAULT: Final = re.compile(
    r"(?P<before>[ \t=:]|^)(?P<outer>[\"']?)\{\{-?[ \t]*(?P<name>[.$\w]{1,120})[^{}\n]{0,200}?"
    r"\|[ \t]*d(?:efault)?[ \t]*\(?[ \t]*"
    rf"(?:(?P<number>{_NUMBER})|(?P<quote>[\"'])(?P<word>{_WORD})(?P=quote))[ \t]*(?:,[ \t]*true[ \t]*)?\)?"
    r"(?:[ \t]*\|[ \t]*(?:s?quote|int(?:64)?|string|toString|float64|float|trim))*[ \t]*-?\}\}"
    r"(?P=outer)(?=[ \t\n,\]}\\]|$)",
    re.MULTILINE,
)
"""Of a whole value; a part of a longer word stays what it is."""
_MOST: Final = 100
"""Names that are looked for in the whole text."""


def with_defaults(text: str, blank: str) -> str:
    """With the default in the place of each template, as long as it by `blank`, where nothing in the text sets the
    name."""
    if "{{" not in text or "|" not in text:
        return text

    is_set: dict[str, bool] = {}

    def filled(match: re.Match[str]) -> str:
        name = match["name"].rpartition(".")[2]
        if name not in is_set:
            is_set[name] = not name or len(is_set) > _MOST or _is_set(name, text)
        if is_set[name]:
            return match.group()
        quote = match["outer"]
        value = f"{match['before']}{quote}{match['number'] or match['word']}{quote}"
        return value + blank * (len(match.group()) - len(value))

    return _DEFAULT.sub(filled, text)


def _is_set(name: str, text: str) -> bool:
    """As a key with a value of its own, by `--set`, or in the template itself."""
    own = re.escape(name)
    signs = (
        rf"^[ \t]*(?:-[ \t]+)?[\"']?{own}[\"']?[ \t]*[:=][ \t]*+(?!\{{\{{|[\"']\{{\{{|$)",
        rf"--set(?:-string)?[ =][^\n]*\b{own}=",
        rf"-e[ ][\"']?{own}=",
        rf"\{{%-?[ \t]*set[ \t]+{own}\b",
    )
    return re.search("|".join(signs), text, re.MULTILINE) is not None
