"""The lines that mend what was found, judged again before they are shown: they can be used as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.foreign_names import OWN_RANK, RANKS_HERE
from moonpad.explain.builds import is_of_own_options
from moonpad.explain.checks.options.placeholders import takes_either
from moonpad.explain.checks.options.stray_words import NO_SUCH
from moonpad.explain.commands import Command, HereFile, Word, whole_number
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import ADDRESS, Group, value_of
from moonpad.explain.into_other_faults import but_into_others
from moonpad.explain.kept_contexts import with_kept_contexts
from moonpad.explain.mended_lines import mended, mended_line
from moonpad.explain.needed_beside import with_needed
from moonpad.explain.nodes_alike import mended_alike
from moonpad.explain.open_arguments import passes_arguments_on
from moonpad.explain.programs import identify, listens
from moonpad.explain.results import FILL_IN, Better, Edit, Judged, Line, Remark, edited
from moonpad.explain.shell.cut_commands import AS_LABELLED, DRAFT_TOLD
from moonpad.values.finding import Code, Severity
from moonpad.values.plan import Layout
from moonpad.values.records import replace
from moonpad.values.versions import since

_OF_LAYOUT: Final = frozenset({Code.ILLEGAL_LAYOUT, Code.CONFLICT, Code.INVALID_VALUE})
"""Errors whose mending may change what the deployment is."""

_ASKS_FOR_EP: Final = frozenset({Code.UNKNOWN_FLAG, Code.CONFLICT, Code.MISSING_FLAG})

_OF_FAULTS: Final = frozenset({Code.KNOWN_REPORT, Code.LOGGED_FAILURE})

_OPEN: Final = frozenset({AS_LABELLED, DRAFT_TOLD})
"""What a command lacks that is judged all the same."""
_JOINED: Final = ("--data-parallel-backend", "-dpb", OWN_RANK, "-dpn", "--data-parallel-hybrid-lb", "--nnodes")
_LEFT_OUT: Final = re.compile(r"\[(?:\.{3}|…)\]")
"""The mark of an omission in a value, `'{"kv_connector": [...]`: such a command cannot be started."""


def with_corrected(judged: Judged, meant: Group, again: Callable[[Group], Judged | None]) -> Judged:
    """With the commands that mend it, and those better ones that the engine takes as they stand."""
    if any(passes_arguments_on(each) or takes_either(each) for each in meant.commands):
        judged = replace(judged, better=())  # what they add, or stand for, may be what it would change
    again = _asked_once(again)
    judged = with_kept_contexts(judged, meant)
    judged = _but_refused_options(_without_needless(_without_advice_alone(judged), meant, again), meant, again)
    judged = mended_alike(judged, meant)
    judged = but_into_others(judged, lambda each: again(replace(meant, commands=tuple(_mended_all(each, meant, None)))))
    mending = _with_corrected(judged, meant, again)

    def with_setting(better: Better | None) -> tuple[Judged | None, tuple[Command, ...]]:
        commands = tuple(_mended_all(judged, meant, better))
        return again(replace(meant, commands=commands)), commands

    without = with_setting(None)[0] if mending.better else None
    known = [remark.finding.message for each in (judged, without) if each is not None for remark in each.remarks]
    whole = [with_needed(better, judged, meant.commands, with_setting, known) for better in mending.better]
    mending = _with_more_in_remedies(mending, whole)
    usable = [better for better in whole if better is not None and _is_usable(better, judged, meant, again)]
    lines = [each.lines for each in usable]
    kept = tuple(each for at, each in enumerate(usable) if each.lines not in (judged.commands, *lines[:at]))
    return replace(mending, better=kept, remarks=tuple(_as_kept(mending, kept)))


def _with_more_in_remedies(judged: Judged, whole: Sequence[Better | None]) -> Judged:
    """With the options that a better setting needs beside it in the remedies that are that setting."""
    more: dict[str, str] = {}
    for plain, better in zip(judged.better, whole, strict=True):
        added = better.edits[0][len(plain.edits[0]) :] if better is not None and better.edits else ()
        if added and all(not edit.length for edit in added):
            words = " ".join(word for edit in added for word in edit.words)
            more |= {f"{before}{plain.why}": f"{before}{plain.why}, with {words}" for before in ("", "use ")}
    if not more:
        return judged
    findings = (
        replace(each.finding, remedy=more.get(each.finding.remedy, each.finding.remedy)) for each in judged.remarks
    )
    pairs = zip(judged.remarks, findings, strict=True)
    return replace(judged, remarks=tuple(replace(remark, finding=finding) for remark, finding in pairs))


def _asked_once(again: Callable[[Group], Judged | None]) -> Callable[[Group], Judged | None]:
    """The same, which judges no commands a second time: to judge a few takes longer than all else that is done here."""
    known: list[tuple[tuple[Command, ...], Judged | None]] = []

    def asked(group: Group) -> Judged | None:
        for commands, judged in known:
            if commands == group.commands:
                return judged
        known.append((group.commands, again(group)))
        return known[-1][1]

    return asked


def _as_kept(judged: Judged, kept: Sequence[Better]) -> Iterator[Remark]:
    """The note that the cache could hold more names a setting that is proposed, and is left out where none is."""
    gone = {better.why for better in judged.better} - {better.why for better in kept}
    for remark in judged.remarks:
        if remark.finding.code is not Code.SUBOPTIMAL or remark.finding.remedy not in gone:
            yield remark
        elif kept:
            yield replace(remark, finding=replace(remark.finding, remedy=kept[0].why))


def _without_advice_alone(judged: Judged) -> Judged:
    """Without what is only added beside a mending, where nothing is mended."""
    if any(remark.changes for remark in judged.remarks):
        return judged
    return replace(judged, remarks=tuple(replace(remark, others=()) for remark in judged.remarks))


def _without_needless(judged: Judged, meant: Group, again: Callable[[Group], Judged | None]) -> Judged:
    """Without what is added for an option that another edit takes out, and without later alternatives of remedies for
    what is mended without them."""
    gone = {
        (remark.command, edit.at)
        for remark in judged.remarks
        for edit in remark.edits
        if not edit.words and not remark.second_choice
    }
    remarks = tuple(
        _unedited(remark) if (remark.command, remark.at) in gone and _only_adds(remark, meant) else remark
        for remark in judged.remarks
    )
    judged = replace(judged, remarks=remarks)
    later = [remark for remark in remarks if remark.second_choice]
    if not later:
        return judged
    plain = replace(judged, remarks=tuple(_unedited(each) if each.second_choice else each for each in remarks))
    other = again(replace(meant, commands=tuple(_mended_all(plain, meant, None))))
    left = {remark.finding.message for remark in other.remarks} if other is not None else set()
    kept = (each if not each.second_choice or each.finding.message in left else _met(each) for each in remarks)
    return replace(judged, remarks=tuple(kept))


def _but_refused_options(judged: Judged, meant: Group, again: Callable[[Group], Judged | None]) -> Judged:
    """Without the options that take the place of variables which nothing reads, where the start with them is worse than
    the one without either: `VLLM_ATTENTION_BACKEND=FLASHINFER` for a model that this backend does not serve."""
    dead = [remark for remark in judged.remarks if remark.finding.code is Code.DEAD_ENV and remark.edits]
    if not dead:
        return judged
    plain = replace(judged, remarks=tuple(replace(each, edits=()) if each in dead else each for each in judged.remarks))
    other, without = (again(replace(meant, commands=tuple(_mended_all(each, meant, None)))) for each in (judged, plain))
    return plain if without is not None and _faults(other) > _faults(without) else judged


def _faults(judged: Judged | None) -> int:
    """How many of its findings keep a corrected command from being used."""
    return (
        1000
        if judged is None
        else judged.refused + sum(1 for _ in _errors(judged.remarks)) + sum(map(_spoils, judged.remarks))
    )


def _only_adds(remark: Remark, meant: Group) -> bool:
    behind = len(meant.commands[remark.command or 0].argv)
    return bool(remark.edits) and all(edit.at >= behind for edit in remark.edits)


def _unedited(remark: Remark) -> Remark:
    return replace(remark, edits=(), others=(), sets=(), unsets=())


def _met(remark: Remark) -> Remark:
    """Mended by what is done for others."""
    return replace(_unedited(remark), read_as_meant=True)


def _is_usable(better: Better, judged: Judged, meant: Group, again: Callable[[Group], Judged | None]) -> bool:
    """Whether its lines are taken, and start the same deployment."""
    other = again(replace(meant, commands=tuple(_mended_all(judged, meant, better))))
    if other is None or other.refused or other.layout is None or judged.layout is None:
        return False
    if other.settings == judged.settings and other.layout == judged.layout and judged.settings is not None:
        return False  # a file of options is read after the words
    mended = {remark.finding for remark in judged.remarks if remark.changes and _is_reported(remark)}
    known = {remark.finding.message for remark in judged.remarks}
    worse = any(remark.finding.message not in known for remark in _errors(other.remarks))
    if worse or any(_ends(remark) or remark.finding in mended for remark in other.remarks):
        return False  # with this setting it ends, or has a fault again that is mended here
    return replace(other.layout, dcp=judged.layout.dcp) == judged.layout or _may_change(judged)


def _is_reported(remark: Remark) -> bool:
    return remark.finding.code is Code.KNOWN_REPORT and remark.finding.severity is Severity.WARNING


def _with_corrected(judged: Judged, meant: Group, again: Callable[[Group], Judged | None]) -> Judged:
    """With the commands in which all that words can mend is mended; where the deployment does not fit, with the first
    of the better settings that do. `again` judges other commands in the place of these.

    There are none where they would start something else than was meant, or where what they would start is not known;
    and neither they nor better ones where an error would be left that no setting mends.
    """
    replaced = any(remark.program for remark in judged.remarks)
    doubted = any(remark.finding.code is Code.UNKNOWN_FLAG for remark in judged.remarks)
    embedded = not all(map(listens, meant.commands))
    own = any(is_of_own_options(judged.remarks_on(number), each) for number, each in enumerate(meant.commands))
    # Options to be added to a command are none, and what an option meant to a program that is gone is not known.
    sized = judged.engine in ENGINES and "tp" in ENGINES[judged.engine].command_line.options
    bare = sized and is_fragment(meant.commands[0]) and judged.layout == Layout()
    cut = any(
        each.more in (AS_LABELLED, DRAFT_TOLD) or any(_LEFT_OUT.search(word.text) for word in each.argv)
        for each in meant.commands
    )
    unfilled = any(remark.finding.remedy == FILL_IN for remark in judged.remarks) or any(
        map(takes_either, meant.commands)
    )
    if (
        judged.unknown
        or cut
        or unfilled
        or embedded
        or own
        or bare
        or _needs_its_pods(judged, meant.commands[0])
        or (replaced and doubted)
    ):
        return judged
    is_mended = any(remark.changes for remark in judged.remarks)
    if not is_mended and not any(_errors(judged.remarks)):
        return judged if judged.refused else replace(judged, corrected=_lines(judged, meant))
    commands = tuple(_mended_all(judged, meant, None))
    other = again(replace(meant, commands=commands))
    if other is None or not _is_meant(other, judged):
        return judged
    if _lacks_room(replace(other, sources=commands), replace(judged, sources=meant.commands)):
        return replace(judged, better=())
    left = tuple(_errors(other.remarks))
    if other.refused or any(map(_spoils, other.remarks)):
        return replace(judged, better=())
    files = tuple(_mended_files(judged.remarks).values())
    if not left:
        return replace(judged, corrected=_lines(judged, meant), corrected_files=files)
    if any(remark.finding.code is not Code.DOES_NOT_FIT for remark in left):
        return replace(judged, better=())  # which would hold the same error
    layout = other.layout
    for better in judged.better if other.fits is False else ():
        other = again(replace(meant, commands=tuple(_mended_all(judged, meant, better))))
        if (
            other is not None
            and other.fits
            and other.layout == layout
            and not other.refused
            and not any(_errors(other.remarks))
        ):
            lines = _lines(judged, meant, better)
            return replace(judged, corrected=lines, corrected_files=files, corrected_with=better.why)
    return judged


def _is_meant(other: Judged, judged: Judged) -> bool:
    """Whether the layout is the same, or the devices are, where an error or a fault that is known of the setting is a
    reason for another."""
    if other.layout == judged.layout or _may_change(judged):
        return True
    told = any(remark.changes and remark.finding.code in _OF_FAULTS for remark in judged.remarks)
    told = told or any(_spreads_experts(remark, judged) for remark in judged.remarks)
    sizes = [layout.world_size for layout in (other.layout, judged.layout) if layout is not None]
    return told and len(sizes) == 2 and sizes[0] == sizes[1]


def _lacks_room(other: Judged, judged: Judged) -> bool:
    """Whether what is mended has less room for the weights than what was meant: without ranks of prefill context
    parallelism, where it is not known that it fits on the others; or too little, by what is known of the model."""
    devices = [each.layout.world_size * each.prefill_ways for each in (other, judged) if each.layout is not None]
    ways_are_gone = other.prefill_ways < judged.prefill_ways
    if ways_are_gone and len(devices) == 2 and devices[0] < devices[1] and not other.fits:
        return True
    short = [[remark for remark in each.remarks if _is_short(remark)] for each in (other, judged)]
    return bool(short[0]) and not short[1]


def _is_short(remark: Remark) -> bool:
    return remark.finding.code is Code.DOES_NOT_FIT and remark.finding.severity is Severity.WARNING


def _spreads_experts(remark: Remark, judged: Judged) -> bool:
    """Whether it writes the engine's switch for a size of expert parallelism that the engine has no option for, or the
    switch that another setting asks for: over the same devices."""
    switch = ENGINES[judged.engine].command_line.options.get("ep") if judged.engine in ENGINES else None
    return remark.finding.code in _ASKS_FOR_EP and any(edit.words == (switch,) for edit in remark.edits)


def _needs_its_pods(judged: Judged, command: Command) -> bool:
    """Whether the line alone lacks what its controller or runner adds: what joins its ranks over machines, or the
    weights for which it has a name."""
    if command.by_alias or (command.made and command.pods > 1):
        return True
    nodes = ENGINES[judged.engine].command_line.nodes if judged.engine in ENGINES else None
    if command.pods < 2 or nodes is None or judged.layout is None or not since(judged.version, nodes.native_since):
        return False
    layout = judged.layout
    if layout.dp > 1 and all(value_of(command.argv, names) is None for names in (ADDRESS, _JOINED)):
        local = value_of(command.argv, (RANKS_HERE, "-dpl"))
        return local is None or (whole_number(local.text) or layout.dp) < layout.dp
    return value_of(command.argv, ("--nnodes", nodes.executor)) is None and layout.tp * layout.pp > 1


def _lines(judged: Judged, meant: Group, better: Better | None = None) -> tuple[Line, ...]:
    edits = better.edits if better else ((),) * len(meant.commands)
    numbered = enumerate(zip(meant.commands, edits, strict=True))
    return tuple(mended_line(command, judged.remarks_on(number), more) for number, (command, more) in numbered)


def _mended_all(judged: Judged, meant: Group, better: Better | None) -> Iterator[Command]:
    edits = better.edits if better else ((),) * len(meant.commands)
    for number, (command, more) in enumerate(zip(meant.commands, edits, strict=True)):
        yield mended_command(command, judged.remarks_on(number), more)


def _mended_files(remarks: Sequence[Remark]) -> dict[str, HereFile]:
    edits = [remark.file_edit for remark in remarks if remark.file_edit]
    return {edit.file.path: edited(edit.file, edits) for edit in edits}


def _spoils(remark: Remark) -> bool:
    """Whether what is started with it ends, answers wrongly, or does what the text complains of."""
    return _ends(remark) or remark.complained


def _ends(remark: Remark) -> bool:
    return (remark.ends_start and not remark.read_as_meant) or remark.stops


def _errors(remarks: Sequence[Remark]) -> Iterator[Remark]:
    """Words that nothing takes are errors too, in a document as well, and so is what ends the start of the release
    that a command without one is judged by: what is corrected is typed into a shell."""
    for remark in remarks:
        finding = remark.finding
        is_error = finding.severity is Severity.ERROR or remark.ends_start or NO_SUCH in finding.message
        if is_error and not remark.read_as_meant:
            yield remark


def _may_change(judged: Judged) -> bool:
    """Whether an error, or a program that is gone, is a reason for another layout."""
    return any(
        remark.program or (remark.changes and remark.finding.code in _OF_LAYOUT and remark in tuple(_errors([remark])))
        for remark in judged.remarks
    )


def mended_command(command: Command, remarks: Sequence[Remark], more: Sequence[Edit]) -> Command:
    """The command with the edits of all remarks in it, and more, which go first."""
    words = {word.text: word for word in command.argv}
    texts = mended(
        [word.text for word in command.argv], [*more, *(edit for remark in remarks for edit in remark.edits)]
    )
    argv = tuple(words.get(text) or Word(text, command.line, end_line=command.line) for text in texts)
    dropped = frozenset().union(*(remark.dropped for remark in remarks))
    env = {name: value for name, value in command.env.items() if name not in dropped}
    env |= {name: _set(name, value, command) for remark in remarks for name, value in remark.sets}
    program = next((remark.program for remark in remarks if remark.program), ())
    command = replace(command, files={**command.files, **_mended_files(remarks)})
    if not program:
        return replace(command, argv=argv, env=env)
    own = tuple(Word(text, command.line, end_line=command.line) for text in program)
    identified = identify((*own, *argv))
    name, count = identified or (command.program, len(own))
    all_words = (*own, *argv)
    return replace(command, program=name, prefix=all_words[:count], argv=all_words[count:], env=env, wrappers=())


def _set(name: str, value: str, command: Command) -> Word:
    return Word(f"{name}={value}", command.line, end_line=command.line)
