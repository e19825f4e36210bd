"""`moonpad init`: the spec of the best plan, with its reasons as comments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from moonpad.values.errors import PreflightRefused, UsageError


def init(
    *,
    model: str,
    on: str | None = None,
    engine: str = "auto",
    engine_version: str | None = None,
    goal: Literal["latency", "throughput", "context"] = "latency",
    context: str | None = None,
    concurrency: int | None = None,
    words: Annotated[list[str] | None, Parameter(name="--set", consume_multiple=True, negative=())] = None,
    out: Annotated[Path, Parameter(name=("--out", "-o"))] = Path("moonpad.toml"),
    force: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Write the spec of the best plan, with its reasons. Exit 3 where nothing fits.

    Parameters
    ----------
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
    out
        The file to write.
    force
        Replace the file where there is one.
    json
        Print one JSON document on stdout.
    """
    from moonpad.cli.output import emit_json, next_command
    from moonpad.cli.output import out as console
    from moonpad.cli.plan_inputs import (
        find_answer,
        find_cluster,
        find_model,
        make_request,
        refuse_unless_it_fits,
        typed_path,
    )
    from moonpad.spec.writer import spec_text
    from moonpad.store.atomic_files import replace_text

    if out.exists() and not force:
        raise UsageError(f"{out} is there already", remedy="name another file with -o, or replace it with --force")
    found = find_model(model, typed_path(model))
    request = make_request(
        goal=goal,
        engine=engine,
        engine_version=engine_version,
        context=context,
        concurrency=concurrency,
        words=words or (),
    )
    cluster = find_cluster(on, request.engine)
    answer = find_answer(found, cluster, request)
    refuse_unless_it_fits(answer, request, answer.refused[0].findings if answer.refused else ())
    best = answer.choices[0]
    # A folder is written whole: the spec may lie elsewhere.
    named = str(Path(found.argument).absolute()) if found.here and found.argument == found.written else found.written
    try:
        text = spec_text(best, model=named, cluster=cluster.name, goal=goal, weights_here=found.here)
    except ValueError as error:
        raise UsageError(f"{named[:80]!a} {error}", remedy="rename the folder") from None
    try:
        replace_text(out, text, 0o644)
    except OSError as error:
        raise PreflightRefused(f"cannot write {out}: {error.strerror}", remedy="name another file with -o") from None
    if json:
        emit_json({"file": str(out), "engine": best.plan.engine, "layout": best.plan.layout.words})
        return
    console().print(
        f"{out}: {answer.model} on {cluster.name} with {best.plan.engine}, {best.plan.layout.words}, "
        f"{best.memory.context:,} tokens of context ({best.confidence})"
    )
    next_command(f"moonpad up {out}" if found.here else f"set `model` in {out} to the weights' folder, then moonpad up")
