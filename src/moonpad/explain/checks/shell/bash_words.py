"""Words that a shell reads otherwise than they look: a tilde in quotes, an index without braces, bash's words in sh."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_ARRAY: Final = re.compile(r"[ \t]*(?:(?:declare|local|readonly)[ \t]+(?:-a[ \t]+)?)?(?P<name>[A-Za-z_]\w{0,60})=\(")
_INDEX: Final = re.compile(r"(?<![\\$\w])\$(?P<name>[A-Za-z_]\w*)(?P<index>\[(?:\d+|\$\{?\w+\}?|[@*])\])")
_OTHER_SHELL: Final = re.compile(r"#!.*\b(?:zsh|fish|ksh)\b|\bzsh\b|autoload|setopt")
_PLAIN_SH: Final = re.compile(r"#![ \t]*(?:/usr)?/bin/(?:env[ \t]+)?sh\b")
_BASH_WORDS: Final = (
    (re.compile(r"[ \t]*[A-Za-z_]\w*\+?=\((?!\()"), "an array"),
    (re.compile(r"(?:^|[ \t;&|])\[\[[ \t]"), "[["),
    (re.compile(r"<<<"), "<<<"),
    (re.compile(r"[ \t]*source[ \t]+\S"), "source"),
)
_RUN_BY_BASH: Final = re.compile(r"\b(?:bash|BASH)\b")


def tilde_in_quotes(case: Case) -> Iterator[Remark]:
    """`MODEL="~/models/K2"`: no shell puts the home folder there, and no engine does."""
    model, script = case.first.model, case.script
    if not model.startswith("~/") or case.commands[0].embedded or case.commands[0].container is not None:
        return
    written = re.compile(rf"(?P<sign>[\"']|(?<![\w])--[\w-]+=){re.escape(model)}(?![\w/.-])")
    first = max(1, case.commands[0].line - 200)
    last = max((word.end_line for word in case.commands[0].words), default=case.commands[0].line)
    for number, text in numbered(script, first, last):
        match = written.search(text) if not text.lstrip().startswith("#") else None
        if match is None:
            continue
        how = "in quotes" if match["sign"] in "\"'" else f"behind {match['sign']}"
        message = (
            f"{script.where(number)}: {how} ~ is not the home folder: the engine is given {shortened(model, 60)} as it "
        )
        message += "stands, finds no such folder, and takes it for the name of a repository"
        remedy = f"write $HOME{shortened(model[1:], 60)}"
        yield Remark(make_remark(Severity.WARNING, Code.INVALID_VALUE, "model", message, remedy).finding, command=0)
        return


def index_without_braces(case: Case) -> Iterator[Remark]:
    """`$NODES[1]`: the first element, and [1] behind it."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    lines = [
        (number, text) for number, text in numbered(script, 1, len(script.lines)) if not text.lstrip().startswith("#")
    ]
    arrays = {match["name"] for _, text in lines if (match := _ARRAY.match(text))}
    if (
        not arrays
        or any(_OTHER_SHELL.search(text) for text in script.lines[:1])
        or any("zsh" in text for _, text in lines)
    ):
        return
    for number, text in lines:
        match = next((each for each in _INDEX.finditer(text) if each["name"] in arrays), None)
        if match is not None and not _in_single_quotes(text, match.start()):
            name, index = match["name"], match["index"]
            message = f"{script.where(number)}: bash reads ${name}{index} as the first element with {index} behind it"
            finding = make_remark(
                Severity.WARNING, Code.INVALID_VALUE, name, message, f"write ${{{name}{index}}}"
            ).finding
            yield Remark(finding, command=None)
            return


def bash_in_sh(case: Case) -> Iterator[Remark]:
    """`#!/bin/sh` above an array: where sh is dash, as on Debian and Ubuntu, the script ends there."""
    script = case.script
    if not is_first_server(case.commands, script) or script.markdown or not script.lines:
        return
    if _PLAIN_SH.match(script.lines[0][:80]) is None:
        return
    lines = list(numbered(script, 2, len(script.lines)))
    if any(_RUN_BY_BASH.search(text) for _, text in lines):
        return
    for number, text in lines:
        word = next((word for sign, word in _BASH_WORDS if sign.search(text)), "")
        if not word or text.lstrip().startswith("#"):
            continue
        message = f"{script.where(number)}: {word} is bash's, and line 1 names sh: on Debian and Ubuntu that is dash, "
        message += "which does not know it"
        finding = make_remark(Severity.WARNING, Code.INVALID_VALUE, "#!/bin/sh", message, "write #!/bin/bash").finding
        yield Remark(finding, command=None)
        return


def _in_single_quotes(text: str, at: int) -> bool:
    return re.sub(r"\"(?:[^\"\\]|\\.)*\"", "", text[:at]).count("'") % 2 == 1 and '"' not in text[:at]


BASH_WORDS: Final = (tilde_in_quotes, index_without_braces, bash_in_sh)
