"""A GGUF file that a script looks up where it starts the server, `$(find … -name "*Q4_K_M*00001*.gguf" | head -1)`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_FOUND: Final = re.compile(
    r"[\"']?\$\(\s*(?:find\s+[\"']?(?P<root>[^\s\"'|]{1,300})[\"']?\s[^|)]{0,200}?"
    r"-i?name\s+[\"']?(?P<name>[^\s\"'|)]{1,200})"
    r"|ls\s+(?:-\w+\s+)*[\"']?(?P<folder>[^\s\"'|)]{1,300})/[\"']?(?P<file>[^\s/\"'|)]{1,200}))[\"']?[^)]{0,200}\)[\"']?",
    re.DOTALL,
)
_TYPE: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:UD-)?(?:I?Q[1-8]_(?:[A-Z0-9]+_)*[A-Z0-9]+|TQ[12]_0|BF16|F16)(?![A-Za-z0-9])"
)
_FOLDER: Final = re.compile(r"(?P<stem>[A-Za-z][\w.-]{2,90}?)[-_]GGUF", re.IGNORECASE)
_STEM: Final = re.compile(r"\*?(?P<stem>[A-Za-z][A-Za-z0-9.-]{3,80}?)-\Z")
_LONGEST: Final = 1000


@lru_cache(maxsize=64)
def looked_up_file(written: str) -> str:
    """`Kimi-K2-Thinking-UD-TQ1_0`, as a file of that checkpoint and type is called: by the name that is looked for, or
    by the repository that is its folder. "" for other texts, and where one of the two is not said."""
    search = _FOUND.fullmatch(written) if ".gguf" in written and len(written) < _LONGEST else None
    if search is None:
        return ""
    folder, name = (search["root"], search["name"]) if search["root"] else (search["folder"], search["file"])
    kinds = {each.group() for text in (name, folder) for each in _TYPE.finditer(text)}
    if len(kinds) != 1:
        return ""
    (kind,) = kinds
    stem = _STEM.fullmatch(name[: name.find(kind)]) if kind in name else None
    folders = [match for part in folder.split("/") if (match := _FOLDER.fullmatch(part)) is not None]
    checkpoint = stem["stem"] if stem is not None else folders[-1]["stem"] if folders else ""
    return f"{checkpoint}-{kind}" if checkpoint else ""
