"""`moonpad explain`: a review of existing command lines and scripts."""

from __future__ import annotations

import math
import re
from errno import EFBIG
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from moonpad.cli.asked_load import LoadOptions
from moonpad.cli.output import Json, emit, emit_json, next_command, out
from moonpad.spec.input_file import read_input
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.finding import Severity
from moonpad.values.redaction import TooManyKeys, remember_command, remember_labelled

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from moonpad.explain.commands import Script
    from moonpad.explain.results import Judged
    from moonpad.values.checkpoint import Checkpoint
    from moonpad.values.cluster import Cluster

_BESIDE_RAM = "RTX4090"
"""An example of a device beside which most of a model is in RAM."""
_EXAMPLE = re.compile(r"--on (\d+x[\w-]+)")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_PROSE = frozenset({".md", ".mdx", ".rst", ".txt", ".adoc"})


def explain(
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    file: Annotated[list[Path] | None, Parameter(consume_multiple=True)] = None,
    pid: int | None = None,
    on: str | None = None,
    model: str | None = None,
    engine: str = "",
    engine_version: str = "",
    settings: Annotated[list[str] | None, Parameter(name="--set", consume_multiple=True)] = None,
    load: LoadOptions = LoadOptions(),
    concurrency: int | None = None,
    goal: Literal["latency", "throughput", "cost"] | None = None,
    verbose: bool = False,
    json: Json = False,
) -> None:
    """Judge a command line or a script: each flag, the layout, the memory, and what would be better.

    Parameters
    ----------
    command
        The command, behind `--`.
    file
        Any file that starts an engine: a shell script, a Python program, a compose file, objects of Kubernetes (also
        as kubectl get or describe print them), values of Helm, a recipe, a Dockerfile, a unit of systemd, a task of
        SkyPilot or dstack, what docker inspect prints, a copy of /proc/PID/cmdline, the log of a start, or a document
        with any of these in it; `-` is the standard input. At most 1 MB, of a log 4 MB; a pipe, also of <(COMMAND),
        must end within 10 s. Several files are pieces of one deployment: node-0/run.sh node-1/run.sh, a Deployment
        and its ConfigMap, or a command and its --config file. One that is not given is looked for beside the script.
    pid
        A process of this host that runs an engine: its command line, its environment, the release of vLLM or SGLang
        that is installed where it runs and, without --on, the devices here.
    on
        The devices it is for: 8xH200, 2x8xH800. Without it, those that the text names.
    model
        A checkpoint of the catalogue or a folder. Without it, the one that the command names. Of a model whose memory
        is not judged, such as amd/MiniMax-M3-MXFP4, the name is for commands that leave it to a variable.
    engine
        Which build of the engine it is, where the words do not tell: vllm or vllm-ascend. Without it, the one for the
        devices.
    engine_version
        The engine's version. Without it, the one that the text names, else the newest known.
    settings
        key=value, like tp=8 or max_model_len=131072: what the text leaves to a variable or to a file that is not here.
    concurrency
        With --workload: users, each of whom sends the next request when the last is answered.
    goal
        With --workload: what a better command is better in; without it, latency.
    verbose
        Every line with all that is said of it, the memory by its parts, every better command whole.
    """
    if command == ("-",) and not file:  # of `--file -`, whose `-` is taken for a word of the command
        file, command = [Path("-")], ()
    if not file and pid is None and command and all(_is_file(word) for word in command):
        file, command = [Path(word) for word in command], ()
    if (bool(file), bool(command), pid is not None).count(True) != 1:
        raise UsageError("explain takes either --file, or --pid, or a command behind `--`")
    asked = None
    if load.given or concurrency is not None or goal is not None:
        from moonpad.cli.load_options import read_load

        asked = read_load(load, goal, concurrency)
        if asked is None:
            raise UsageError("--concurrency and --goal need a load", remedy="add --workload chat, or 8192:1024")
    from moonpad.catalog.calibrations import calibrations
    from moonpad.catalog.clusters import parse_cluster
    from moonpad.cli.named_inputs import known_engine
    from moonpad.explain.judge import judge
    from moonpad.explain.programs import program_table
    from moonpad.explain.target_detection import Question
    from moonpad.plan.request import parse_set
    from moonpad.report.changed_lines import surely_misread
    from moonpad.report.explain_json import explain_json
    from moonpad.report.explain_view import explain_view
    from moonpad.store.calibrations import own_calibrations

    try:
        layout, others = parse_set(settings or ())
        script = _script(command, file or (), pid)
        programs = {program_table().engines.get(command.program, "") for command in script.commands}
        installed = _release_of(pid, programs) if pid is not None else ""
        checkpoint = _named_checkpoint(model) if model else None
        question = Question(
            checkpoint=checkpoint,
            model=model if model and checkpoint is None else "",
            cluster=parse_cluster(on) if on else _devices_here() if pid is not None else None,
            cluster_because="as asked" if on else "found on this host",
            engine=known_engine(engine) if engine else "",
            version=engine_version or installed,
            version_because="as asked" if engine_version else "installed where it runs",
            settings={name: str(value) for name, value in (*layout.items(), *others.items())},
        )
        judged = judge(script, question, (*calibrations(), *own_calibrations()))
        if not judged:
            raise _no_engine(script, prose=any(path.suffix.lower() in _PROSE for path in file or ()))
        every = [each for deployment in judged for each in (deployment, *deployment.alternatives)]
        for words in (source.argv for deployment in every for source in deployment.sources):
            remember_command([word.text for word in words], {})
        for line in (line for deployment in every for line in deployment.commands):
            remember_command(line.argv, {name: text for name, text in line.env.items() if not text.startswith("$")})
    except (UsageError, TooManyKeys) as problem:
        error = problem if isinstance(problem, UsageError) else UsageError(f"too large to judge: {problem}")
        if json:
            failure = {"message": error.message, "remedy": error.remedy}
            emit_json({"deployments": [], "problems": [], "error": failure})
        raise error from None
    width = out().width if out().is_terminal else 80
    view = explain_view(judged, script, width, ascii_only=out().options.ascii_only, verbose=verbose)
    document = explain_json(judged, script)
    if asked is not None:
        from moonpad.cli.explain_speed import explain_speeds

        text, document = explain_speeds(judged, asked, document, width)
        view.append_text(text)
    emit(view, _finite(document), json=json)
    if not json:
        next_command(_next(judged, script))
    findings = [finding for deployment in judged for finding in deployment.all_findings]
    count = sum(finding.severity is Severity.ERROR for finding in findings)
    if count := count + surely_misread(judged, script):
        errors = "1 finding is an error" if count == 1 else f"{count} findings are errors"
        raise PreflightRefused(errors, remedy="" if json else "apply the remedies shown above")


