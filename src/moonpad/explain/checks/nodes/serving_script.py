"""The script with which vLLM's images join the pods of a group into a Ray cluster, `multi-node-serving.sh`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import EXPERTS_BY_VARIABLE as ENGINE
from moonpad.engines.surrounding_names import EXAMPLES_OF_IMAGE, FOLDER_OF_SCRIPT, SERVES_NEXT
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_CALL: Final = re.compile(r"multi-node-serving\.sh[ \t]+(?P<sub>[A-Za-z][\w-]*)(?P<rest>[^;&|\n]*)")
_BEFORE: Final = "online_serving"
_NOW: Final = "ray_serving"
_MOVED_IN: Final = "0.21.0"
"""By the source archives of 0.20.0 and 0.21.0."""
_NEEDS: Final = {"leader": "--ray_cluster_size", "worker": "--ray_address"}
_COMMENT: Final = re.compile(r"\s*(?:#|//)")
_SIZE: Final = re.compile(r"[ \t]+size:[ \t]*(?P<size>\d{1,3})[ \t]*(?:#.*)?")
_LITERAL: Final = re.compile(r"--ray_cluster_size=(?P<size>\d{1,3})(?![\w$])")


def serving_script(case: Case) -> Iterator[Remark]:
    """A subcommand that it does not have, an option written otherwise, a number of pods that never come."""
    script = case.script
    if case.base != ENGINE or not is_first_server(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    sizes = {match["size"] for _, text in lines if (match := _SIZE.fullmatch(text))}
    for at, (number, text) in enumerate(lines):
        call = None if _COMMENT.match(text) else _CALL.search(text)
        if call is None:
            continue
        where, sub = script.where(number), call["sub"]
        rest, joined = call["rest"], text.rstrip()
        while joined.endswith("\\") and at + 1 < len(lines):
            at += 1
            joined = lines[at][1].rstrip()
            rest = f"{rest.rstrip().removesuffix(chr(92))} {re.split(r'[;&|]', joined)[0]}"
        found = _problem(sub, rest, sizes, text, lines[at + 1][1] if at + 1 < len(lines) else "")
        if found is not None:
            remark = make_remark(Severity.WARNING, found[0], found[1], f"{where}: {found[2]}", found[3])
            yield Remark(remark.finding, command=None)
            return


def folder_of_script(case: Case) -> Iterator[Remark]:
    """It has moved: bash reports that there is no such file and goes on, and the server finds no cluster."""
    if case.base != ENGINE or not is_first_server(case.commands, case.script) or _is_laid_over(case):
        return
    for number, text in numbered(case.script, 1, len(case.script.lines)):
        call = None if _COMMENT.match(text) else FOLDER_OF_SCRIPT.search(text)
        if call is None:
            continue
        moved = not case.version or since(case.version, _MOVED_IN)
        if moved is (call["folder"] == _NOW):
            return
        place = f"{_NOW if moved else _BEFORE}/"
        message = f"{case.script.where(number)}: from {_MOVED_IN} on the image has this script in {_NOW}/, before in "
        message += f"{_BEFORE}/: where it is not there, no cluster comes up (No such file or directory)"
        named = case.version and not case.earliest
        severity = Severity.WARNING if named or _is_newest(case) else Severity.NOTE
        remedy = f"write {EXAMPLES_OF_IMAGE}{place}multi-node-serving.sh"
        remark = make_remark(severity, Code.INVALID_VALUE, "multi-node-serving.sh", message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _is_newest(case: Case) -> bool:
    image = case.commands[0].container.image if case.commands[0].container is not None else None
    return image is not None and image.text.strip("'\"").endswith((":latest", ":nightly"))


def _is_laid_over(case: Case) -> bool:
    """Whether the script is mounted or written by the text itself."""
    return any("multi-node-serving" in name for name in (*case.script.files, *case.script.stand_ins))


def _problem(sub: str, rest: str, sizes: set[str], text: str, below: str) -> tuple[Code, str, str, str] | None:
    needed = _NEEDS.get(sub)
    if needed is None:
        message = f"the script has the subcommands leader and worker, and ends at {shortened(sub, 40)}"
        return Code.INVALID_VALUE, sub, message, "write leader or worker"
    if "$" not in rest.replace("$(", "").replace("${", "") and f"{needed}=" not in rest:
        message = f"{sub} takes {needed}=VALUE in one word, and without it the script ends (Missing argument {needed})"
        return Code.MISSING_FLAG, needed, message, f"write {needed}=…"
    literal = _LITERAL.search(rest)
    if literal is not None and len(sizes) == 1 and literal["size"] not in sizes:
        message = f"the leader waits for {literal['size']} machines, and the group has {next(iter(sizes))} pods"
        return Code.CONFLICT, needed, f"{message}: it never begins", "write $(LWS_GROUP_SIZE)"
    ended = re.search(r"[;&|\"'`]|\bdone\b", text[text.index("multi-node-serving.sh") :])
    if ended is None and not text.rstrip().endswith("\\") and SERVES_NEXT.match(below) and _is_one_string(text):
        message = "nothing ends this command before the next line of the same text in quotes: the words of the server "
        return Code.MISSING_FLAG, ";", f"{message}become arguments of the script", "put ; behind it"
    return None


def _is_one_string(text: str) -> bool:
    """A double quote that opens in front of it and does not close: YAML folds the lines into one."""
    before = text[: text.index("multi-node-serving.sh")]
    return before.count('"') % 2 == 1 and re.match(r"[ \t]*-[ \t]+\"", before) is not None
