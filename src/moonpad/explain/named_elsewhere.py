"""The model of another family that a folder or a variable holds, as the text names it: by the name that clients use, by
the download into that folder, by a key beside it, or as the one model of which the text speaks and after which the
folder is called."""

from __future__ import annotations

import re
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.catalog.other_models import other_model
from moonpad.engines.base import Reading
from moonpad.engines.value_checks import unresolved
from moonpad.explain.commands import Script
from moonpad.explain.documents.spoken_models import spoken_models
from moonpad.explain.keyed_models import repository_beside, repository_of_document
from moonpad.explain.model_detection import is_named_apart, says_nothing

_LONGEST: Final = 2000
_DOWNLOAD: Final = re.compile(
    r"\b(?:hf|huggingface-cli|modelscope)[ ]+download[ ]+(?:--model[ =])?[\"']?"
    r"(?P<name>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})[\"']?(?P<rest>[^;&|#\n]{0,400})",
    re.ASCII,
)
_INTO: Final = re.compile(r"--local[-_]dir[ =][\"']?(?P<folder>[^\s\"';&|]{1,300})")
_PLAIN: Final = re.compile(r"[^a-z0-9]")
_SHORTEST: Final = 4


def named_elsewhere(first: Reading, script: Script, line: int) -> str:
    """A repository or a name that is known to be of another family, or for options without a model, on that `line`,
    what a key beside them names; "" where nothing names one."""
    written = first.model
    if not written:
        return repository_of_document(line, script)
    if not written or find_model(written) is not None:
        return ""
    if says_nothing(written) and _is_of_others(first.served_name) and "/" in first.served_name:
        return first.served_name
    if not written.startswith("/") or unresolved(written):
        return ""
    script.budget.once("downloads of the text", 2 * len(script.lines), "the text around its engine commands")
    into = {name for name, folder in _downloads(script) if folder == written.rstrip("/")}
    if len(into) == 1:
        name = into.pop()
        return name if find_model(name) is None and is_named_apart(name) else ""
    if other_model(written) is not None:
        return ""
    if beside := repository_beside(written, script):
        return beside if find_model(beside) is None and is_named_apart(beside) else ""
    folder = _plain(written.rstrip("/").rpartition("/")[2])
    names = spoken_models(script)
    known = [name for name in names if other_model(name) is not None or find_model(name) is not None]
    longest = max(known, key=len, default="")
    alone = all(_plain(longest).startswith(_plain(name)) for name in known)
    is_short = len(folder) >= _SHORTEST and _plain(longest).startswith(folder)
    return longest if alone and is_short and _is_of_others(longest) else ""


def _is_of_others(name: str) -> bool:
    return bool(name) and find_model(name) is None and other_model(name) is not None


def _downloads(script: Script) -> list[tuple[str, str]]:
    """Repositories, and the folders in which they are put."""
    found: list[tuple[str, str]] = []
    for number, line in enumerate(script.lines):
        if "download" not in line[:_LONGEST]:
            continue
        text, below = line[:_LONGEST], number + 1
        while text.rstrip().endswith("\\") and below < len(script.lines) and len(text) < _LONGEST:
            text = f"{text.rstrip().removesuffix(chr(92))} {script.lines[below].strip()[:_LONGEST]}"
            below += 1
        for match in _DOWNLOAD.finditer(text):
            if (into := _INTO.search(match["rest"])) is not None:
                found.append((match["name"], into["folder"].rstrip("/")))
    return found


def _plain(text: str) -> str:
    return _PLAIN.sub("", text.casefold())
