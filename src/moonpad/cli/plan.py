"""`moonpad plan`: what fits on a cluster, why, and what to type."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from moonpad.values.errors import UsageError

if TYPE_CHECKING:
    from moonpad.cli.plan_inputs import Model
    from moonpad.plan.request import Request
    from moonpad.report.plan_commands import Command
    from moonpad.values.cluster import Cluster
    from moonpad.values.plan_answer import Answer, Choice


def plan(
    spec: Path | None = None,
    *,
    model: str | None = None,
    on: str | None = None,
    engine: str | None = None,
    engine_version: str | None = None,
    goal: Literal["latency", "throughput", "context"] | None = None,
    context: str | None = None,
    concurrency: int | None = None,
    words: Annotated[
        list[str] | None, Parameter(name="--set", consume_multiple=True, negative=(), allow_leading_hyphen=False)
    ] = None,
    every: Annotated[bool, Parameter(name="--all", negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Say what fits on a cluster, why, and what to type. Exit 3 where nothing fits.

    Parameters
    ----------
    spec
        A moonpad.toml; what it says is fixed, and options override it.
    model
        A name of the catalogue, or a checkpoint's folder.
    on
        A cluster, like 8xH200 or 2x8xH800; without it, this machine.
    engine
        One engine, or auto for all.
    engine_version
        Its version; without it, the newest that moonpad knows.
    goal
        What comes first: latency, throughput or context.
    context
        Tokens of the longest sequence, like 32768 or 128k; without it, the most that fits.
    concurrency
        Sequences of that length to hold at once.
    words
        key=value of the layout (tp, pp, dp, ep, dcp) or of the settings, by the engine's names or ours.
    every
        Every legal layout, and by how much the others miss.
    json
        Print one JSON document on stdout.
    """
    from moonpad.cli.output import next_command
    from moonpad.cli.plan_inputs import (
        find_answer,
        find_cluster,
        find_model,
        init_words,
        make_request,
        refuse_unless_it_fits,
        typed_path,
    )

    if spec is None and model is None:
        raise UsageError("what is to be planned?", remedy="name a spec, or --model moonshotai/Kimi-K2-Thinking")
    options: dict[str, Any] = {
        "goal": goal,
        "engine": engine,
        "engine_version": engine_version,
        "context": context,
        "concurrency": concurrency,
        "words": words or (),
        "every_layout": every,
    }
    if spec is None:
        checkpoint = find_model(str(model), typed_path(str(model)))
        request = make_request(**options)
        cluster = find_cluster(on, request.engine)
        answer = find_answer(checkpoint, cluster, request)
    else:
        checkpoint, cluster, request, answer = _of_spec(spec, model, on, options)
    _show(answer, checkpoint, every=every, json=json)
    refuse_unless_it_fits(answer, request)
    if spec is not None:
        next_command(f"moonpad up {spec}")
    else:
        next_command(f"{init_words(checkpoint, cluster, request)} -o moonpad.toml, then moonpad up")


def _of_spec(
    path: Path, model: str | None, on: str | None, options: dict[str, Any]
) -> tuple[Model, Cluster, Request, Answer]:
    """What `up` would start, and what else would fit; the options override what the spec fixes."""
    from moonpad.catalog.clusters import parse_cluster
    from moonpad.checkpoints.resolve import checkpoint_folder
    from moonpad.cli.plan_inputs import Model, find_answer, find_model, make_request, typed_path
    from moonpad.plan.from_spec import finished, request_of
    from moonpad.run.planning import cluster_of, known_checkpoint
    from moonpad.spec.loader import load_spec

    loaded = load_spec(path)
    spec = loaded.spec
    if model is not None:
        chosen = find_model(model, typed_path(model))
    else:
        checkpoint = known_checkpoint(loaded)
        folder = checkpoint_folder(loaded)
        argument = str(folder) if folder.is_dir() else checkpoint.name
        chosen = Model(checkpoint, spec.model, argument, spec.trust_remote_code, folder.is_dir())
    cluster = parse_cluster(on) if on else cluster_of(spec)
    request = make_request(request_of(spec), **options)
    return chosen, cluster, request, find_answer(chosen, cluster, request, lambda plan: finished(spec, plan))


def _show(answer: Answer, model: Model, *, every: bool, json: bool) -> None:
    if json:
        from moonpad.cli.output import emit_json
        from moonpad.report.plan_json import answer_json

        commands = {place: commands_for(choice, model) for place, choice in enumerate(answer.choices)}
        emit_json(answer_json(answer, commands))
        return
    from moonpad.cli.output import clean, out
    from moonpad.report.plan_table import plan_table

    console = out()
    best = commands_for(answer.choices[0], model) if answer.choices else ()
    width = min(console.width, 120) if console.is_terminal else 120
    ascii_only = not (console.encoding or "").lower().startswith("utf")
    table = plan_table(answer, best, width, every=every, ascii_only=ascii_only)
    table.plain = clean(table.plain)  # one character for one: the styles stay where they are
    console.print(table)


def commands_for(choice: Choice, model: Model) -> tuple[Command, ...]:
    """What to type for a plan."""
    from moonpad.engines import ENGINES
    from moonpad.report.plan_commands import commands_of
    from moonpad.values.deployment import Executable

    engine = ENGINES[choice.plan.engine]
    deployment = engine.processes(choice.plan, Executable((engine.command,)))
    # What computes experts on the host reads them from a folder, never from a hub.
    argument = "CHECKPOINT_FOLDER" if engine.facts.host_experts and not model.here else model.argument
    return commands_of(deployment, argument, here=model.here)