def _named_checkpoint(model: str) -> Checkpoint | None:
    """None for a repository of a family that moonpad cannot plan: what such a model needs is checked by its name."""
    from moonpad.catalog.other_models import other_model
    from moonpad.cli.named_inputs import find_model, typed_path

    try:
        return find_model(model, typed_path(model)).checkpoint
    except UsageError:
        if _REPOSITORY.fullmatch(model) and other_model(model) is not None:
            return None
        raise


def _is_file(word: str) -> bool:
    """Whether the word is the path of a file on this host: `moonpad explain start.sh`."""
    try:
        return not word.startswith("-") and Path(word).is_file()
    except (OSError, ValueError):
        return False


def _script(command: Sequence[str], file: Sequence[Path], pid: int | None) -> Script:
    """What is to be judged, with the files of options that it names, where they lie on this host."""
    from moonpad.explain.script import read_command, read_files
    from moonpad.spec.option_files import option_files

    if file:
        texts = [(str(path), _read(path)) for path in file]
        folders = [*(path.parent for path in file), Path()]
        beside = option_files((text for _, text in texts), folders, (name for name, _ in texts))
        for _, text in beside:
            remember_labelled(text)
        return read_files(texts, beside)
    if pid is not None:
        from moonpad.cli.explain_process import running_command

        running = running_command(pid)
        folders = [running.folder] if running.folder else []
        return read_command(running.words, env=running.env, files=option_files([" ".join(running.words)], folders))
    return read_command(command, files=option_files([" ".join(command)], [Path()]))


def _release_of(pid: int, engines: Collection[str]) -> str:
    from moonpad.cli.explain_release import running_release

    return running_release(pid, engines)


def _devices_here() -> Cluster | None:
    """Those of this host; None where they are not known."""
    from moonpad.run.knowledge import local_cluster

    try:
        return local_cluster(None, "")
    except PreflightRefused:
        return None


