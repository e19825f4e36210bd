"""`moonpad plan --from-log`: what an engine's start measured, beside what was planned; kept for the next plan."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.clusters import parse_cluster
from moonpad.cli.log_file import read_log_file
from moonpad.cli.named_inputs import find_model, known_engine, typed_path
from moonpad.cli.output import emit, next_command, out
from moonpad.cli.plan import PlanOptions
from moonpad.cli.plan_inputs import make_request
from moonpad.engines import ENGINES
from moonpad.engines.start_log import LoggedStart, read_start
from moonpad.plan.from_log import Identified, Named, identify, secrets_in
from moonpad.plan.logged_figures import compare, logged_kv_bytes, measured_start, misfit
from moonpad.plan.memory import memory_of
from moonpad.plan.rules import check
from moonpad.report.log_table import catalog_row, differing, log_json, log_table
from moonpad.run.knowledge import knowledge
from moonpad.spec.safe_text import shorten
from moonpad.store.calibrations import keep_calibration
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.configuration import Configuration
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.finding import errors_of
from moonpad.values.memory import Memory
from moonpad.values.records import replace
from moonpad.values.redaction import TooManyKeys, remember_command, remember_labelled
from moonpad.values.units import GIB, gib
from moonpad.values.versions import checked_version
from moonpad.values.visible_text import shell_word


def run_from_log(
    file: Path, named_model: str | None, options: PlanOptions, *, keep: bool, row: bool, json: bool
) -> None:
    """Raises UsageError where the log and the options do not say what was started."""
    start = _read(file)
    checkpoint = _checkpoint(start, named_model)
    request = make_request(_without_version(options))
    named = Named(
        cluster=parse_cluster(options.on) if options.on else None,
        engine=known_engine(options.engine) if options.engine else "",
        version=checked_version(options.engine_version) if options.engine_version else "",
        layout=request.layout,
        settings={**request.settings, **({"max_model_len": request.context} if request.context else {})},
    )
    identified = identify(start, named, checkpoint)
    configuration, calibrations = identified.configuration, knowledge().calibrations
    memory = _planned(configuration, calibrations)
    measured, why_not = _measured(start, identified, memory)
    if measured is not None:  # a log that was read before is not planned with what it said itself
        calibrations = tuple(other for other in calibrations if other.id != measured.id)
        memory = _planned(configuration, calibrations)
    if row:
        if measured is None:
            raise PreflightRefused(f"this start makes no row of the catalogue: {why_not}")
        emit(catalog_row(measured), {"row": catalog_row(measured)}, json=json)
        return
    planned = None if isinstance(memory, str) else memory
    rows = compare(start, configuration, planned)
    notes = [f"Nothing is planned for it: {memory}."] if isinstance(memory, str) else []
    notes += (f"moonpad refuses to plan this: {finding.message}." for finding in errors_of(check(configuration)))
    kept: dict[str, Any] = {"kept": False, "id": measured.id if measured else None, "because": why_not, "next": None}
    if measured is not None:
        tokens, problem = planned.kv_tokens.value if planned else None, ""
        try:
            new = keep and keep_calibration(measured, tokens)
        except OSError as error:
            keep, problem = False, f"the folder of moonpad's state cannot be written: {error.strerror or error}"
        after = _planned(configuration, (*calibrations, measured))
        kept |= {"kept": keep, "because": problem, "next": None if isinstance(after, str) else after.as_json()}
        notes.append(f"Not kept for later plans: {problem}." if problem else _kept(measured, keep=keep, new=new))
    else:
        notes.append(f"Not kept for later plans: {why_not}.")
    width = min(out().width, 120) if out().is_terminal else 120
    table = log_table(start, configuration, rows, notes, width)
    emit(table, log_json(start, configuration, planned, rows, kept), json=json)
    if not json:
        next_command(_plan_command(configuration))


def _read(file: Path) -> LoggedStart:
    start = read_start(read_log_file(file, "moonpad plan --from-log"), tuple(ENGINES.values()))
    if start is None:
        readable = [each.facts.title for each in ENGINES.values() if each.log.starts and not each.command_line.build]
        raise UsageError(
            f"{file} holds no start of {' or '.join(readable)}",
            remedy="give the engine's own log, from the line with its version or its arguments on",
        )
    try:
        remember_command([f"--api-key={secret}" for secret in secrets_in(start.arguments)], {})
        remember_labelled("\n".join(map(str, (start.arguments, start.model, start.failure))))
    except TooManyKeys as problem:
        raise UsageError(f"too large to show: {problem}") from None
    return start


def _without_version(options: PlanOptions) -> PlanOptions:
    """The words that `make_request` reads: a version needs no engine where a log names it."""
    return PlanOptions(context=options.context, layout=options.layout, words=options.words)


def _checkpoint(start: LoggedStart, named: str | None) -> Checkpoint:
    if named is not None:
        return find_model(named, typed_path(named)).checkpoint
    served = start.arguments.get("served_model_name")
    names = (start.model, *(served if isinstance(served, tuple) else (served,)))
    for name in names:
        if isinstance(name, str) and name:
            try:
                return find_model(name, typed_path(name)).checkpoint
            except UsageError:
                continue
    what = f"the log starts {shorten(start.model)}, which is neither" if start.model else "the log names neither"
    raise UsageError(
        f"{what} a model of the catalogue nor a folder of this machine",
        remedy="name it with --model, or its checkpoint's folder; `moonpad catalog models` lists the names",
    )


def _planned(configuration: Configuration, calibrations: Sequence[Calibration]) -> Memory | str:
    """What a device holds by the plan, or why that is unknown. The rules are not asked: it was started."""
    try:
        return memory_of(configuration, calibrations=calibrations)
    except PreflightRefused as refused:
        return refused.message


def _measured(start: LoggedStart, identified: Identified, memory: Memory | str) -> tuple[Calibration | None, str]:
    """The start as later plans use it; None, and why not."""
    configuration = identified.configuration
    if identified.not_kept:
        return None, identified.not_kept
    if isinstance(memory, str):
        return None, memory
    if "kv_set_gib" in start.figures:
        return None, "the engine was told the size of its KV cache, so that there is nothing to learn from it"
    kv_bytes = logged_kv_bytes(start.figures, configuration, memory)
    if kv_bytes is None:
        return None, "the log does not say how large the KV cache is"
    if why_not := misfit({**start.figures, "kv_gib": kv_bytes[0] / GIB}, memory):
        return None, why_not
    tokens = start.figures.get("kv_tokens")
    today = time.strftime("%Y-%m-%d")
    return (
        measured_start(
            configuration,
            kv_bytes,
            int(tokens) if tokens else None,
            source=f"a start log, read on {today}",
            checked=today,
            standing="reported",
        ),
        "",
    )


def _kept(start: Calibration, *, keep: bool, new: bool) -> str:
    left = f"{gib(start.kv_bytes)} were left for the KV cache"
    if not keep:
        return f"Not kept, as asked: {left}."
    if not new:
        return f"Kept already as {start.id}: {left}."
    return f"Kept as {start.id}: {left}, and the next plan of the same setup uses it."


def _plan_command(configuration: Configuration) -> str:
    layout, settings = configuration.layout, configuration.settings
    sizes = {"tp": layout.tp, "pp": layout.pp, "dp": layout.dp, "ep": layout.ep, "dcp": layout.dcp}
    chosen = differing(replace(settings, max_model_len=None, executor=None, kv_cache_gib=None, prefix_caching=None))
    words = [f"{name}={size}" for name, size in sizes.items()]
    words += [
        f"{name}={shell_word(str(value).lower() if value is True else str(value))}"
        for name, value in chosen.items()
        if value != "auto"
    ]
    context = f" --context {settings.max_model_len}" if settings.max_model_len else ""
    version = f" --engine-version {shell_word(configuration.version)}" if configuration.version else ""
    return (
        f"moonpad plan --model {shell_word(configuration.checkpoint.name)} --on {configuration.cluster.name} "
        f"--engine {configuration.engine.name}{version}{context} --set {' '.join(words)}"
    )
