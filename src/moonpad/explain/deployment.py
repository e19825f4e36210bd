"""Judges the commands that together serve one model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.options import newest, unknown_version
from moonpad.engines import ENGINES
from moonpad.engines.base import Reading
from moonpad.engines.value_checks import unresolved
from moonpad.explain.argv_edits import flag_of, occurrence, put
from moonpad.explain.command_lines import mended_line, program_words
from moonpad.explain.commands import Command, Script
from moonpad.explain.devices import NOBODY_SAYS, Wanted, cluster_of
from moonpad.explain.flag_lists import borrowed, is_fragment
from moonpad.explain.flags import env_remarks, flag_remarks
from moonpad.explain.grouping import Group
from moonpad.explain.judgement_remarks import judgement_remarks
from moonpad.explain.node_checks import node_remarks
from moonpad.explain.option_sources import file_remarks, program_of, rulebook
from moonpad.explain.programs import program_named
from moonpad.explain.removed_programs import removed_program_remarks
from moonpad.explain.results import Better, Edit, Judged, Remark
from moonpad.explain.security import serving_remarks, wrapper_remarks
from moonpad.explain.serving_flags import parser_remarks
from moonpad.explain.suggestions import Improvement, Subject, improvements
from moonpad.explain.target_detection import Question, Version, is_other_model, model_of, version_of
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration, EngineFacts
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout

_COUNTED: Final = ("tp", "pp", "dp", "ep", "dcp", "gpu_memory_utilization", "kv_free_fraction", "kv_cache_dtype")
"""Nothing can be said of the memory while one of these is a placeholder."""


@dataclass(frozen=True, slots=True)
class Deployment:
    group: Group
    script: Script
    question: Question
    calibrations: tuple[Calibration, ...]
    engine: str
    remarks: tuple[Remark, ...]
    """What was found before anything was read."""

    def judged(self) -> Judged:
        commands = self.group.commands
        version = version_of(self.engine, self.script, self.question)
        readings = [self._read(command, version) for command in commands]
        checkpoint, unjudged = self._checkpoint(readings[0])
        cluster, because = self._cluster(readings)
        fragment = tuple(self._fragment(readings[0], cluster, checkpoint))
        first = readings[0] = self._whole(readings[0], cluster)
        remarks = [*self.remarks, *fragment, *self._flags(version, readings, checkpoint)]
        remarks += node_remarks(ENGINES[self.engine].command_line, version.text, cluster, readings, commands)
        memory: Memory | None = None
        suggestions: tuple[Improvement, ...] = ()
        if checkpoint is not None and cluster is not None:
            unjudged = first.left_to_engine or _placeholder(first, self.engine)
            if not unjudged:
                subject = self._subject(checkpoint, cluster, version, first)
                judgement = subject.judgement()
                memory = judgement.memory
                unjudged = judgement.unjudged
                suggestions = improvements(subject, memory) if memory else ()
                remarks += judgement_remarks(subject, judgement, suggestions, first)
        elif cluster is None and not unjudged:
            unjudged = f"{because}: say them with --on 8xH200" if because == NOBODY_SAYS else because
        remarks = _without_twins(remarks)
        return Judged(
            engine=self.engine,
            version=version.text or newest(ENGINES[self.engine].program),
            version_because=version.because,
            sources=commands,
            commands=(),
            remarks=tuple(remarks),
            corrected=tuple(mended_line(command, _of(remarks, number)) for number, command in enumerate(commands)),
            kind=self.group.kind,
            layout=first.layout,
            settings=first.settings,
            checkpoint=checkpoint,
            cluster=cluster,
            cluster_because=because,
            memory=memory,
            unjudged=unjudged,
            better=tuple(self._better(suggestion, readings, remarks) for suggestion in suggestions),
        )

    def _read(self, command: Command, version: Version) -> Reading:
        words = [word.text for word in command.argv]
        env = {name: word.text.removeprefix(f"{name}=") for name, word in command.env.items()}
        files = {path: file.text for path, file in self.script.files.items()}
        head = list(program_words(command)) if ENGINES[self.engine].command_line.told_by_program else []
        reading = ENGINES[self.engine].read([*head, *words], env, files=files, version=version.text or None)
        hosts = next((len(wrapper.hosts) for wrapper in command.wrappers if wrapper.hosts), None)
        if hosts is not None and reading.node.nodes is None:
            reading = replace(reading, node=replace(reading.node, nodes=hosts))
        return _moved(reading, len(head))

    def _checkpoint(self, first: Reading) -> tuple[Checkpoint | None, str]:
        """The checkpoint; where there is none, why."""
        if self.question.checkpoint is not None:
            return self.question.checkpoint, ""
        program = program_named(self.group.commands[0].program)
        if program is not None and program.unnamed_weights:
            return None, f"{program.unnamed_weights}: say it with --model MODEL"
        model, because = model_of(first.model, first.served_name, self.group.commands, self.script)
        if model is None:
            return None, f"{because}: say it with --model MODEL"
        try:
            return catalog_checkpoint(model), ""
        except PreflightRefused as refused:
            return None, refused.message

    def _cluster(self, readings: Sequence[Reading]) -> tuple[Cluster | None, str]:
        first = readings[0]
        program = program_named(self.group.commands[0].program)
        if program is not None and program.unnamed_weights and self.question.cluster is None:
            return None, NOBODY_SAYS
        local = first.node.data_parallel_local
        wanted = Wanted(
            first.layout.world_size * first.replicas,
            local * first.layout.tp * first.layout.pp if local else None,
            first.node.nodes,
        )
        return cluster_of(self.engine, wanted, self.script, self.group.commands, self.question)

    def _fragment(self, first: Reading, cluster: Cluster | None, checkpoint: Checkpoint | None) -> Iterator[Remark]:
        """What a list of flags leaves to be guessed, with what makes a command of it."""
        command = self.group.commands[0]
        if not is_fragment(command) or first.parsed is None:
            return
        end = len(command.argv)
        if not first.model and checkpoint is not None:
            option = ENGINES[self.engine].command_line.model
            words = (option, checkpoint.name) if option else (checkpoint.name,)
            yield _note("MODEL", f"taken to be {checkpoint.name}", "name it", Edit(0, 0, words))
        flag = flag_of(self.engine, "tp")
        if flag is None:
            return
        if taken := borrowed(command):
            message = f"nothing is said of the layout: taken to be that of {self.script.where(taken[0].line)}"
            yield _note(flag, message, f"add {' '.join(word.text for word in taken)}")
        elif (whole := self._whole(first, cluster)) is not first:
            size = str(whole.layout.tp)
            message = f"nothing is said of the layout: taken to be all {size} devices"
            yield _note(flag, message, f"add {flag} {size}", Edit(end, 0, (flag, size)))

    def _whole(self, first: Reading, cluster: Cluster | None) -> Reading:
        """A list of flags that says nothing of the layout, here or above, is for all devices that there are."""
        command = self.group.commands[0]
        if not ENGINES[self.engine].facts.tensor_parallel and cluster is not None and first.layout == Layout():
            return replace(first, layout=Layout(pp=cluster.devices))  # it deals its layers out over all that it sees
        alone = first.layout == Layout() and first.replicas == 1 and first.parsed is not None
        if not alone or not is_fragment(command) or cluster is None or cluster.devices == 1:
            return first
        if flag_of(self.engine, "tp") is None or occurrence_of_layout(first, self.engine):
            return first
        return replace(first, layout=Layout(tp=cluster.devices))

    def _subject(self, checkpoint: Checkpoint, cluster: Cluster, version: Version, first: Reading) -> Subject:
        facts = ENGINES[self.engine].facts
        cluster = _share(cluster, first.replicas)
        configuration = Configuration(checkpoint, cluster, facts, version.text, first.layout, first.settings)
        return Subject(configuration, _context(first, facts, checkpoint), self.calibrations)

    def _flags(self, version: Version, readings: Sequence[Reading], checkpoint: Checkpoint | None) -> Iterator[Remark]:
        name = checkpoint.name if checkpoint else readings[0].model
        for number, (command, reading) in enumerate(zip(self.group.commands, readings, strict=True)):
            words = [word.text for word in command.argv]
            program = program_of(command, self.engine)
            yield from removed_program_remarks(number, command, version, reading.parsed)
            yield from file_remarks(number, reading, self.script, program, version)
            if number == 0 and (note := unknown_version(program, ENGINES[self.engine].name, version.text)):
                yield Remark(note)
            book = rulebook(program, version, checkpoint, command)
            if book is not None and reading.parsed is not None:
                yield from flag_remarks(number, words, reading.parsed, book)
                yield from env_remarks(number, tuple(command.env), book)
            yield from serving_remarks(number, command, reading, ENGINES[self.engine].command_line)
            yield from wrapper_remarks(number, command)
            if checkpoint is not None or not is_other_model(name):
                engine = ENGINES[self.engine]
                yield from parser_remarks(number, len(words), reading, engine, version.text, name)

    def _better(self, found: Improvement, readings: Sequence[Reading], remarks: Sequence[Remark]) -> Better:
        lines = []
        for number, (command, reading) in enumerate(zip(self.group.commands, readings, strict=True)):
            edits = [
                put(reading.parsed, len(command.argv), flag, value)
                for name, value in found.changes
                if reading.parsed is not None and (flag := flag_of(self.engine, name)) is not None
            ]
            lines.append(mended_line(command, _of(remarks, number), edits))
        return Better(found.why, tuple(lines), found.memory)


def occurrence_of_layout(reading: Reading, engine: str) -> bool:
    """Whether the command line says something of the layout."""
    parsed = reading.parsed
    names = ("tp", "pp", "dp", "ep", "dcp")
    return parsed is not None and any(occurrence(parsed, flag_of(engine, name)) is not None for name in names)


def _moved(reading: Reading, words: int) -> Reading:
    """With the places counted from behind the program's own words."""
    if not words or reading.parsed is None:
        return reading
    parsed = replace(
        reading.parsed,
        occurrences=tuple(replace(one, index=one.index - words) for one in reading.parsed.occurrences),
        positionals=tuple((at - words, text) for at, text in reading.parsed.positionals),
    )
    return replace(reading, parsed=parsed)


