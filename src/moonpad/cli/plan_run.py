"""What `moonpad plan` and `moonpad init` do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from moonpad.cli.asked_load import LoadOptions
from moonpad.cli.named_inputs import Model, find_model, typed_path
from moonpad.cli.output import emit, emit_json, next_command, out
from moonpad.cli.plan import PlanOptions
from moonpad.cli.plan_inputs import find_answer, find_cluster, init_command, make_request, refuse_unless_it_fits
from moonpad.engines import ENGINES
from moonpad.plan.request import Request
from moonpad.report.plan_commands import Command, commands_of
from moonpad.report.plan_json import answer_json
from moonpad.report.plan_table import plan_table
from moonpad.spec.key_names import LAYOUT_KEYS
from moonpad.values.cluster import Cluster
from moonpad.values.deployment import Executable
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.plan_answer import Answer, Choice
from moonpad.values.records import replace
from moonpad.values.visible_text import shell_word

if TYPE_CHECKING:
    from moonpad.predict.plan_speeds import AskedLoad, PlanSpeed, SpeedAnswer


def run_plan(
    spec: Path | None,
    named: str | None,
    options: PlanOptions,
    load: LoadOptions,
    *,
    every: bool,
    report: Path | None,
    json: bool,
) -> None:
    router: dict[str, Any] | None = None
    asked: AskedLoad | None = None
    if load.given or options.goal == "cost" or report is not None:
        from moonpad.cli.load_options import read_load

        asked = read_load(load, options.goal, options.concurrency)
        if asked is None:
            raise UsageError("--report needs a load", remedy="add --workload chat, or 8192:1024")
        options = replace(options, concurrency=None)  # users, not sequences that must be held at once
    if spec is None:
        model, cluster, request, answer = _of_model(str(named), options, every=every)
        following = f"{init_command(model, cluster, options)} -o moonpad.toml, then moonpad up"
    else:
        # pydantic, which a plan by name does not need
        from moonpad.cli.plan_from_spec import answer_of_spec, router_of_spec, router_sentence
        from moonpad.cli.plan_pools import run_plan_pools
        from moonpad.spec.loader import load_spec

        loaded = load_spec(spec)
        if loaded.spec.prefill is not None:
            if asked is not None:
                raise UsageError("the speed of a spec with pools is not predicted", remedy="--prefill and --decode are")
            run_plan_pools(spec, loaded, named, options, every=every, json=json)
            return
        model, cluster, request, answer = answer_of_spec(loaded, named, options, every=every)
        router = router_of_spec(loaded.spec)
        following = f"moonpad up {shell_word(spec)}"
    speeds: SpeedAnswer | None = None
    refused_speed: PlanSpeed | None = None
    if asked is not None:
        from moonpad.cli.plan_speed import speed_of_refused, speeds_of

        answer, speeds = speeds_of(answer, model, cluster, request, asked)
        if spec is None and answer.choices:
            following = f"{_init_of(answer.choices[0], model, cluster, options)} -o moonpad.toml, then moonpad up"
        if not answer.choices and answer.refused:
            refused_speed = speed_of_refused(model, cluster, request, asked)
    if json:
        commands = {place: _commands_for(each, model) for place, each in enumerate(answer.choices)}
        document = answer_json(answer, commands, speeds, refused_speed)
        emit_json(document if router is None else {**document, "router": router})
    else:
        best = _commands_for(answer.choices[0], model) if answer.choices else ()
        width = min(out().width, 120) if out().is_terminal else 120
        ascii_only = not (out().encoding or "").lower().startswith("utf")
        table = plan_table(answer, best, width, every=every, ascii_only=ascii_only, speeds=speeds)
        out().print(table)
        if router is not None:
            out().print(f"\n{router_sentence(router)}")
    refuse_unless_it_fits(answer, request)
    if report is not None and speeds is not None:
        from moonpad.cli.plan_report import write_plan_report

        write_plan_report(report, answer, speeds)
    next_command(following)


def _init_of(choice: Choice, model: Model, cluster: Cluster, options: PlanOptions) -> str:
    """The `moonpad init` of this very plan: without a load it would be the one of the documented order."""
    words = [word for word in options.words or () if word.partition("=")[0].strip().lower() not in LAYOUT_KEYS]
    exact = replace(options, engine=choice.plan.engine, layout=choice.plan.layout.words, words=words)
    return init_command(model, cluster, exact)


def run_init(named: str, options: PlanOptions, file: Path, *, json: bool) -> None:
    if options.goal == "cost":
        raise UsageError("--goal cost needs a load, which init takes none of", remedy="moonpad plan --workload chat")
    from moonpad.spec.writer import spec_text
    from moonpad.store.atomic_files import replace_text

    model, cluster, request, answer = _of_model(named, options)
    refuse_unless_it_fits(answer, request, answer.refused[0].findings if answer.refused else ())
    best = answer.choices[0]
    # A folder is written as an absolute path: the spec may be elsewhere.
    written = model.written
    if model.here and model.argument == model.written:
        written = str(Path(model.argument).absolute())
    try:
        text = spec_text(best, model=written, cluster=cluster.name, goal=request.goal, weights_here=model.here)
    except ValueError as error:
        raise UsageError(f"{written[:80]!a} {error}", remedy="rename the folder") from None
    try:
        replace_text(file, text, 0o644)
    except OSError as error:
        raise PreflightRefused(f"cannot write {file}: {error.strerror}", remedy="name another file with -o") from None
    layout = best.plan.layout.words
    summary = f"{best.plan.engine}, {layout}, {best.memory.context:,} tokens of context ({best.confidence})"
    document = {"file": str(file), "engine": best.plan.engine, "layout": layout}
    emit(f"{file}: {answer.model} on {cluster.name} with {summary}", document, json=json)
    if not json:
        edit = f"set `model` in {shell_word(file)} to the weights' folder, then moonpad up"
        next_command(f"moonpad up {shell_word(file)}" if model.here else edit)


def _of_model(named: str, options: PlanOptions, *, every: bool = False) -> tuple[Model, Cluster, Request, Answer]:
    model = find_model(named, typed_path(named))
    request = make_request(options, every_layout=every)
    cluster = find_cluster(options.on, request.engine)
    return model, cluster, request, find_answer(model, cluster, request)


def _commands_for(choice: Choice, model: Model) -> tuple[Command, ...]:
    """What to type for a plan."""
    engine = ENGINES[choice.plan.engine]
    deployment = engine.processes(choice.plan, Executable((engine.command,)))
    # What computes experts on the host reads them from a folder, never from a hub.
    argument = "CHECKPOINT_FOLDER" if engine.facts.host_experts and not model.here else model.argument
    return commands_of(deployment, argument, here=model.here)