def _no_engine(script: Script, *, prose: bool) -> UsageError:
    """What is missing, as far as it can be known, and what no shell would read as it was meant: in prose an apostrophe
    closes nothing."""
    from moonpad.explain.as_written import as_written
    from moonpad.explain.commands import SURELY_WRONG
    from moonpad.explain.missing_engine import missing_engine

    message, remedy = missing_engine(script)
    sure = (*SURELY_WRONG, *(() if script.markdown or prose else ("unclosed",)))
    wrong = next((problem for problem in script.problems if problem.code in sure), None)
    if wrong is not None:
        message += f"; {script.where(wrong.line)}: {wrong.message}"
        remedy = f"{wrong.remedy}; {remedy}" if wrong.remedy else remedy
    return UsageError(as_written(message, script), remedy=as_written(remedy, script))


def _read(path: Path) -> str:
    from moonpad.explain.input_limits import TEXT_BYTES
    from moonpad.explain.repeated_log_lines import LOG_BYTES, without_repeats

    try:
        data = read_input(path, LOG_BYTES)
        text = without_repeats(data.decode("utf-8", "replace"))
        if len(text) > TEXT_BYTES:
            raise OSError(EFBIG, f"it is larger than {TEXT_BYTES:,} bytes: it has {len(data):,} bytes")
    except OSError as error:
        remedy = "pass only the part with the command" if error.errno == EFBIG else "name a file that you may read"
        raise UsageError(f"cannot read {path}: {error.strerror}", remedy=remedy) from None
    remember_labelled(text)
    return text


def _finite(value: object) -> object:
    """The same without what JSON has no word for: NaN and infinities become null."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _next(judged: Sequence[Judged], script: Script) -> str:
    """The plan for the judged deployment of which most is known, with what the text names where a command leaves it
    open; MODEL stands for a model that it does not name. Of one that it names and that `plan` does not know, what can
    be planned in its place."""
    from moonpad.engines import ENGINES
    from moonpad.explain.guessed_plan import spoken_checkpoint, spoken_kind
    from moonpad.explain.proposed_devices import NO_DEVICES, devices_asked, example_of, of_ranks

    servers = [deployment for deployment in judged if deployment.layout is not None]
    servers.sort(key=lambda server: server.checkpoint is None or server.cluster is None)
    first = servers[0] if servers else None
    if first is not None and first.checkpoint is None and _is_named(first):
        return "moonpad catalog models"
    model = first.checkpoint.name if first is not None and first.checkpoint is not None else ""
    ranks = first.layout.world_size * first.prefill_ways if first is not None and first.layout is not None else 1
    about = first or next((report for report in judged if report.kind in ("report", "rollout")), None)
    engine, because = (ENGINES.get(about.engine), about.unjudged) if about is not None else (None, "")
    known = first.cluster.name if first is not None and first.cluster is not None else ""
    named = _EXAMPLE.search(because) or (_EXAMPLE.search(first.cluster_because) if first is not None else None)
    checkpoint = first.checkpoint if first is not None else None
    sources = about.sources if about is not None else [each for other in judged for each in other.sources]
    if first is not None and named is None:
        because = first.cluster_because
    example = example_of(ranks, engine, because, checkpoint=checkpoint, commands=sources)
    if not known and not named and because.startswith(NO_DEVICES) and (kind := spoken_kind(engine, script)):
        example = of_ranks(kind, ranks, None)
    cluster = known or (named[1] if named else example)
    if not known and not named and ranks == 1 and (visible := devices_asked(first)):
        beside_ram = engine is not None and bool(engine.facts.host_experts) and checkpoint is None
        cluster = f"{visible}x{_BESIDE_RAM if beside_ram else cluster.rpartition('x')[2]}"
    guessed = "" if model else spoken_checkpoint(sources, script)
    because = f"  # a guess: the text names {guessed.rpartition('/')[2]}" if guessed else ""
    return f"moonpad plan --model {model or guessed or 'MODEL'} --on {cluster}{because}"


def _is_named(server: Judged) -> bool:
    """Whether the text says which model it serves."""
    from moonpad.explain.model_detection import is_named

    return any(name and is_named(name) for name in (server.model_written, server.model_folder))
