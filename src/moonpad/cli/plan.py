"""`moonpad plan`: what fits on a cluster, why, and what to type."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from moonpad.values.errors import UsageError

if TYPE_CHECKING:
    from moonpad.cli.plan_inputs import Model
    from moonpad.report.plan_commands import Command
    from moonpad.values.choice import Answer, Choice
    from moonpad.values.plan import Plan


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
    base: Plan | None = None
    fixed: dict[str, Any] = {}
    if spec is not None:
        from moonpad.cli.plan_spec import read_spec

        said = read_spec(spec, model)
        found, base, fixed = said.model, said.plan, said.fixed
        on = on or said.cluster
    else:
        found = find_model(str(model), typed_path(str(model)))
    if engine is not None and engine != fixed.get("engine"):
        fixed.pop("engine_version", None)  # it is that of the spec's engine
    options: dict[str, Any] = {"engine": engine, "engine_version": engine_version, "goal": goal}
    fixed |= {name: value for name, value in options.items() if value is not None}
    request = make_request(context=context, concurrency=concurrency, words=words or (), every_layout=every, **fixed)
    cluster = find_cluster(on, request.engine)
    if base is not None and on is None:
        cluster = replace(cluster, nodes=base.nodes)  # this machine, and the [[hosts]] that are like it
    answer = find_answer(found, cluster, request)
    _show(answer, found, base, every=every, json=json)
    refuse_unless_it_fits(answer, request)
    if spec is not None:
        next_command(f"moonpad up {spec}")
    else:
        next_command(f"{init_words(found, cluster, request)} -o moonpad.toml, then moonpad up")


def _show(answer: Answer, model: Model, base: Plan | None, *, every: bool, json: bool) -> None:
    if json:
        from moonpad.cli.output import emit_json
        from moonpad.report.plan_json import answer_json

        commands = {place: commands_for(choice, model, base) for place, choice in enumerate(answer.choices)}
        emit_json(answer_json(answer, commands))
        return
    from moonpad.cli.output import clean, out
    from moonpad.report.plan_table import plan_table

    console = out()
    best = commands_for(answer.choices[0], model, base) if answer.choices else ()
    width = min(console.width, 120) if console.is_terminal else 120
    ascii_only = not (console.encoding or "").lower().startswith("utf")
    table = plan_table(answer, best, width, every=every, ascii_only=ascii_only)
    table.plain = clean(table.plain)  # one character for one: the styles stay where they are
    console.print(table)


def commands_for(choice: Choice, model: Model, base: Plan | None = None) -> tuple[Command, ...]:
    """What to type for a plan; `base` is the plan of a spec, which has more to say than layout and settings."""
    from moonpad.engines import ENGINES
    from moonpad.report.plan_commands import commands_of
    from moonpad.values.deployment import Executable

    plan = choice.plan
    if base is not None:
        plan = replace(plan, name=base.name, serving=base.serving, extra_args=base.extra_args)
    engine = ENGINES[plan.engine]
    deployment = engine.processes(plan, Executable((engine.command,)))
    # KTransformers reads the experts from a folder, never from a hub.
    argument = model.argument if model.here or plan.engine != "ktransformers" else "CHECKPOINT_FOLDER"
    return commands_of(deployment, argument, here=model.here)
