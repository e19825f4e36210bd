"""Builds whose own files a text changes: what no release has is not refused there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.own_ports import own_port
from moonpad.explain.results import Remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_OF_A_BUILD: Final = frozenset({Code.UNKNOWN_FLAG, Code.REMOVED_FLAG, Code.INVALID_VALUE})
_LONGEST: Final = 2000
_CHANGED: Final = re.compile(
    r"\b(?:cp|mv|rsync|install|tee|patch)[ ]|\bsed[ ](?:-\w+[ ])*-i|\bgit[ ]apply\b|\b(?:COPY|ADD)[ ]|mountPath\s*:"
    r"|\.write(?:_text)?\(|\bln[ ]-\w*s|[ ]>{1,2}[ ]|(?:^|[ \"'])(?:\.{0,2}/|\w)[\w./-]*:/|\btarget:|\bdestination:"
)
_WRITES: Final = re.compile(r"\b(?:cp|mv|rsync|patch)[ ]|\bsed[ ](?:-\w+[ ])*-i|\bgit[ ]apply\b|\.write(?:_text)?\(")
_USUAL: Final = re.compile(
    r"(?:pr(?![a-z])|cu\d|cpu|rocm|xpu|npu|precompiled|editable|empty|dirty|g[0-9a-f]{7}|git|d?\d|nv|das|dtk|musa|maca|corex|tpu)\w*"
)
"""What publishers put behind the plus of a release: platforms, commits, days, and pull requests, told of elsewhere."""
_BY_HAND: Final = re.compile(
    r"\b(?:modif(?:y|ied|ying|ication)|chang(?:e|ed|ing)|edit(?:ed|ing)?|patch(?:ed|ing)?|overwr\w+|replac(?:e|ed|ing))\b"
    r"[^\n]{0,60}\b(?:files?|librar\w+|packages?|modules?|source|venv|site-packages|by hand|manually)\b"
    r"|\b(?:manually|hand)[- ](?:modified|changed|edited|patched)\b"
    r"|(?:измен|правк|правит|менять|замен)\w*[^\n]{0,60}(?:вручную|библиотек|файл|venv|пакет)|где менять"
    r"|(?:修改|改动|替换|打补丁)"
    r"[^\n]{0,40}(?:源码|文件|代码|库)",
    re.IGNORECASE,
)
"""That the files of what is installed are changed."""
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]{3,79}")
_SAID: Final = re.compile(r"; (?:the image|another build) [^;]{0,120}$")
_SLIP: Final = "write "
_OF_DEVICES: Final = re.compile(r"\bcapabilit(?:y|ies)\b|\bno kernels?\b|\bhas kernels for\b")
"""Of what is reported: that a device has no kernels in the releases."""
_MOST: Final = 20_000


def of_patched(remarks: Iterable[Remark], command: Command, script: Script) -> Iterator[Remark]:
    """What no release has as a note, where the text changes the engine's own files and names it there too, or the
    release that it names is called a build of somebody's own, `0.21+mine`; a slip of a letter stays what it is."""
    for remark in remarks:
        finding = remark.finding
        if finding.code is Code.KNOWN_REPORT and _OF_DEVICES.search(finding.message):
            yield _of_a_port(remark, script)
            continue
        doubted = finding.code in _OF_A_BUILD and finding.severity is not Severity.NOTE
        if not doubted or finding.remedy.casefold().startswith(_SLIP) or not (said := _why(remark, command, script)):
            yield remark
            continue
        message = f"{_SAID.sub('', finding.message)}; {said}, which may have it"
        finding = replace(
            finding, severity=Severity.NOTE, message=message, remedy="keep it where that build has it, by its --help"
        )
        yield replace(remark, finding=finding, edits=(), ends_start=False, stops=False)


def _of_a_port(remark: Remark, script: Script) -> Remark:
    """What releases cannot do on some devices as a note, where a port for them is told to run."""
    port, for_devices = own_port(tuple(script.lines))
    if not for_devices or remark.finding.severity is Severity.NOTE:
        return remark
    finding = remark.finding
    message = f"{finding.message}; the text runs a build of its own ({port}), which may do it"
    remedy = f"with a release: {finding.remedy}" if finding.remedy else ""
    finding = replace(finding, severity=Severity.NOTE, message=message, remedy=remedy)
    return replace(remark, finding=finding, edits=(), ends_start=False, stops=False, complained=False)


def _why(remark: Remark, command: Command, script: Script) -> str:
    package = re.split(r"[ .]", command.program)[0]
    release = script.versions.get(package, "")
    label = release.partition("+")[2]
    if label and not _USUAL.match(label):
        return f"{release} is a build of somebody's own"
    script.budget.once("patched files", len(script.lines), "the text around its engine commands")
    if not changes_files_of(package, tuple(script.lines)):
        port = own_port(tuple(script.lines))[0] if remark.finding.code is not Code.REMOVED_FLAG else ""
        return f"the text runs a build of its own ({port})" if port else ""
    return "the text changes the engine's own files" if _is_named_beside(remark, command, script) else ""


@lru_cache(maxsize=4)
def changes_files_of(package: str, lines: tuple[str, ...]) -> bool:
    """Whether it copies, mounts or writes over modules of the installed package."""
    installed = re.compile(rf"(?:site|dist)-packages/{re.escape(package)}(?:/|\b)")
    found = re.compile(rf"\b{re.escape(package)}\.__(?:path|file)__")
    texts = [line[:_LONGEST] for line in lines]
    if lists_changed_files(package, lines):
        return True
    if any(installed.search(text) and _CHANGED.search(text) for text in texts):
        return True
    return any(map(found.search, texts)) and any(map(_WRITES.search, texts))


@lru_cache(maxsize=4)
def lists_changed_files(package: str, lines: tuple[str, ...]) -> bool:
    """Whether it says that modules of the installed package are changed, and names them, each alone on its line."""
    module = re.compile(
        rf"[ \t>*+`\"'\d.)-]*[\w.~/-]{{0,200}}(?:site|dist)-packages/{re.escape(package)}/[\w/.-]{{1,200}}\.py"
        r"[ \t`\"',:;]*"
    )
    texts = [line[:_LONGEST] for line in lines]
    return any(map(module.fullmatch, texts)) and any(_BY_HAND.search(text) for text in texts)


def _is_named_beside(remark: Remark, command: Command, script: Script) -> bool:
    """Whether lines that are not the command's name the option or the value too."""
    words = [word for word in command.argv if word.text]
    own = {line for word in words for line in range(word.line, max(word.line, word.end_line) + 1)}
    written = " ".join(word.text for word in words)
    where = remark.finding.where.lstrip("-")
    names = {name for name in _NAME.findall(remark.finding.message) if name in written} - {where, "parser"}
    if remark.finding.code is not Code.INVALID_VALUE:
        names = {where, where.replace("-", "_")}
    elif lists_changed_files(re.split(r"[ .]", command.program)[0], tuple(script.lines)):
        names.add(where.replace("-", "_"))  # `gptoss_reasoning_parser.py`
    beside = (line[:_LONGEST] for number, line in enumerate(script.lines[:_MOST], 1) if number not in own)
    return any(name in line for line in beside for name in names)
