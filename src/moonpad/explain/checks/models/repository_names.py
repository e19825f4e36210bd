"""Names of repositories that are not there: of another checkpoint, or of another owner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.drafts import drafts
from moonpad.catalog.other_models import with_active
from moonpad.catalog.publishers import lacking, owner_meant, owner_of, written_alike
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.draft_targets import draft_named
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LONGEST: Final = 200
REPOSITORY: Final = re.compile(r"[A-Za-z][\w.-]*/[\w.-]+")
_DOUBLED: Final = re.compile(r"(?P<owner>[A-Za-z][\w.-]*)/(?P=owner)/(?P<name>[\w.-]+)", re.IGNORECASE)
_REMARK: Final = re.compile(r"([A-Za-z][\w.-]*/[\w.-]+)[ \t]+\(?[A-Za-z][^/\\$<>]{0,80}")


def remark_in_name(case: Case) -> Iterator[Remark]:
    """`owner/name (text-only variant)`: the hub takes letters, digits, `-`, `_` and `.` alone."""
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        match = _REMARK.fullmatch(reading.model[:_LONGEST])
        if match is None or is_fragment(command):
            continue
        at = next((at for at, word in enumerate(command.argv) if reading.model in word.text), None)
        message = f"{shortened(reading.model)}: no repository can be called so, for it has blanks"
        remedy = f"write {match[1]}"
        remark = make_remark(Severity.ERROR, Code.MODEL_NAME, match[1], message, remedy, at=at)
        yield replace(remark, command=number)


def repository(case: Case) -> Iterator[Remark]:
    """A repository that its publisher does not have."""
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        has, day = lacking(reading.model)
        whole = with_active(reading.model)
        if not (has or whole) or is_fragment(command):
            continue
        owner, _, name = reading.model.partition("/")
        at = next((at for at, word in enumerate(command.argv) if reading.model in word.text), None)
        message = f"{owner} has no repository {shortened(name)}" + (f" (as of {day})" if day else "")
        remedy = f"take one that it has: {', '.join(has[:6])}" if has else f"write {shortened(whole)}"
        if has and "/" in has[0]:
            others = [each for each in has if "/" in each]
            remedy = f"take {' or '.join(others)}, or {owner}'s own {has[len(others)]}"
        meant = written_alike(reading.model)
        if meant:
            remedy = f"write {meant}"
        edits = (
            [Edit(at, 1, (command.argv[at].text.replace(reading.model, meant),))] if meant and at is not None else []
        )
        where = shortened(reading.model)
        remark = make_remark(Severity.WARNING, Code.MODEL_NAME, where, message, remedy, at=at, edits=edits)
        yield replace(remark, command=number, stops=True)


def repository_of_draft(case: Case) -> Iterator[Remark]:
    """A draft under a publisher that does not have it: `moonshotai/kimi-k2.5-eagle3-mla`."""
    for number, reading in enumerate(case.readings):
        draft = draft_named(reading)
        place, name = draft if draft is not None else (None, "")
        has, day = lacking(name)
        if place is None or not has:
            continue
        owner = name.partition("/")[0]
        same = sorted({each for each in drafts() if each.partition("/")[2] == name.partition("/")[2].casefold()})
        message = f"{owner} has no repository {shortened(name.partition('/')[2])}" + (f" (as of {day})" if day else "")
        remedy = f"write {same[0]}" if same else "name the repository that holds the draft"
        remark = make_remark(Severity.WARNING, Code.MODEL_NAME, shortened(name), message, remedy, at=place.index)
        yield replace(remark, command=number)
        return


def repository_owner(case: Case) -> Iterator[Remark]:
    """A repository whose owner is written wrongly: there is no such one, though the rest is a known model's."""
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        meant = owner_meant(reading.model)
        if not meant or is_fragment(command):
            continue
        at = next((at for at, word in enumerate(command.argv) if reading.model in word.text), None)
        message = (
            f"the owner of that model is {meant.partition('/')[0]}, not {shortened(reading.model.partition('/')[0])}"
        )
        message += ": unless this is a folder, the download ends with 404 (not found)"
        edits = [] if at is None else [Edit(at, 1, (command.argv[at].text.replace(reading.model, meant),))]
        where, remedy = shortened(reading.model), f"write {meant}"
        remark = make_remark(Severity.WARNING, Code.MODEL_NAME, where, message, remedy, at=at, edits=edits)
        yield replace(remark, command=number)


def owner_doubled(case: Case) -> Iterator[Remark]:
    """`owner/owner/name`: an id of the hub has one owner and one name."""
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        match = _DOUBLED.fullmatch(reading.model[:_LONGEST])
        if match is None or is_fragment(command) or not owner_of(match["name"]):
            continue
        at = next((at for at, word in enumerate(command.argv) if reading.model in word.text), None)
        message = (
            f"{shortened(reading.model)}: the owner stands there twice, and an id of the hub has one owner and one "
        )
        message += "name: unless this is a folder, the hub is asked for what it cannot have, and the start ends"
        meant = f"{match['owner']}/{match['name']}"
        edits = []
        if at is not None:
            edits = [Edit(at, 1, (command.argv[at].text.replace(reading.model, meant),))]
        where = shortened(reading.model)
        remark = make_remark(Severity.WARNING, Code.MODEL_NAME, where, message, f"write {meant}", at=at, edits=edits)
        yield replace(remark, command=number)


def owner_left_out(case: Case) -> Iterator[Remark]:
    """The bare name of a model that the hub has under its owner's name alone, where nothing brings a folder of that
    name."""
    for number, (command, reading) in enumerate(zip(case.commands, case.readings, strict=True)):
        name = reading.model
        owner = "" if "/" in name or is_fragment(command) or command.custom else owner_of(name)
        if not owner or has_folder(name, owner, case):
            continue
        at = next((at for at, word in enumerate(command.argv) if name in word.text), None)
        whole = with_active(f"{owner}/{name}") or f"{owner}/{name}"
        message = f"{shortened(name)} is a folder of the working directory, and where there is none the hub is asked"
        message += f" for a repository without an owner, which it does not have; it is {whole}"
        severity = (
            Severity.WARNING if case.script.markdown else Severity.NOTE
        )  # a thread's may be a folder that is there
        remark = make_remark(severity, Code.MODEL_NAME, name, message, f"write {whole}", at=at)
        yield replace(remark, command=number)


def has_folder(name: str, owner: str, case: Case) -> bool:
    """Whether the text clones, downloads or edits it, goes into a folder, mounts one, or names the folder in another
    way."""
    case.script.budget.work(len(case.script.lines), "its lines")
    folder = re.compile(
        r"(?:^|[;&|][ \t]*)cd[ \t]|\bWORKDIR\b|--local[-_]dir|local_dir"
        rf"|git (?:lfs )?clone\b.*{re.escape(name)}"
        rf"|[\w.~-]/{re.escape(name)}(?![\w.-])(?<!{re.escape(owner)}/{re.escape(name)})|\./{re.escape(name)}"
        r"|--working[-_]dir|-w[ =]/"
        r"|config\.json\b.{0,60}\bdownloaded|\b(?:edit|chang|modif|patch|adjust|replac)\w* .{0,60}\bconfig\.json"
        r"|修改.{0,40}config\.json|config\.json.{0,40}修改",
        re.IGNORECASE,
    )
    return any(folder.search(line[:2000]) for line in case.script.lines)
