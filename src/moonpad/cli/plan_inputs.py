"""What `plan` and `init` plan with: the model, the cluster and the request that the words of a command line mean."""

from __future__ import annotations

from collections.abc import Callable

from moonpad.catalog.clusters import parse_cluster
from moonpad.cli.named_inputs import Model, known_engine
from moonpad.cli.plan import PlanOptions
from moonpad.engines import ENGINES
from moonpad.plan.request import Request, parse_layout, parse_set, parse_tokens
from moonpad.plan.search import search
from moonpad.run.knowledge import knowledge, local_cluster
from moonpad.values.cluster import Cluster
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.finding import Code, Finding
from moonpad.values.plan import Plan
from moonpad.values.plan_answer import Answer
from moonpad.values.records import as_dict, replace
from moonpad.values.versions import checked_version
from moonpad.values.visible_text import shell_word

LARGEST_CONCURRENCY = 1_000_000


def find_cluster(on: str | None, engine: str = "auto") -> Cluster:
    """The cluster that the text means, else this machine.

    Raises:
        UsageError: the text is not a cluster.
        PreflightRefused: what this machine has is not known.
    """
    if on is not None:
        return parse_cluster(on)
    return local_cluster(ENGINES.get(engine), "name it with --on, as in --on 8xH200")


def make_request(options: PlanOptions, base: Request = Request(), *, every_layout: bool = False) -> Request:
    """`base` is what a spec fixes, which the options override.

    Raises:
        UsageError: an option is wrong, two of them contradict each other, or there is no such engine.
    """
    concurrency, version = options.concurrency, ""
    layout, settings = parse_set(options.words or ())
    if options.layout is not None:
        if layout:
            raise UsageError("--layout and --set both say the layout", remedy="leave one of them out")
        layout = as_dict(parse_layout(options.layout))
    tokens = parse_tokens(options.context) if options.context is not None else None
    length = settings.pop("max_model_len", None)
    if tokens is not None and length not in (None, tokens):
        raise UsageError(f"--context says {tokens} tokens and --set {length}", remedy="leave one of them out")
    tokens = tokens if tokens is not None else None if length is None else int(length)
    if concurrency is not None and not 1 <= concurrency <= LARGEST_CONCURRENCY:
        raise UsageError(f"--concurrency must be from 1 to {LARGEST_CONCURRENCY:,}, got {concurrency}")
    named = options.engine or base.engine
    if options.engine_version:
        version = checked_version(options.engine_version)
    elif named == base.engine:  # the version of a spec is that of the spec's engine
        version = base.engine_version
    if named == "auto" and version:
        raise UsageError("--engine-version needs an engine", remedy="name it with --engine NAME")
    return replace(
        base,
        goal="throughput" if options.goal == "cost" else options.goal or base.goal,
        engine=known_engine(named, "auto"),
        engine_version=version,
        context=tokens if tokens is not None else base.context,
        concurrency=concurrency,
        layout={**base.layout, **layout},
        settings={**base.settings, **settings},
        draft=None if "draft" in settings else base.draft,
        every_layout=every_layout,
    )


def find_answer(
    model: Model, cluster: Cluster, request: Request, finish: Callable[[Plan], Plan] = lambda plan: plan
) -> Answer:
    """What fits, and what does not. The model is named as it was written; `finish` as `Known` has it."""
    known = replace(knowledge(), code_in_checkpoint=model.brings_code, finish=finish)
    return replace(search(model.checkpoint, cluster, request, known), model=model.written)


def refuse_unless_it_fits(answer: Answer, request: Request, findings: tuple[Finding, ...] = ()) -> None:
    """Raises PreflightRefused where nothing fits, with what was asked for."""
    if answer.fits:
        return
    what = f" with a context of {request.context:,} tokens" if request.context else ""
    by_memory = any(finding.code is Code.DOES_NOT_FIT for refused in answer.refused for finding in refused.findings)
    verdict = "does not fit on" if by_memory else "cannot be served on"
    raise PreflightRefused(
        f"{answer.model} {verdict} {answer.cluster}{what}",
        findings=findings,
        remedy="moonpad plan --all … shows every layout, and by how much it misses",
    )


def init_command(model: Model, cluster: Cluster, options: PlanOptions) -> str:
    """The `moonpad init` that writes down the best of the same plans."""
    words = (
        ("--model", model.written),
        ("--on", cluster.name),
        ("--goal", "throughput" if options.goal == "cost" else options.goal),
        ("--engine", options.engine),
        ("--engine-version", options.engine_version),
        ("--context", options.context),
        ("--concurrency", options.concurrency),
        ("--layout", options.layout),
        *(("--set", word) for word in options.words or ()),
    )
    return "moonpad init " + " ".join(f"{flag} {shell_word(value)}" for flag, value in words if value is not None)
