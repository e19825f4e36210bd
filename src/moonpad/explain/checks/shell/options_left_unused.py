"""Options and paths that a script puts into a variable which no line reads, and sizes that it takes and its start
writes out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_OPTIONS: Final = re.compile(
    r"[ \t]*(?:(?:declare|local|readonly)[ \t]+(?:-a[ \t]+)?)?(?P<name>[A-Za-z_]\w{2,60})\+?="
    r"(?:\([ \t]*[\"']?|[\"'][ \t]*)(?P<flag>--[a-z][a-z0-9-]{1,60})\b"
)
_SIZE: Final = re.compile(
    r"[ \t]*(?:(?:export|local|readonly|declare)[ \t]+)?"
    r"(?P<name>(?P<tp>(?:TP|TENSOR_PARALLEL)(?:_SIZE)?)|(?P<pp>(?:PP|PIPELINE_PARALLEL)(?:_SIZE)?)"
    r"|(?P<dp>(?:DP|DATA_PARALLEL)(?:_SIZE)?)|(?P<nodes>N_?NODES|NUM_NODES)"
    r"|(?P<max_model_len>MAX_MODEL_LEN|CONTEXT(?:_LEN(?:GTH)?)?|MAX_CONTEXT(?:_LEN)?))="
    r"(?P<value>[\"']?(?:\d{1,8}|\$[1-9]|\$\{[A-Za-z_1-9]\w*:?-[^\s\"']{1,80}\})[\"']?)[ \t]*(?:#.*)?$"
)
_PATH: Final = re.compile(
    r"[ \t]*(?P<name>[A-Z][A-Z0-9]{1,30}_[A-Z0-9_]{2,40})="
    r"[\"']?(?P<path>(?:~|\.{0,2})/[^\s\"'$]{2,200})[\"']?[ \t]*(?:#.*)?$"
)
_OF_PLACES: Final = frozenset({"path", "dir", "file"})
_OF_MODEL: Final = frozenset({"model"})
"""Which may stand behind the program without its option."""
_READ_ELSEWHERE: Final = re.compile(
    r"\b(?:eval|envsubst|printenv|compgen)\b|\benv[ ]*(?:\||$)|(?:\bsource|^[ \t]*\.)[ \t](?![^\n]*\bactivate\b)"
    r"|\$\{!|\b(?:declare|local)[ ]-\w*[nx]|\bset[ ]+-\w*a|allexport"
)
"""What may read a variable that no line names."""
_RUNS_OTHERS: Final = re.compile(r"(?:^|[ \t;&|])(?:bash|sh)[ ]|\.(?:sh|py)\b")
_EXPORTED: Final = re.compile(r"[ \t]*export[ \t]")
_SHOWS: Final = re.compile(r"[ \t]*(?:echo|#)(?![^#\n]{0,300}(?:>|\|))")
_ASSIGNS: Final = re.compile(
    r"[ \t]*(?:(?:export|declare|local|readonly)[ \t]+(?:-a[ \t]+)?)?(?P<name>[A-Za-z_]\w*)\+?="
)
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_MOST: Final = 1_000
_LONGEST: Final = 400
_LONGEST_READ: Final = 20_000
"""A name may stand behind a long JSON."""


def left_unused(case: Case) -> Iterator[Remark]:
    """`EXTRA=(--enable-expert-parallel)` and nothing that reads EXTRA, `TP_SIZE="${2:-8}"` above `--tp-size 4`."""
    script = case.script
    if script.markdown or script.objects or script.origins[1:] or len(script.lines) > _MOST:
        return
    if len(case.commands) > 1 or not case.commands[0].prefix or not is_first_server(case.commands, script):
        return
    lines = [(number, text[:_LONGEST]) for number, text in numbered(script, 1, len(script.lines))]
    lists = [(number, match) for number, text in lines if (match := _OPTIONS.match(text)) is not None]
    sizes = [(number, match) for number, text in lines if (match := _SIZE.match(text)) is not None]
    paths = [(number, match) for number, text in lines if (match := _PATH.match(text)) is not None]
    if not (lists or sizes or paths) or any(_READ_ELSEWHERE.search(text) for _, text in lines):
        return
    script.budget.once("names that it reads", len(script.lines), "its lines")
    read = _names_read([text[:_LONGEST_READ] for text in script.lines])
    for number, match in (each for each in lists if each[1]["name"] not in read):
        name = match["name"]
        message = (
            f"{script.where(number)}: {name} holds {match['flag']}, and nothing reads it: the server starts without"
        )
        words = f'"${{{name}[@]}}"' if "=(" in match.group() else f"${name}"
        remedy = f"write {words} into the command, or leave it out"
        yield Remark(make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy).finding, command=None)
        break
    unread = (_without_its_path(case, number, match) for number, match in paths if match["name"] not in read)
    yield from islice((remark for remark in unread if remark is not None), 1)
    fixed = (_written_out(case, number, match) for number, match in sizes if match["name"] not in read)
    yield from islice((remark for remark in fixed if remark is not None), 1)


def _without_its_path(case: Case, number: int, match: re.Match[str]) -> Remark | None:
    """`KT_WEIGHTS=/models/int8` of a command that has no --kt-weight-path."""
    options, words = option_set(case.engine.program, case.version or None), _words_of(match["name"])
    named = [
        each.names for each in (options.options if options is not None else ()) if words in map(_words_of, each.names)
    ]
    if words == _OF_MODEL or len(named) != 1 or case.option(*named[0]) is not None:
        return None
    flag, name = next(each for each in named[0] if _words_of(each) == words), match["name"]
    message = (
        f"{case.script.where(number)}: {name} holds a path, and nothing reads it: the server starts without {flag}"
    )
    remedy = f'write {flag} "${name}" into the command, or leave the variable out'
    return Remark(make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy).finding, command=None)


def _words_of(name: str) -> frozenset[str]:
    """Of an option or a variable, without the word for what kind of place it is."""
    words = {word.removesuffix("s") for word in re.split(r"[-_]+", name.strip("-").casefold())}
    return frozenset(words - _OF_PLACES)


def _written_out(case: Case, number: int, match: re.Match[str]) -> Remark | None:
    options = {**case.engine.command_line.options, "nodes": "--nnodes"}
    flag = options.get(next(name for name in ("tp", "pp", "dp", "nodes", "max_model_len") if match[name]), "")
    place = case.option(flag) if flag else None
    fixed = place.value if place is not None and isinstance(place.value, str) else ""
    value, name = match["value"].strip("\"'"), match["name"]
    if place is None or not fixed.isdigit() or value == fixed:
        return None
    message = f"{case.script.where(number)}: {name} ({shortened(value, 40)}) is read by nothing, and {place.written} "
    message += f"{fixed} is fixed: another value there changes nothing"
    remedy = f"write {place.written} ${name}, or leave the variable out"
    return Remark(make_remark(Severity.NOTE, Code.INVALID_VALUE, name, message, remedy).finding, command=None)


def _names_read(lines: Sequence[str]) -> frozenset[str]:
    """Words of all lines but those that print them; what a line sets is read by others that it is exported to."""
    names: set[str] = set()
    others = any(_RUNS_OTHERS.search(text) for text in lines)
    for text in lines:
        if _SHOWS.match(text):
            continue
        own = _ASSIGNS.match(text)
        kept = own is not None and not (others and _EXPORTED.match(text))
        words = _WORD.findall(text)
        names.update(word for word in words if own is None or not kept or word != own["name"])
    return frozenset(names)
