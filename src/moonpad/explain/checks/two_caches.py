"""A download into one folder of the Hub's cache, and a server that looks into another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity

_REPOSITORY: Final = re.compile(r"[A-Za-z][\w.-]*/[\w.-]+")
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
_NEAR: Final = 8
"""Lines of one call."""


def cache_of_download(case: Case) -> Iterator[Remark]:
    """`snapshot_download(…, cache_dir=X)` writes X/models--…, and `HF_HOME=X` looks into X/hub."""
    script = case.script
    if not _REPOSITORY.fullmatch(case.first.model):
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


def _resolved(value: str, values: dict[str, str]) -> str:
    bare = value.strip("\"'")
    name = bare.strip("${}") if value[:1] not in "\"'" or bare.startswith("$") else ""
    return values.get(name, bare).rstrip("/")
