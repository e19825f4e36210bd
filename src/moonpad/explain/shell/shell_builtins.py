"""Commands of the shell itself that change what its variables and arguments hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Word, whole_number
from moonpad.explain.shell.printed_formats import formatted
from moonpad.explain.shell.scope import Scope, unresolved

_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def run_builtin(words: Sequence[Word], scope: Scope) -> None:
    """Those that change variables."""
    name, texts = words[0].text, [word.text for word in words[1:]]
    if name == "set" and ("-a" in texts or "allexport" in texts):
        scope.export_all = "+a" not in texts and "+o" not in texts
    elif name == "set" and "+a" in texts:
        scope.export_all = False
    elif name == "set" and "--" in texts:
        scope.arguments = tuple(words[texts.index("--") + 2 :])
    elif name == "shift" and (arguments := scope.arguments) is not None:
        count = whole_number(texts[0] if texts else "1")
        scope.arguments = None if count is None else arguments[count:]
    elif name == "printf" and texts[:1] == ["-v"] and _NAME.fullmatch("".join(texts[1:2])):
        scope.set(texts[1], formatted(words[3:]) or unresolved(texts[1], words[2]))
    elif name in ("read", "mapfile", "readarray", "unset"):
        for word in words[1:]:
            if _NAME.fullmatch(word.text):
                scope.set(word.text, unresolved(word.text, word))
