"""A clone of weights that has the pointers of Git LFS in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_CLONE: Final = re.compile(
    r"(?P<skips>GIT_LFS_SKIP_SMUDGE=[\"']?1[\"']?[ \t]+)?\bgit[ \t]+clone\b[^#\n]*?"
    r"https?://[^\s\"']*?(?:huggingface\.co|hf-mirror\.com|modelscope\.(?:cn|com))/(?P<path>[\w./-]+)"
)
_SKIPS: Final = re.compile(r"^[ \t]*(?:\$[ \t]+)?(?:export[ \t]+)?GIT_LFS_SKIP_SMUDGE=[\"']?1\b|skip-smudge")
_FETCHES: Final = re.compile(
    r"\blfs[ \t]+(?:pull|fetch|checkout)\b|\b(?:hf|huggingface-cli|modelscope)[ \t]+download\b|snapshot_download"
    r"|\b(?:wget|curl|aria2c|rsync)\b[^\n]*safetensors"
)
_DAMAGED: Final = re.compile(
    r"deserializing header|HeaderTooLarge|InvalidHeaderDeserialization|invalid load key, 'v'|header too large"
)
_NO_WEIGHTS: Final = re.compile(r"/(?:datasets|spaces|docs|blog)/|(?:^|/)(?:datasets|spaces)/")


def pointers_of_lfs(case: Case) -> Iterator[Remark]:
    """`GIT_LFS_SKIP_SMUDGE=1 git clone …` without `git lfs pull`; or a clone whose weights a log calls damaged."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    cloned = next(((number, match) for number, text in lines if (match := _CLONE.search(text))), None)
    if cloned is None or _NO_WEIGHTS.search(cloned[1]["path"]) or any(_FETCHES.search(text) for _, text in lines):
        return
    number, match = cloned
    skips = bool(match["skips"]) or any(_SKIPS.search(text) for at, text in lines if at <= number)
    damaged = next((at for at, text in lines if _DAMAGED.search(text)), 0)
    name = match["path"].rstrip("/").removesuffix(".git").rpartition("/")[2]
    if not (skips or damaged) or not _is_served(case, name):
        return
    why = "GIT_LFS_SKIP_SMUDGE leaves" if skips else "without Git LFS a clone has"
    message = f"{script.where(number)}: {why} pointers of some hundred bytes in place of the weights of "
    message += f"{shortened(name, 60)}, and the engine cannot read them"
    if damaged and not skips:
        message += f" ({script.where(damaged)})"
    remedy = f"git lfs install, and then git lfs pull in {shortened(name, 60)}"
    finding = make_remark(Severity.WARNING, Code.CONFLICT, "git clone", message, remedy).finding
    yield Remark(finding, command=None)


def _is_served(case: Case, name: str) -> bool:
    """Whether the engine is given a folder of that name, and not the repository of the hub."""
    model = case.first.model.rstrip("/")
    return model.rpartition("/")[2].casefold() == name.casefold() and (
        model.startswith((".", "/", "~")) or "/" not in model
    )
