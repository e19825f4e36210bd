"""What `plan` and `init` plan with: the model, the cluster and the request that the words of a command line mean."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from moonpad.catalog import models as catalog
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.embedded import embedded_checkpoint
from moonpad.cli.plan import PlanOptions
from moonpad.engines import ENGINES
from moonpad.plan.request import Request, parse_layout, parse_set, parse_tokens
from moonpad.plan.search import search
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.run.knowledge import knowledge, local_cluster
from moonpad.spec.near_match import did_you_mean
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.finding import Code, Finding
from moonpad.values.plan import Plan
from moonpad.values.plan_answer import Answer
from moonpad.values.records import as_dict, replace
from moonpad.values.versions import checked_version
from moonpad.values.visible_text import shell_word

LARGEST_CONCURRENCY = 1_000_000


@dataclass(frozen=True, slots=True)
class Model:
    """A checkpoint. `written` names it for moonpad, `argument` for an engine: an id, or a folder.

    `brings_code`: its tokenizer is Python in the checkpoint, so the engine must be allowed to run it. `here`: it is a
    folder of this machine.
    """

    checkpoint: Checkpoint
    written: str
    argument: str
    brings_code: bool
    here: bool


def typed_path(written: str) -> Path:
    """What was typed, with `~` and `~user` for a home folder.

    Raises:
        UsageError: there is no user of that name.
    """
    try:
        return Path(written).expanduser()
    except RuntimeError:
        raise UsageError(f'there is no home folder for "{written}"', remedy="write the whole path") from None


def find_model(written: str, folder: Path) -> Model:
    """A name that moonpad ships or knows, else a local folder; `folder` is what the text is as a path.

    Raises:
        UsageError: it is neither.
        PreflightRefused: the folder's checkpoint is incomplete, or moonpad cannot plan that model.
    """
    place = embedded_checkpoint(written) or (folder if _is_folder(folder) else None)
    if place is not None:
        from moonpad.checkpoints.read import read_checkpoint  # which a name of the catalogue does not need

        checkpoint = read_checkpoint(place)
        shown = written if place != folder else str(folder)  # a spec's path is relative to the spec
        brings_code = not (place / "tokenizer.json").exists() and any(place.glob("*.py"))
        return Model(checkpoint, shown, str(place), brings_code, here=True)
    known = catalog.find_model(written)
    if known is None:
        raise _unknown(written)
    # Its repository holds tokenization_kimi.py, and engines load the tokenizer from there.
    return Model(catalog_checkpoint(known), known.id, known.id, brings_code=True, here=False)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _unknown(written: str) -> UsageError:
    ids = [model.id for model in catalog.models().values()]
    names = {name.casefold(): id_ for id_ in ids for name in (id_, id_.split("/")[-1])}
    near = difflib.get_close_matches(written[:80].casefold(), list(names), n=3, cutoff=0.5)
    meant = " or ".join(dict.fromkeys(names[name] for name in near))
    return UsageError(
        f"{written[:80]!a} is neither a folder nor a model of the catalogue",
        remedy=f"did you mean {meant}?" if meant else "`moonpad catalog models` lists what it knows",
    )


def find_cluster(on: str | None, engine: str = "auto") -> Cluster:
    """The cluster that the text means, else this machine.

    Raises:
        UsageError: the text is not a cluster.
        PreflightRefused: what this machine has is not known.
    """
    if on is not None:
        return parse_cluster(on)
    return local_cluster(ENGINES.get(engine), "name it with --on, as in --on 8xH200")


def known_engine(name: str, *more: str) -> str:
    """The name itself. Raises UsageError where it is neither an engine's nor one of `more`."""
    if name not in ENGINES and name not in more:
        names = (*ENGINES, *more)
        raise UsageError(
            f"there is no engine {name[:60]!a}{did_you_mean(name, ENGINES)}",
            remedy=f"one of {', '.join(names[:-1])} or {names[-1]}",
        )
    return name


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
