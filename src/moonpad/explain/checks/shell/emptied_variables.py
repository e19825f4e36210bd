"""A manifest that is filled in by `envsubst` without a list of names: it empties the variables of its scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.shell.dollar_slips import blocks_of_lines, own_variables
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_Line = tuple[int, str]

_CALL: Final = re.compile(r"\benvsubst\b(?P<behind>.*)")
_BARE: Final = re.compile(r"[ \t]*(?:<[ \t]*(?P<file>[\w./${}-]+)|\||>|$)")
_WITH_NAMES: Final = re.compile(r"[ \t]+(?:-[\w-]+[ \t]+)*[\"']?\$")
_FROM_FILE: Final = re.compile(r"\bcat[ \t]+(?P<file>[\w./${}-]+)[ \t]*\|[ \t]*$")
_TO_CLUSTER: Final = re.compile(r"\bkubectl\b.*\b(?:apply|create|replace)\b")
_AS_IT_IS: Final = re.compile(r"\bkubectl\b[^|#]*[ \t](?:-f|-k|--filename)[ =]*(?!-(?:\s|$))(?P<file>[\w./${}-]+)")
_NOT_SO: Final = re.compile(r"\b(?:not|never|don't|instead|without|avoid|breaks?)\b", re.IGNORECASE)
_FILLED_IN: Final = re.compile(r"(?<![$\\])\$(?:\{(?P<braced>[A-Za-z_]\w*)\}|(?P<name>[A-Za-z_]\w*))")
_TOP: Final = re.compile(r"[\w.-]+:(?:\s|$)")
_UNQUOTED: Final = re.compile(r"<<-?[ \t]*[A-Za-z_]")
_OPTION: Final = re.compile(r"(?<![\w-])(?P<option>--[a-z][\w-]+)[ =]+[\"']?\$(?:\{(?P<braced>\w+)\}|(?P<name>\w+))")
_NAME_OF_ENV: Final = re.compile(r"[ \t]*-[ \t]+name:[ \t]*[\"']?(?P<name>[A-Za-z_]\w*)")
_OF_SHELLS: Final = frozenset({"HOME", "HOSTNAME", "PATH", "PWD", "RANDOM", "USER", "LD_LIBRARY_PATH"})
_SHOWN: Final = 5
_ABOVE: Final = 3


class _Call(NamedTuple):
    """A call of the program without names: its line, the file that it fills in, and files that are applied as they
    are."""

    line: int
    file: str
    as_they_are: frozenset[str]


def emptied_by_envsubst(case: Case) -> Iterator[Remark]:
    """`envsubst < pod.yaml | kubectl apply -f -`, where a script of pod.yaml has `IP=$(hostname -I)` and `$IP`."""
    script = case.script
    if not script.objects or not is_first(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    call = _bare_call(lines)
    if call is None:
        return
    alone = not script.markdown and _is_manifest(lines)
    for first, last in script.objects:
        manifest = lines[first - 1 : last]
        if not _is_meant(manifest, lines, call, alone=alone):
            continue
        blocks = list(blocks_of_lines(manifest, frozenset()))
        wanted = _wanted(manifest, blocks)
        emptied = _emptied(blocks)
        if not wanted or not emptied:
            continue
        names = [*emptied][:_SHOWN]
        of_options = _options(manifest, emptied)
        message = (
            f"{script.where(call.line)}: envsubst without a list of names replaces every variable, so "
            f"{', '.join(f'${name}' for name in names)}, which the script in the manifest sets itself, "
            f"{'is' if len(names) == 1 else 'are'} empty in the pod"
        )
        message += f", and with {'it' if len(names) == 1 else 'them'} {', '.join(of_options)}" if of_options else ""
        file = f" < {call.file}" if call.file else ""
        listed = " ".join(f"${name}" for name in wanted if name not in emptied)
        remedy = f"name what it may replace: envsubst '{listed}'{file}"
        yield Remark(
            make_remark(Severity.WARNING, Code.INVALID_VALUE, f"${names[0]}", message, remedy).finding, command=None
        )
        return


def _bare_call(lines: Sequence[_Line]) -> _Call | None:
    """The first call; None where one has a list of names."""
    found: tuple[int, str] | None = None
    as_they_are: set[str] = set()
    for number, text in lines:
        if applied := _AS_IT_IS.search(text):
            as_they_are.add(applied["file"].rpartition("/")[2])
        match = _CALL.search(text)
        if match is None:
            continue
        if _WITH_NAMES.match(match["behind"]):
            return None
        bare = _BARE.match(match["behind"])
        if found is not None or bare is None or _NOT_SO.search(text) or not _TO_CLUSTER.search(match["behind"]):
            continue
        piped = _FROM_FILE.search(text[: match.start()])
        found = number, bare["file"] or (piped["file"] if piped else "")
    return _Call(*found, frozenset(as_they_are)) if found else None


def _is_manifest(lines: Sequence[_Line]) -> bool:
    """Whether the text is a file of objects alone, whose comments say how it is applied."""
    tops = (text for _, text in lines if text[:1].strip())
    return all(text[0] in "#-{}" or _TOP.match(text) for text in tops)


def _is_meant(manifest: Sequence[_Line], lines: Sequence[_Line], call: _Call, *, alone: bool) -> bool:
    """Whether the file of the call is this one: the only one there is, or the one whose name stands right above it."""
    if alone:
        return not call.as_they_are and lines[call.line - 1][1].lstrip().startswith("#")
    name = call.file.rpartition("/")[2]
    first = manifest[0][0]
    above = [text for line, text in lines[max(0, first - 1 - _ABOVE) : first] if line != call.line]
    filled_in_by_shell = any(_UNQUOTED.search(text) for text in above)
    return bool(name) and name not in call.as_they_are and not filled_in_by_shell and any(name in t for t in above)


def _emptied(blocks: Sequence[Sequence[_Line]]) -> Mapping[str, int]:
    """Variables that a script sets itself and then reads as `$NAME` or `${NAME}`, and the line of the first reading."""
    found: dict[str, int] = {}
    for block in blocks:
        found |= {name: line for name, line in own_variables(block, plain=True).items() if name not in found}
    return found


def _options(manifest: Sequence[_Line], emptied: Mapping[str, int]) -> list[str]:
    given = [match for _, text in manifest for match in _OPTION.finditer(text)]
    return list(dict.fromkeys(m["option"] for m in given if (m["braced"] or m["name"]) in emptied))[:_SHOWN]


def _wanted(manifest: Sequence[_Line], blocks: Sequence[Sequence[_Line]]) -> list[str]:
    """Variables that are meant to be replaced: those outside of the scripts, and with them those that stand in braces
    in a script and are not of its container; none where no variable stands outside, since another file may be meant."""
    inside = {line for block in blocks for line, _ in block}
    outside, within = dict[str, None](), dict[str, None]()
    of_env = _OF_SHELLS | {match["name"] for _, text in manifest if (match := _NAME_OF_ENV.match(text))}
    for line, text in manifest:
        if text.lstrip().startswith("#"):
            continue
        for match in _FILLED_IN.finditer(text):
            if line not in inside:
                outside[match["braced"] or match["name"]] = None
            elif match["braced"] and match["braced"] not in of_env:
                within[match["braced"]] = None
    return [*(outside | within)] if outside else []
