"""Judges the deployments of a script: every flag, the layout, the memory, and what would be better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.options import newest
from moonpad.engines import ENGINES
from moonpad.engines.argv import parse
from moonpad.engines.base import Reading
from moonpad.engines.grammar import Grammar
from moonpad.explain.better import Improvement, Subject, improvements
from moonpad.explain.commands import Command, Script
from moonpad.explain.fitting import memory_remarks
from moonpad.explain.flags import env_remarks, flag_remarks
from moonpad.explain.fragments import as_command
from moonpad.explain.grouping import Group, group
from moonpad.explain.judged import Better, Edit, Judged, Line, Remark, mended
from moonpad.explain.layouts import layout_remarks
from moonpad.explain.nodes import node_remarks
from moonpad.explain.rulebooks import CLIENTS, file_remarks, gone, program_of, rulebook
from moonpad.explain.security import serving_remarks, wrapper_remarks
from moonpad.explain.served import parser_remarks
from moonpad.explain.spelling import flag_of, put
from moonpad.explain.subject import Question, Version, cluster_of, engine_of, model_of, version_of
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.memory import Memory


def judge(script: Script, question: Question, calibrations: Sequence[Calibration] = ()) -> tuple[Judged, ...]:
    """One judgement for each deployment and each client command, in the order of the script.

    Raises:
        UsageError: the version that was asked for is none.
    """
    commands = tuple(as_command(command, script) for command in script.commands)
    found = (_judge(one, script, question, tuple(calibrations)) for one in group(commands))
    return tuple(judged for judged in found if judged is not None)


def _judge(one: Group, script: Script, question: Question, calibrations: tuple[Calibration, ...]) -> Judged | None:
    engine = engine_of(one.commands[0])
    if engine is not None:
        return _Server(one, script, question, calibrations, engine).judged()
    return _client(one, script, question)


def _client(one: Group, script: Script, question: Question) -> Judged | None:
    """Commands that serve no model: a benchmark, a router, a container in which nothing known is started."""
    remarks: list[Remark] = []
    known = False
    version = Version("", "")
    engine = ""
    for number, command in enumerate(one.commands):
        remarks += wrapper_remarks(number, command)
        if (of := CLIENTS.get(command.program)) is None:
            continue
        known, engine = True, of
        version = version_of(of, script, question)
        remarks += gone(number, command, version)
        book = rulebook(command.program, version)
        if book is not None:
            words = [word.text for word in command.argv]
            remarks += flag_remarks(number, words, parse(words, Grammar(book.options)), book)
            remarks += env_remarks(number, tuple(command.env), book)
    if not known and not remarks:
        return None
    lines = tuple(_line(command, ()) for command in one.commands)
    return Judged(
        engine=engine or one.commands[0].program,
        version=version.text,
        version_because=version.because,
        sources=one.commands,
        commands=lines,
        remarks=tuple(remarks),
        corrected=_corrected(one.commands, remarks),
        kind=one.kind,
    )


@dataclass(frozen=True, slots=True)
class _Server:
    group: Group
    script: Script
    question: Question
    calibrations: tuple[Calibration, ...]
    engine: str

    def judged(self) -> Judged:
        commands = self.group.commands
        version = version_of(self.engine, self.script, self.question)
        readings = [self._read(command, version) for command in commands]
        first = readings[0]
        checkpoint, model_remarks = self._checkpoint(first)
        local = first.node.data_parallel_local
        cluster, because = cluster_of(
            self.engine,
            first.layout,
            local * first.layout.tp if local else None,
            self.script,
            commands,
            self.question,
        )
        remarks = [*model_remarks, *self._flags(version, readings, checkpoint)]
        lengths = [len(command.argv) for command in commands]
        remarks += node_remarks(self.engine, version.text, cluster, readings, lengths)
        memory: Memory | None = None
        found: tuple[Improvement, ...] = ()
        if cluster is None:
            remarks.append(_note("--on", f"the memory is not judged: {because}", "say the devices: --on 8xH200"))
        elif checkpoint is not None:
            context = first.settings.max_model_len or checkpoint.architecture.max_context
            subject = Subject(
                checkpoint,
                cluster,
                self.engine,
                version.text,
                first.layout,
                first.settings,
                min(context, 2**31),
                self.calibrations,
            )
            remarks += layout_remarks(subject, first)
            if cluster.devices >= first.layout.world_size:
                memory = subject.memory()
                found = improvements(subject, memory)
                remarks += memory_remarks(subject, memory, found, first)
        remarks = _without_twins(remarks)
        return Judged(
            engine=self.engine,
            version=version.text or newest(ENGINES[self.engine].program),
            version_because=version.because,
            sources=commands,
            commands=tuple(_line(command, ()) for command in commands),
            remarks=tuple(remarks),
            corrected=_corrected(commands, remarks),
            kind=self.group.kind,
            layout=first.layout,
            settings=first.settings,
            checkpoint=checkpoint,
            cluster=cluster,
            cluster_because=because,
            memory=memory,
            better=tuple(self._better(one, commands, readings, remarks) for one in found),
        )

    def _read(self, command: Command, version: Version) -> Reading:
        words = [word.text for word in command.argv]
        env = {name: _value(word.text, name) for name, word in command.env.items()}
        files = {path: file.text for path, file in self.script.files.items()}
        return ENGINES[self.engine].read(words, env, files=files, version=version.text or None)

    def _checkpoint(self, first: Reading) -> tuple[Checkpoint | None, list[Remark]]:
        if self.question.checkpoint is not None:
            return self.question.checkpoint, []
        model, because = model_of(first.model, self.group.commands, self.script)
        if model is None:
            return None, [_note("--model", f"the memory is not judged: {because}", "say it: --model MODEL")]
        try:
            return catalog_checkpoint(model), []
        except PreflightRefused as refused:
            return None, [_note("--model", refused.message, refused.remedy)]

    def _flags(self, version: Version, readings: Sequence[Reading], checkpoint: Checkpoint | None) -> Iterator[Remark]:
        name = checkpoint.name if checkpoint else readings[0].model
        for number, (command, reading) in enumerate(zip(self.group.commands, readings, strict=True)):
            words = [word.text for word in command.argv]
            program = program_of(command, self.engine)
            yield from gone(number, command, version)
            yield from file_remarks(reading, self.script, program, version)
            book = rulebook(program, version, checkpoint)
            if book is not None and reading.parsed is not None:
                yield from flag_remarks(number, words, reading.parsed, book)
                yield from env_remarks(number, tuple(command.env), book)
            yield from serving_remarks(number, command, reading, self.engine)
            yield from wrapper_remarks(number, command)
            yield from parser_remarks(number, len(words), reading, self.engine, program, version.text, name)

    def _better(
        self, found: Improvement, commands: Sequence[Command], readings: Sequence[Reading], remarks: Sequence[Remark]
    ) -> Better:
        lines = []
        for number, (command, reading) in enumerate(zip(commands, readings, strict=True)):
            edits = [
                put(reading.parsed, len(command.argv), flag, value)
                for name, value in found.changes
                if reading.parsed is not None and (flag := flag_of(self.engine, name)) is not None
            ]
            lines.append(_line(command, [*edits, *_edits(remarks, number)], _dropped(remarks, number)))
        return Better(found.why, tuple(lines), found.memory)


def _corrected(commands: Sequence[Command], remarks: Sequence[Remark]) -> tuple[Line, ...]:
    return tuple(
        _line(command, _edits(remarks, number), _dropped(remarks, number)) for number, command in enumerate(commands)
    )


def _edits(remarks: Sequence[Remark], number: int) -> list[Edit]:
    return [edit for remark in remarks if remark.command == number for edit in remark.edits]


def _dropped(remarks: Sequence[Remark], number: int) -> frozenset[str]:
    return frozenset(
        remark.variable
        for remark in remarks
        if remark.command == number and remark.drop_variable and remark.variable is not None
    )


def _line(command: Command, edits: Sequence[Edit], without: frozenset[str] = frozenset()) -> Line:
    words = mended([word.text for word in command.argv], edits)
    env = {name: _value(word.text, name) for name, word in command.env.items() if name not in without}
    return Line(env, (*_head(command), *words))


def _head(command: Command) -> tuple[str, ...]:
    """The words that name the program, without what was wrapped around it."""
    if command.program == "sglang-pdlb":
        return ("sglang-router", "launch", "--pd-disaggregation")  # what took its place (catalog: sglang-launch-lb)
    inside = sum(len(wrapper.words) for wrapper in command.wrappers)
    return tuple(word.text for word in command.prefix[inside:]) or tuple(command.program.split())


def _value(text: str, name: str) -> str:
    return text.removeprefix(f"{name}=")


def _note(where: str, message: str, remedy: str) -> Remark:
    return Remark(Finding(Severity.NOTE, Code.MISSING_FLAG, where, message, remedy))


def _without_twins(remarks: Sequence[Remark]) -> list[Remark]:
    """The same finding of two pieces of one deployment stays at each; the same at one place stays once."""
    return list({(one.finding, one.command, one.at): one for one in remarks}.values())
