"""Options by which the machines of one engine meet, under the names that other launchers have for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from moonpad.engines.argv_reader import Occurrence, Parsed
from moonpad.engines.start_names import MACHINES, MEETING, OTHER_MACHINES, OTHER_MEETING
from moonpad.explain.change_edits import respelled
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity


def meeting_remarks(words: Sequence[str], option: Occurrence, parsed: Parsed, book: Rulebook) -> Iterator[Remark]:
    """`--num-nodes 2 --master-addr A --master-port P`, for an engine that has `--nnodes 2 --dist-init-addr A:P`. Left
    out, the machines would not meet."""
    written = option.written.replace("_", "-")
    if option.problem != "unknown" or not book.options.exact or book.options.named(MEETING) is None:
        return
    message = f"{book.label} has no {option.written}"
    if written in OTHER_MACHINES and book.options.named(MACHINES) is not None:
        edit, remedy = respelled(words, option, MACHINES), f"write {MACHINES}"
        if parsed.occurrence(MACHINES) is not None:
            edit, remedy = Edit(option.index, option.length, ()), f"leave it out: {MACHINES} is given"
        yield _said(option, message, remedy, [edit])
    elif written in OTHER_MEETING:
        if parsed.occurrence(MEETING) is not None:
            yield _said(option, message, f"leave it out: {MEETING} is given", [Edit(option.index, option.length, ())])
            return
        host, port = (_given(words, name, parsed) for name in OTHER_MEETING)
        remedy = f"write {MEETING} {host or 'ADDRESS'}:{port or 'PORT'}, the same on all machines"
        first = written == OTHER_MEETING[0]
        edit = Edit(option.index, option.length, (MEETING, f"{host}:{port}") if first else ())
        yield _said(option, message, remedy, [edit] if host and port else [])


def _given(words: Sequence[str], name: str, parsed: Parsed) -> str:
    """The value of an option that the parser does not know."""
    for option in parsed.occurrences:
        if option.written.replace("_", "-") == name:
            _, equals, value = words[option.index].partition("=")
            values = (value,) if equals else tuple(words[option.index + 1 : option.index + option.length])
            return values[0] if len(values) == 1 else ""
    return ""


def _said(option: Occurrence, message: str, remedy: str, edits: Sequence[Edit]) -> Remark:
    error = Severity.ERROR
    return make_remark(error, Code.UNKNOWN_FLAG, option.written, message, remedy, at=option.index, edits=edits)
