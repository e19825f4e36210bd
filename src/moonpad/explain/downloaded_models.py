"""Which repository a text puts into the folder that a server reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.commands import Script
from moonpad.explain.keyed_models import repository_beside
from moonpad.explain.mounted_models import on_the_host

_INTO_FOLDER: Final = re.compile(
    r"\b(?:huggingface-cli|hf|modelscope)[ \t]+download[ \t]+(?:--model[ \t]+)?[\"']?"
    r"(?P<repository>[A-Za-z][\w.-]*/[\w.-]+)[\"']?(?=[ \t])"
    r"[^#|;&\n]*?[ \t]--local[-_]dir[ =][\"']?(?P<folder>/[^\s\"';|&]{1,200})"
)
_LOCAL: Final = re.compile(r"--local[-_]dir")
_LONGEST: Final = 2000
_MOST: Final = 50
"""Commands whose mounts are looked at."""


def downloaded_into(path: str, script: Script) -> str:
    """`org/name` of `hf download org/name --local-dir /srv/k2`, for `/srv/k2` or where a container of the text has that
    folder, or what a key beside it names; "" where none is put there, or several."""
    if not path.startswith("/") or unresolved(path):
        return ""
    script.budget.once("folders of downloads", len(script.lines) // 2, "its engine commands")
    downloads = list(_downloads(script))
    if not downloads:
        return repository_beside(path, script)
    hosts = {on_the_host(path, (command,)) for command in script.commands[:_MOST]} - {""}
    folders = {folder.rstrip("/") for folder in (path, *hosts)}
    found = {repository.casefold(): repository for repository, folder in downloads if folder in folders}
    return next(iter(found.values())) if len(found) == 1 and len(hosts) < 2 else ""


def _downloads(script: Script) -> Iterator[tuple[str, str]]:
    """Repository and folder of each, also of those over several lines."""
    before = ""
    for line in script.lines:
        text = f"{before}{line}"[:_LONGEST] if before else line[:_LONGEST]
        before = f"{text.rstrip()[:-1]} " if text.endswith("\\") else ""
        if not before and _LOCAL.search(text) and (match := _INTO_FOLDER.search(text)):
            yield match["repository"], match["folder"].rstrip("/")