def _share(cluster: Cluster, replicas: int) -> Cluster:
    """What one of several whole copies of the layout has of the devices."""
    if replicas > 1 and cluster.nodes % replicas == 0:
        return replace(cluster, nodes=cluster.nodes // replicas)
    if replicas > 1 and cluster.nodes == 1 and cluster.per_node % replicas == 0:
        return replace(cluster, per_node=cluster.per_node // replicas)
    return cluster


def _context(reading: Reading, engine: EngineFacts, checkpoint: Checkpoint) -> int | None:
    """The tokens that have to find room, None where the engine takes what there is."""
    if reading.settings.max_model_len is not None:
        return min(reading.settings.max_model_len, 2**31)
    parsed = reading.parsed
    said = parsed is not None and occurrence(parsed, flag_of(engine.name, "max_model_len")) is not None
    # `auto`, -1, or a variable.
    return None if said or not engine.needs_whole_context else checkpoint.architecture.max_context


def _placeholder(first: Reading, engine: str) -> str:
    """Which size nobody knows, so that nothing can be said of layout and memory; "" where all are known."""
    for name in _COUNTED:
        flag = flag_of(engine, name)
        one = occurrence(first.parsed, flag) if first.parsed is not None else None
        if one is not None and isinstance(one.value, str) and unresolved(one.value):
            return f"{flag} {one.value} is not known here"
    return ""


def _of(remarks: Sequence[Remark], number: int) -> list[Remark]:
    return [remark for remark in remarks if remark.command == number]


def _note(where: str, message: str, remedy: str, edit: Edit | None = None) -> Remark:
    finding = Finding(Severity.NOTE, Code.MISSING_FLAG, where, message, remedy)
    return Remark(finding, 0, edits=(edit,) if edit is not None else ())


def _without_twins(remarks: Sequence[Remark]) -> list[Remark]:
    """The same finding of two pieces of one deployment stays at each; the same at one place stays once.

    A value that the parser refuses is refused by a rule too: the parser's word is enough.
    """
    kept: dict[object, Remark] = {}
    for one in remarks:
        value = one.finding.code is Code.INVALID_VALUE and one.at is not None
        kept.setdefault((Code.INVALID_VALUE if value else one.finding, one.command, one.at), one)
    return list(kept.values())
