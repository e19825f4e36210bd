"""Files of options that a command names, as they lie on this host."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from moonpad.spec.input_file import read_regular

_NAMED: Final = re.compile(
    r"--(?:config|extra[_-]llm[_-]api[_-]options)(?:=|[ \t]+)"
    r"[\"']?([\w./~+-]{1,200}\.(?:ya?ml|json))[\"']?(?![\w./-])"
)
_MOST_FILES: Final = 8
_MOST_BYTES: Final = 65_536


def option_files(texts: Iterable[str], folders: Sequence[Path], given: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Name, as the command writes it, and text of each that can be read: beside the script, or in the current folder.

    What is already `given`, or cannot be read, is left out: the command is then judged without it.
    """
    known = {name.rpartition("/")[2] for name in given}
    named = dict.fromkeys(match[1] for text in texts for match in _NAMED.finditer(text))
    files: list[tuple[str, str]] = []
    for name in named:
        if len(files) == _MOST_FILES or name.rpartition("/")[2] in known:
            continue
        for folder in folders:
            try:
                files.append((name, read_regular(folder / name, _MOST_BYTES).decode("utf-8", "replace")))
            except OSError:
                continue
            break
    return files
