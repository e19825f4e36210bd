"""A file that a script writes under one name and gives its programs under another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_NAME: Final = r"[\w./~-]{1,200}\.(?:ya?ml|json|jinja|toml|env|conf)"
_WRITES: Final = re.compile(rf"(?:>{{1,2}}|\btee\b)[ \t]*[\"']?({_NAME})[\"']?(?=\s|$)")
_HEREDOC: Final = re.compile(r"<<-?[ \t]*[\"']?(\w+)")
_READS: Final = re.compile(rf"(?<![\w./~$}}-])({_NAME})(?![\w./-])")
_MAKES: Final = re.compile(
    r"(?:^|[\s;&|])(?:cp|mv|ln|wget|curl|scp|rsync|sed|envsubst|touch|vi|vim|nano)[ \t]|>|^[ \t]*#"
)
_LONGEST: Final = 2000


def written_under_another_name(case: Case) -> Iterator[Remark]:
    """`cat > disagg-config.yml <<EOF`, and then `-c disagg-config.yaml`: there is no such file."""
    script = case.script
    if script.objects or not is_first(case.commands, script) or not any("<<" in line for line in script.lines):
        return
    script.budget.work(2 * len(script.lines), "the files that it writes")
    written, read = _names(case)
    alike = {_likeness(name): name for name in written}
    for name, number in read.items():
        other = alike.get(_likeness(name))
        if other is None or name in written:
            continue
        where = script.where(written[other])
        message = f"{script.where(number)}: {where} writes {other}, and nothing here writes {name}"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, "use one name in both places")
        yield Remark(remark.finding, command=None)


def _names(case: Case) -> tuple[dict[str, int], dict[str, int]]:
    """Of files that heredocs write, and of those that other lines name and do not make, with their first line."""
    script = case.script
    written: dict[str, int] = {}
    read: dict[str, int] = {}
    made: set[str] = set()
    end = ""
    for number, text in numbered(script, 1, len(script.lines)):
        if end:
            end = "" if text.strip() == end else end
            continue
        code = text[:_LONGEST]
        names = [_plain(name) for name in _READS.findall(code)]
        if (heredoc := _HEREDOC.search(code)) is not None:
            end = heredoc[1]
            if (target := _WRITES.search(code)) is not None:
                written.setdefault(_plain(target[1]), number)
        elif _MAKES.search(code):
            made.update(names)
        else:
            for name in names:
                read.setdefault(name, number)
    return written, {name: number for name, number in read.items() if name not in made}


def _plain(name: str) -> str:
    return name.removeprefix("./")


def _likeness(name: str) -> tuple[str, str, str]:
    """The same for `a/disagg_config.yml` and `a/disagg-config.yaml`."""
    path = PurePosixPath(name)
    return str(path.parent), path.stem.replace("_", "-").casefold(), path.suffix.replace(".yml", ".yaml")
