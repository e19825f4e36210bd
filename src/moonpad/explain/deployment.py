"""Judges the commands that together serve one model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.options import newest, unknown_version
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.base import Engine, Reading
from moonpad.engines.foreign_names import FORKS
from moonpad.engines.host_expert_names import OLD_PROGRAMS
from moonpad.engines.value_checks import unresolved
from moonpad.explain.accepted_options import but_accepted, but_added, but_of_other_server
from moonpad.explain.best_remedies import best_remedy
from moonpad.explain.builds import is_of_its_fork, of_fork, of_its_build, of_unnumbered_image, other_build
from moonpad.explain.change_edits import stated_edit
from moonpad.explain.checks.certainty import as_certain
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_checks import command_checks, no_layout
from moonpad.explain.checks.dynamo.dynamo_workers import but_own, is_worker, worker_remarks
from moonpad.explain.checks.memory.host_expert_rules import but_with_amx
from moonpad.explain.checks.memory.memory_certainty import as_started, as_sure, beside_memory
from moonpad.explain.checks.memory.offload_checks import offload_ignored
from moonpad.explain.checks.memory.spoken_ram import as_spoken
from moonpad.explain.checks.models.other_families import as_published, doubtful_weights
from moonpad.explain.checks.models.own_parsers import with_own_parser
from moonpad.explain.checks.models.serving_flags import parser_remarks
from moonpad.explain.checks.nodes.node_checks import node_remarks, starts_ray, takes_ray_itself
from moonpad.explain.checks.options.security import serving_remarks, wrapper_remarks
from moonpad.explain.checks.options.stray_words import stray_remarks
from moonpad.explain.checks.releases.config_keys import config_remarks
from moonpad.explain.chosen_kernels import but_chosen
from moonpad.explain.commands import Command, HereFile, Script
from moonpad.explain.config_files import files_of
from moonpad.explain.corrected import mended_command
from moonpad.explain.device_detection import cluster_of, leaves_number_open
from moonpad.explain.documents.device_nearness import is_granted
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.other_devices import also_meant
from moonpad.explain.documents.said_to_start import is_said_to_start
from moonpad.explain.documents.servers_side_by_side import is_idle, runs_side_by_side
from moonpad.explain.documents.spoken_settings import as_spoken_of
from moonpad.explain.flag_lists import LAYOUT, is_fragment, is_piece
from moonpad.explain.flags import env_remarks, file_remarks, flag_remarks
from moonpad.explain.grouping import Group
from moonpad.explain.guessed_layouts import guess, guesses, open_ranks, whole_layout
from moonpad.explain.left_blank import but_left_blank
from moonpad.explain.longer_contexts import but_held, but_longer
from moonpad.explain.manifests.option_sources import program_of, rulebook
from moonpad.explain.measured_in_text import with_those_of_text
from moonpad.explain.model_detection import as_spoken_name, folder_of, is_variable, model_of, says_nothing
from moonpad.explain.model_images import first_to_serve
from moonpad.explain.named_elsewhere import named_elsewhere
from moonpad.explain.online_formats import checkpoint_as_loaded
from moonpad.explain.open_arguments import but_of_others
from moonpad.explain.own_flags import in_own_flags
from moonpad.explain.parser_takes import is_refused
from moonpad.explain.partial_loads import encoder_alone, part_of_machines
from moonpad.explain.patched_builds import of_patched
from moonpad.explain.programs import listens, program_named
from moonpad.explain.proposed_devices import of_unknown_number, with_example
from moonpad.explain.readings import read_command
from moonpad.explain.remedy_edits import Started, with_remedy
from moonpad.explain.removed_programs import removed_program_remarks
from moonpad.explain.repeated_remarks import without_twins
from moonpad.explain.results import Edit, Judged, Remark
from moonpad.explain.seen_devices import seen_alone
from moonpad.explain.shares_beside import share_left
from moonpad.explain.shell.shell_slips import cut_off
from moonpad.explain.sound_suggestions import barred_settings, better_of, edits_of, sound_improvements
from moonpad.explain.spoiling import ends_it
from moonpad.explain.stage_layouts import but_refused_stages
from moonpad.explain.started_ranks import ranks_of
from moonpad.explain.suggestions import HIGH_FRACTION, Changes, Improvement, Subject
from moonpad.explain.taken_options import but_run, but_taken
from moonpad.explain.target_detection import OF_COMMIT, Question, Version, version_of
from moonpad.explain.unknowns import CONTEXT, STEP, may_be_cut, missing_pieces, sentence
from moonpad.explain.usual_machines import on_usual_machines
from moonpad.explain.young_models import but_young
from moonpad.plan.judgement import Judgement, judge
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import OF_MEMORY, Code, Finding, Severity
from moonpad.values.memory import Memory
from moonpad.values.records import replace

_OVER_RAY: Final = re.compile(
    r"\b(?:over|with|by|on|via|through) (?:a )?ray\b|\bray first\b|RayCluster|RayService|KubeRay", re.IGNORECASE
)
_OF_ASCEND: Final = frozenset({"w8a8", "w4a8"})

MUCH_ROOMIER: Final = 1.9
"""A suggestion that holds so many times the KV cache is worth a finding: half the bytes a token give hardly less."""


class Deployment(Struct, frozen=True):
    group: Group
    script: Script
    question: Question
    calibrations: tuple[Calibration, ...]
    engine: Engine
    repairs: tuple[Remark, ...]
    """What was found before anything was read."""
    suggest: bool = True
    """Whether better settings are looked for."""
    again: bool = False
    """Whether it is a correction of what was judged, of which only the verdict is asked."""

    def judged(self) -> Judged:
        commands = self.group.commands
        version = version_of(self.engine.name, self.script, self.question, commands[0])
        readings = self.readings(version)
        line = self.engine.command_line
        pieces = missing_pieces(commands[0], readings[0], line, self._files(commands[0]), self.question.settings)
        missing = tuple(piece for piece in pieces if piece.keys)
        named = self.question.model if says_nothing(readings[0].model) else ""
        if named := named or named_elsewhere(readings[0], self.script, commands[0].line):
            readings = [replace(reading, model=named) for reading in readings]
        unknown = frozenset().union(*(piece.keys for piece in missing))
        checkpoint, unjudged, taken_for = self._checkpoint(readings[0])
        cluster, because = self._cluster(readings[0], checkpoint, layout_known=not unknown & {*LAYOUT})
        part = part_of_machines(commands[0], readings[0], cluster)
        if cluster is not None and self._is_guess(readings[0], checkpoint, cluster):
            because, cluster = of_unknown_number(cluster), None
        seen = seen_alone(cluster, commands, readings[0], self.script) if cluster is not None else None
        if seen is not None and self.question.cluster is None:
            cluster, because = seen[0], f"{because}, {seen[1]}"
        first = whole_layout(readings[0], cluster, commands[0], line)
        remarks = [*self.repairs, *guesses(readings[0], first, checkpoint, commands[0], line, self.script)]
        if note := unknown_version(program_of(commands[0], self.engine), self.engine.name, version.text):
            remarks.append(Remark(note, None))
        readings[0] = first
        for number, (command, reading) in enumerate(zip(commands, readings, strict=True)):
            about_it = self._command_remarks(command, reading, version, checkpoint)
            if open_ended := any(piece.more_options for piece in pieces):
                about_it = (each for each in about_it if each.placed and not may_be_cut(each, command))
            remarks += (replace(remark, command=number) for remark in about_it)
        self.script.budget.work(2 * sum(len(command.comments) for command in commands), "its comments")
        if not is_fragment(commands[0]):  # of flags alone the others may stand elsewhere
            ray = is_in_lines(_OVER_RAY, self.script.lines, 500)
            remarks += node_remarks(line, version.text, cluster, readings, commands, self.script, speaks_of_ray=ray)
        asked, engine = self.question.cluster is not None, self.engine
        whole = None if unknown or not checkpoint or not cluster else self._subject(checkpoint, cluster, version, first)
        case = Case(commands, readings, engine, version.text, checkpoint, cluster, self.script, unknown, asked)
        case = replace(case, open_ended=open_ended, subject=whole, again=self.again, taken_for=taken_for)
        case = replace(case, earliest=version.earliest)
        checks = of_patched(but_of_other_server(command_checks(case), commands[0]), commands[0], self.script)
        checked = tuple(of_unnumbered_image(checks, commands[0]))
        remarks += checked
        if case.serves_already:
            remarks = [each for each in remarks if not each.ends_start or each.finding.code is Code.KNOWN_REPORT]
        memory: Memory | None = None
        suggestions: tuple[Improvement, ...] = ()
        if cut := cut_off(checked):
            unjudged, unknown = cut, unknown | {*LAYOUT}
        elif unknown - {CONTEXT, *STEP}:
            unjudged = sentence(missing, line, commands[0], self.script)
        elif checkpoint is not None and cluster is not None:
            unjudged = first.left_to_engine
            if not unjudged:
                beside = no_layout(checked) or part or encoder_alone(first)
                subject = self._subject(checkpoint, cluster, version, first)
                if offload_ignored(case):
                    subject = subject.with_settings(cpu_offload_gib=None)
                judgement = judge(subject.configuration, context=subject.context, calibrations=subject.calibrations)
                if unknown & STEP and judgement.memory is not None and judgement.memory.fits:
                    beside = beside or sentence(missing, line, commands[0], self.script)
                if beside:
                    judgement = replace(judgement, memory=None, unjudged=beside, findings=beside_memory(judgement))
                starts = partial(is_said_to_start, self.script, commands, judgement.memory)
                judgement = as_started(judgement, self.engine.facts, commands[0].held_tokens, starts)
                memory, unjudged = judgement.memory, judgement.unjudged
                if memory is not None and self.suggest and not version.because.startswith(OF_COMMIT):
                    known = {remark.finding.message for remark in remarks}
                    judged_with = partial(self._judged_with, readings)
                    subject, found = sound_improvements(subject, memory, line.options, judged_with, known)
                    suggestions = as_spoken_of(found, self.script, subject.configuration)
                begun = Started(commands, readings, self.engine, version.text, cluster)
                if self.suggest:
                    staged = partial(self._judged_with, readings)
                    told = {remark.finding.message for remark in remarks}
                    findings = (but_refused_stages(each, first.layout, staged, told) for each in judgement.findings)
                    judgement = replace(judgement, findings=tuple(findings))
                of_memory = self._judgement_remarks(subject, judgement, suggestions, first, checked)
                remarks += (with_remedy(remark, begun) for remark in of_memory)
                if missing and unjudged != (lacking := sentence(missing, line, commands[0], self.script)):
                    remarks.append(guess(missing[0].what, lacking, at=missing[0].place))
        elif cluster is None and not unjudged:
            machines = first.node.nodes or commands[0].machines
            unjudged = with_example(because, ranks_of(first), engine, machines, checkpoint, commands)
            on = partial(self._subject, version=version, first=first)
            lines, before = self.script.lines, tuple(remarks)
            remarks += on_usual_machines(because, lines, engine, first, machines, checkpoint, on, before)
        judged = Judged(
            self.engine.name,
            version.text or newest(self.engine.program),
            version.because,
            tuple(without_twins(but_of_others(but_added(remarks, self.script), commands[0], unjudged))),
            version_behind=version.behind,
            layout=first.layout,
            settings=first.settings,
            checkpoint=checkpoint,
            model_written="" if first.model.startswith("-") or unresolved(first.model) else first.model,
            model_folder=folder_of(first.model) or (taken_for if is_variable(first.model) else ""),
            cluster=cluster,
            cluster_because=because,
            memory=memory,
            unjudged=unjudged,
            unknown=(unknown | {"dp"} if part else unknown) | open_ranks(first, cluster, self.engine.command_line),
            refused=is_refused(commands, readings, self.engine, version),
        )
        if missing or cut or part:
            return judged
        better = (
            better_of(judged, each, commands, edits_of(each.changes, commands, readings, engine))
            for each in suggestions
        )
        return replace(judged, better=tuple(better))

    # --- what the commands say ---

    def readings(self, version: Version) -> list[Reading]:
        return [self._read(command, version) for command in self.group.commands]

    def _files(self, command: Command) -> Mapping[str, HereFile]:
        return files_of(command, self.script.files)

    def _read(self, command: Command, version: Version) -> Reading:
        files = {path: file.text for path, file in self._files(command).items()}
        return read_command(command, self.engine, version, files, self.question.settings, self.script.budget)

    def _checkpoint(self, first: Reading) -> tuple[Checkpoint | None, str, str]:
        """The checkpoint; where there is none, why, and what it is called where only its weights are in doubt."""
        if self.question.checkpoint is not None:
            return self.question.checkpoint, "", ""
        program = program_named(self.group.commands[0].program)
        if unnamed := program.unnamed_weights if program else "":
            return None, f"{unnamed}: name it with --model MODEL", ""
        model, because = model_of(first.model, first.served_name, self.group.commands, self.script)
        if model is None:
            return None, *as_spoken_name(first.model, because, self.script)
        if doubt := doubtful_weights(model, first, self.engine, self.script):
            return None, f"{doubt}: --model MODEL", model.id.rpartition("/")[2]
        try:
            checkpoint = checkpoint_as_loaded(model, first, self.engine.name)
        except PreflightRefused as refused:
            return None, refused.message, ""
        given = self._occurrence(first, "quantization")
        made_for_it = checkpoint.quantization.scheme in _OF_ASCEND
        if given is not None and given.value == "ascend" and not made_for_it and not because.startswith("named"):
            because = "--quantization ascend is for weights made for Ascend, which are not named: --model MODEL"
            return None, because, ""
        return checkpoint, "", ""

    def _cluster(self, first: Reading, known: Checkpoint | None, *, layout_known: bool) -> tuple[Cluster | None, str]:
        commands, question = self.group.commands, self.question
        fork = next((name for command in commands for name in [other_build(command)] if name in FORKS.values()), None)
        if fork is not None and question.cluster is None:
            return None, f"it runs {fork}: its memory is not judged"
        return cluster_of(self.engine, first, self.script, commands, question, known, layout_known=layout_known)

    def _is_guess(self, first: Reading, checkpoint: Checkpoint | None, cluster: Cluster) -> bool:
        """Whether one device was made of a kind that the text names, for a command that says nothing of how many:
        what does not fit there proves nothing."""
        if checkpoint is None or self.question.cluster is not None:
            return False
        helped = self.engine.facts.host_experts or first.settings.cpu_offload_gib or first.takes_all_devices
        if is_granted(cluster, self.group.commands[0].container, self.script.lines):
            return False
        alone = cluster.devices == 1 and leaves_number_open(self.engine, first, self.group.commands[0])
        return alone and not helped and checkpoint.total_bytes > cluster.device.usable_bytes > 0

    def _subject(self, checkpoint: Checkpoint, cluster: Cluster, version: Version, first: Reading) -> Subject:
        facts, replicas = self.engine.facts, first.replicas
        # Several whole copies of the layout share the devices, as far as they are enough: a check says where not.
        if first.layout.world_size * replicas > cluster.devices:
            replicas = 1
        if replicas > 1 and cluster.nodes % replicas == 0:
            cluster = replace(cluster, nodes=cluster.nodes // replicas)
        elif replicas > 1 and cluster.nodes == 1 and cluster.per_node % replicas == 0:
            cluster = replace(cluster, per_node=cluster.per_node // replicas)
        settings, across = first.settings, first.layout.tp * first.layout.pp > cluster.per_node
        by_itself = (nodes := self.engine.command_line.nodes) and takes_ray_itself(version.text, nodes, cluster)
        if across and settings.executor is None and (by_itself or starts_ray(self.script)):
            settings = replace(settings, executor="ray")
        configuration = Configuration(checkpoint, cluster, facts, version.text, first.layout, settings)
        if (context := first.settings.max_model_len) is not None:
            context = min(context, 2**31)
        elif facts.needs_whole_context and self._occurrence(first, "max_model_len") is None:
            context = checkpoint.architecture.max_context
        # With `auto`, -1 or a variable the engine takes what there is.
        paired, barred = self.group.kind in ("prefill", "decode"), barred_settings(first, configuration)
        highest = min(HIGH_FRACTION, share_left(self.group.commands, self.script))
        known = with_those_of_text(self.calibrations, configuration, self.group, self.script, self.question)
        return Subject(configuration, context, known, self.script.budget, paired, barred, highest)

    def _occurrence(self, reading: Reading, name: str) -> Occurrence | None:
        """Where the command line has the engine's option for one of our names."""
        return reading.parsed.occurrence(self.engine.command_line.options.get(name))

    # --- what is said of them ---

    def _command_remarks(
        self, command: Command, reading: Reading, version: Version, checkpoint: Checkpoint | None
    ) -> Iterator[Remark]:
        program, line = program_of(command, self.engine), self.engine.command_line
        yield from removed_program_remarks(command, version, reading.parsed)
        if (book := rulebook(program, version, command)) is not None:
            budget, named = self.script.budget, bool(version.text)
            flags = flag_remarks([word.text for word in command.argv], reading.parsed, book, budget)
            flags = but_left_blank(but_own(but_accepted(flags, command, self.script), command), command, self.script)
            first = first_to_serve(self.engine, checkpoint, reading.model) if program == self.engine.program else ""
            flags = but_young(as_certain(flags, command, reading.parsed, book, version, first), program, checkpoint)
            flags = but_taken(with_own_parser(flags, reading, book, checkpoint), command, self.script)
            yield from but_run(of_its_build(flags, command), command, self.script, named=named)
            yield from stray_remarks(command, reading, book, version.text, document=self.script.markdown)
            words = [word.text for word in command.argv]
            keyed = of_its_build(config_remarks(words, reading.parsed, book, version), command)
            yield from but_run(keyed, command, self.script, named=named)
            yield from env_remarks({} if command.fork else command.env, book, budget, command.argv, named=named)
            yield from file_remarks(reading.parsed, self._files(command), book, budget, named=named)
        if not listens(command):
            return
        yield from serving_remarks(command, reading, line)
        yield from wrapper_remarks(command)
        if command.fork and command.program in OLD_PROGRAMS:
            return
        if is_worker(command, self.script):
            yield from worker_remarks(command, reading, line)
        elif not is_piece(command):
            parsers = parser_remarks(command, reading, self.engine, version.text, checkpoint, self.script)
            yield from of_its_build(parsers, command) if command.fork else of_patched(parsers, command, self.script)

    def _judgement_remarks(
        self,
        subject: Subject,
        judgement: Judgement,
        suggestions: Sequence[Improvement],
        first: Reading,
        checked: Sequence[Remark],
    ) -> Iterator[Remark]:
        """The judge's findings, at the engine's own flags. What lacks memory has the best way out as its remedy."""
        memory = judgement.memory
        short = memory is not None and (not memory.fits or memory.tight)
        written = first.model if self.question.checkpoint is None else subject.configuration.checkpoint.name
        given, maps, device = self.group.commands, self.engine.facts.gguf_only, subject.configuration.cluster
        found = but_with_amx(but_longer(but_held(judgement, first.layout), given), self.script, checked)
        for finding in but_chosen(found, given, self.script.lines):
            if is_idle(finding) and (runs_side_by_side(self.script) or self._sees_ranks_alone(subject, first)):
                continue
            spoken = as_spoken(finding, memory, self.script, given[0], maps=maps)
            if spoken is None or is_of_its_fork(spoken, given[0]):
                continue
            finding = spoken
            is_error = finding.severity is not Severity.NOTE
            outside = finding.code is Code.TIGHT and finding.where == self.engine.facts.memory_fraction_name
            if finding.code in OF_MEMORY and short and is_error and self.suggest and not outside:
                finding = replace(finding, remedy=best_remedy(subject, suggestions))
            others = () if self.question.cluster else also_meant(device, self.script, given[0].line)
            asked = (subject.configuration, memory, subject.context, subject.calibrations)
            finding = as_published(as_sure(finding, *asked, others=others), subject.configuration, written)
            finding = of_fork(finding, given[0], subject.configuration.platform, subject.configuration.version)
            option, edits = self._occurrence(first, finding.where), self._stated(finding, first)
            flag = self.engine.command_line.options.get(finding.where, finding.where)
            at, remedy = option.index if option else None, in_own_flags(finding.remedy, self.engine.command_line)
            stops, finding = ends_it(finding, written), replace(finding, where=flag, remedy=remedy)
            yield Remark(finding, at=at, edits=edits, stops=stops)
        if memory is not None and not short and suggestions:
            best = suggestions[0]
            if best.memory.kv_tokens.value >= MUCH_ROOMIER * memory.kv_tokens.value:
                message = "the KV cache could hold more"
                yield Remark(Finding(Severity.NOTE, Code.SUBOPTIMAL, "memory", message, best.why), None)

    def _sees_ranks_alone(self, subject: Subject, first: Reading) -> bool:
        """Whether the process sees none of the devices that it leaves idle, or its prefill ranks use them."""
        cluster = subject.configuration.cluster
        seen = seen_alone(cluster, self.group.commands, first, self.script)
        return ranks_of(first) == (seen[0] if seen is not None else cluster).devices

    def _stated(self, finding: Finding, first: Reading) -> tuple[Edit, ...]:
        """What mends an error of one command whose remedy is one value."""
        if finding.severity is not Severity.ERROR or len(self.group.commands) > 1:
            return ()
        command, options = self.group.commands[0], self.engine.command_line.options
        return stated_edit(finding.remedy, options, first.parsed, len(command.argv))

    def _judged_with(self, readings: Sequence[Reading], changes: Changes) -> Judged:
        """The same commands with a suggestion in them."""
        edits = edits_of(changes, self.group.commands, readings, self.engine)
        commands = tuple(mended_command(one, (), more) for one, more in zip(self.group.commands, edits, strict=True))
        other = replace(self.group, commands=commands)
        return replace(self, group=other, repairs=(), suggest=False, again=True).judged()
