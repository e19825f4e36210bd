"""Names of runtimes and resources for devices that are nearly those of a vendor."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_VENDOR: Final = "nvidia"
_NAMED: Final = re.compile(
    r"(?P<resource>(?<![\w./-])(?P<vendor>[a-z]{4,9})\.com/(?:gpu|mig-[\w.]+))\b"
    r"|\bruntimeClassName[\"']?:[ ]*[\"']?(?P<runtime>[a-z]{4,9})[\"']?[ ]*(?:#.*)?$"
    r"|--runtime[ =](?P<docker>[a-z]{4,9})(?![\w./-])"
)
_FILE: Final = re.compile(r"(?:--device[= ]|-[ ]+)[\"']?/dev/(?P<name>[a-z][a-z_]{4,20})(?![\w/-])")
_FILES: Final = ("davinci_manager", "devmm_svm", "hisi_hdc")
_ALIKE: Final = 0.75
_COMMENT: Final = re.compile(r"\s*(?:#|//)")


def misspelt_vendor(case: Case) -> Iterator[Remark]:
    """`nividia.com/gpu`, `runtimeClassName: nvdia`: a cluster has nothing of that name."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    for number, text in numbered(script, 1, len(script.lines)):
        if _COMMENT.match(text) or not (match := _NAMED.search(text)):
            continue
        name = match["vendor"] or match["runtime"] or match["docker"]
        if not _is_nearly(name):
            continue
        written = match["resource"] or name
        ends = "docker run ends" if match["docker"] else "the pod is not started"
        message = f"{script.where(number)}: {written} is not a name that a machine knows: {ends}"
        remedy = f"write {written.replace(name, _VENDOR)}"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, written, message, remedy)
        yield Remark(remark.finding, command=None)
        return


def misspelt_file(case: Case) -> Iterator[Remark]:
    """`--device /dev/hisi_hcd`: `docker run` ends where the machine has no such file."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    for number, text in numbered(script, 1, len(script.lines)):
        for match in () if _COMMENT.match(text) else _FILE.finditer(text):
            name = match["name"]
            near = difflib.get_close_matches(name, _FILES, n=1, cutoff=_ALIKE) if name not in _FILES else []
            if not near:
                continue
            message = (
                f"{script.where(number)}: no driver makes a file /dev/{name}, and docker run ends where it is not there"
            )
            message += " (no such file or directory)"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, f"/dev/{name}", message, f"write /dev/{near[0]}")
            yield Remark(remark.finding, command=None)
            return


def _is_nearly(name: str) -> bool:
    """One letter more, less or another, or two neighbours exchanged."""
    if name == _VENDOR or abs(len(name) - len(_VENDOR)) > 1:
        return False
    if len(name) == len(_VENDOR):
        apart = [at for at, (mine, right) in enumerate(zip(name, _VENDOR, strict=True)) if mine != right]
        exchanged = len(apart) == 2 and apart[1] == apart[0] + 1 and sorted(name) == sorted(_VENDOR)
        return len(apart) == 1 or exchanged
    longer, shorter = (name, _VENDOR) if len(name) > len(_VENDOR) else (_VENDOR, name)
    return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))
