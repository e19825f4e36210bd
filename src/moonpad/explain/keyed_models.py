"""Which repository a folder holds by the keys of a file that name both beside each other: `repo: org/name` and
`path: /weights/main`, or a key with the long number after which the folder is called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines.image_names import OF_ENGINE
from moonpad.engines.value_checks import unresolved
from moonpad.explain.commands import Script

_KEY: Final = re.compile(
    r"(?P<indent>[ ]*(?:-[ ]+)?)[\"']?(?P<key>[A-Za-z_][\w-]{0,40})[\"']?[ ]*:[ ]+"
    r"[\"']?(?P<value>[^\s\"',{}\[\]]{1,300})[\"']?,?[ ]*(?:#.*)?$"
)
_OF_REPOSITORY: Final = frozenset({
    *("repo", "repository", "repoid", "modelid", "hfrepo", "hfmodel", "hfmodelid", "hfrepoid", "huggingfacerepo"),
    *("model", "source", "modelname", "huggingfaceid"),
})  # fmt: skip
"""Keys of a repository, without dashes and underscores."""
_REPOSITORY: Final = re.compile(
    r"(?:hf://|https://huggingface\.co/)?(?P<name>[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})(?:@[\w.-]{1,64})?",
    re.ASCII,
)
_NUMBER: Final = re.compile(r"[0-9a-f]{16,64}")
_LONGEST: Final = 400
_MOST: Final = 20
"""Lines of one item, above and below."""


def repository_beside(path: str, script: Script) -> str:
    """`org/name`; "" where no item of the text names the folder, or several name others."""
    if not path.startswith("/") or unresolved(path):
        return ""
    script.budget.once("items with folders", len(script.lines) // 2, "its engine commands")
    folder = path.rstrip("/")
    number = _NUMBER.search(folder.rpartition("/")[2])
    shown = number.group() if number is not None else folder
    found: dict[str, str] = {}
    for at, line in enumerate(script.lines):
        if shown not in line[:_LONGEST]:
            continue
        own = _KEY.match(line[:_LONGEST])
        if own is None or not (number is not None or own["value"].rstrip("/") == folder):
            continue
        for repository in _in_item(script.lines, at, len(own["indent"])):
            found[repository.casefold()] = repository
    return next(iter(found.values())) if len(found) == 1 else ""


_ENDS: Final = re.compile(r"[ \t]*(?:```|~~~)|---[ \t]*$|#{1,6}[ ]\S")
"""A line outside of a document of YAML: a fence, the mark between two documents, or a title around it."""
_FARTHEST: Final = 200
_OF_MODEL: Final = _OF_REPOSITORY - {"repository", "source"}


def repository_of_document(line: int, script: Script) -> str:
    """The one that a key of the same document of YAML names, `huggingFace:` with `repo: org/name` above the arguments;
    "" where none does, or several name others."""
    if not 0 < line <= len(script.lines) or not script.lines[line - 1].startswith((" ", "-", "\t")):
        return ""
    script.budget.work(2 * _FARTHEST, "the text around its engine commands")
    above = script.lines[max(0, line - 1 - _FARTHEST) : line - 1][::-1]
    found: dict[str, str] = {}
    for lines in (above, script.lines[line : line + _FARTHEST]):
        for text in lines:
            if _ENDS.match(text[:_LONGEST]):
                break
            match = _KEY.match(text[:_LONGEST])
            if match is None or re.sub(r"[-_]", "", match["key"]).casefold() not in _OF_MODEL:
                continue
            repository = _REPOSITORY.fullmatch(match["value"])
            if repository is not None and not any(image.match(repository["name"]) for image, _ in OF_ENGINE):
                found[repository["name"].casefold()] = repository["name"]
    return next(iter(found.values())) if len(found) == 1 else ""


def _in_item(lines: Sequence[str], at: int, column: int) -> Iterator[str]:
    """The repositories of the keys at the same column, as far as no line of another item stands between."""
    above, below = lines[max(0, at - _MOST) : at][::-1], lines[at + 1 : at + 1 + _MOST]
    begins = lines[at].lstrip().startswith("- ")
    for line in () if begins else above:
        match = _KEY.match(line[:_LONGEST])
        if match is None or len(match["indent"]) != column:
            break
        yield from _named(match)
        if line.lstrip().startswith("- "):
            break
    for line in below:
        match = _KEY.match(line[:_LONGEST])
        if match is None or len(match["indent"]) != column or line.lstrip().startswith("- "):
            break
        yield from _named(match)


def _named(match: re.Match[str]) -> Iterator[str]:
    key = re.sub(r"[-_]", "", match["key"]).casefold()
    repository = _REPOSITORY.fullmatch(match["value"]) if key in _OF_REPOSITORY else None
    if repository is not None:
        yield repository["name"]
