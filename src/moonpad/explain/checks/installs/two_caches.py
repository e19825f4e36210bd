"""A download into one folder, and a server that looks into another, where it does not find the weights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.repository_names import REPOSITORY
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity

_VALUE: Final = r"(?P<value>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|[\w./${}~-]{1,200})"
_TO: Final = re.compile(rf"(?:\bcache_dir[ \t]*=[ \t]*|--cache-dir[ \t=]+){_VALUE}")
_DOWNLOADS: Final = re.compile(
    r"\b(?:snapshot_download|hf_hub_download)[ \t]*\(|\b(?:huggingface-cli|hf)[ \t]+download\b"
)
_KEPT: Final = re.compile(
    r"=[ \t]*(?:\w+\.)?(?:snapshot_download|hf_hub_download)[ \t]*\(|\breturn[ \t]+snapshot_download"
)
"""Where it lies is used: the server may get the path."""
_HOME: Final = re.compile(rf"(?<![\w$])HF_HOME[\"']?\]?[ \t]*[:=,][ \t]*{_VALUE}")
_ELSEWHERE: Final = re.compile(
    r"HF_HUB_CACHE|HUGGINGFACE_HUB_CACHE|TRANSFORMERS_CACHE|--download[-_]dir|\bdownload_dir\b"
)
_ASSIGNED: Final = re.compile(
    r"(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*[\"'](?P<value>[^\"'\n]{1,200})[\"']"
)
_LONGEST: Final = 4000
_NEAR: Final = 8
"""Lines of one call."""
INTO_FOLDER: Final = re.compile(
    r"\b(?:huggingface-cli|hf)[ \t]+download[ \t]+[\"']?(?P<repository>[A-Za-z][\w.-]*/[\w.-]+)[\"']?"
    r"(?=[ \t])[^#|;&]*?[ \t]--local-dir[ =][\"']?(?P<folder>[^\s\"';|&]{1,200})"
)
_CACHE_OF_SERVER: Final = "--download-dir"
_LOCAL: Final = re.compile(r"--local-dir[ =]")
LOOKS_OR_MAKES: Final = re.compile(r"[ \t]*(?:sudo[ \t]+)?(?:mkdir|ls|du|df|rm)\b")
"""Commands that name a folder and put no weights into it."""


def cache_of_download(case: Case) -> Iterator[Remark]:
    """`snapshot_download(…, cache_dir=X)` writes X/models--…, and `HF_HOME=X` looks into X/hub."""
    script = case.script
    script.budget.once("homes of caches", len(script.lines) // 2, "its engine commands")
    if not REPOSITORY.fullmatch(case.first.model) or not is_in_lines(_HOME, script.lines, _LONGEST):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    code = [(number, text) for number, text in lines if not text.lstrip().startswith(("#", "//"))]
    if any(_ELSEWHERE.search(text) or _KEPT.search(text) for _, text in code):
        return
    values = {match["name"]: match["value"] for _, text in code if (match := _ASSIGNED.match(text.strip()))}
    calls = [number for number, text in code if _DOWNLOADS.search(text)]
    folders = {
        _resolved(match["value"], values): number
        for number, text in code
        if (match := _TO.search(text)) and any(call <= number < call + _NEAR for call in calls)
    }
    homes = {_resolved(match["value"], values): number for number, text in code if (match := _HOME.search(text))}
    if len(folders) != 1 or len(homes) != 1 or folders.keys() != homes.keys():
        return
    ((folder, download),) = folders.items()
    (home,) = homes.values()
    message = (
        f"{script.where(download)} downloads into {shortened(folder)} itself, and with HF_HOME={shortened(folder)} "
        f"({script.where(home)}) the server looks into {shortened(folder)}/hub: it downloads the weights again"
    )
    remedy = "download with the same HF_HOME and without the folder, or set HF_HUB_CACHE to it for the server"
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "HF_HOME", message, remedy)
    yield Remark(remark.finding, command=None)


def folder_of_download(case: Case) -> Iterator[Remark]:
    """`hf download REPOSITORY --local-dir FOLDER`, and a server that is given the name of the repository: it looks in
    the cache alone."""
    script, model = case.script, case.first.model
    script.budget.once("folders of downloads", len(script.lines) // 2, "its engine commands")
    if not REPOSITORY.fullmatch(model) or not is_in_lines(_LOCAL, script.lines, _LONGEST):
        return
    lines, before = list[tuple[int, str]](), ""
    for number, text in numbered(script, 1, len(script.lines)):
        joined = f"{before}{text}"[:_LONGEST]
        before = f"{joined.rstrip()[:-1]} " if joined.rstrip().endswith("\\") else ""
        if not before and not joined.lstrip().startswith("#"):
            lines.append((number, joined))
    for number, text in lines:
        match = INTO_FOLDER.search(text) if "--local-dir" in text else None
        if match is None or match["repository"].casefold() != model.casefold() or "$" in match["folder"]:
            continue
        folder = match["folder"].rstrip("/")
        last = folder.rpartition("/")[2].casefold()
        given = case.option(_CACHE_OF_SERVER)
        if given is not None and case.text(_CACHE_OF_SERVER).strip("'\"").rstrip("/") == folder:
            message = f"{given.written} names a cache of the Hub, in which the weights lie in models--…, and "
            message += f"{script.where(number)} puts their files into {shortened(folder)} itself: they are not found, "
            message += "and the server downloads them again"
            remedy = f"serve {shortened(folder)} in the place of the repository, without {given.written}"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, given.written, message, remedy, at=given.index)
            return
        others = [other.casefold() for at, other in lines if at != number and not LOOKS_OR_MAKES.match(other)]
        if (
            len(last) < 2
            or folder.endswith(model)
            or any(last in other.replace(model.casefold(), "") for other in others)
        ):
            return
        message = (
            f"{script.where(number)} downloads the weights into {shortened(folder)}, and {shortened(model)} is looked "
            "for in the cache of the Hub: the server downloads them again"
        )
        remedy = f"serve {shortened(folder)}, or download into the shared cache, without a folder"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, "--local-dir", message, remedy)
        return


def _resolved(value: str, values: dict[str, str]) -> str:
    bare = value.strip("\"'")
    name = bare.strip("${}") if value[:1] not in "\"'" or bare.startswith("$") else ""
    return values.get(name, bare).rstrip("/")
