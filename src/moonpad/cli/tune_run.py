"""What `moonpad tune` does."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moonpad.bench.config import Slo
from moonpad.cli.asked_load import LoadOptions
from moonpad.cli.durations import duration_s
from moonpad.cli.interrupts import terminated_as_interrupted
from moonpad.cli.load_options import read_load
from moonpad.cli.output import busy, emit, next_command, note, out
from moonpad.cli.tune_progress import TuneProgress
from moonpad.cli.verify_numerics import shipped_logprobs
from moonpad.cli.verify_recording import shipped_recording
from moonpad.load.lengths import check_bounds
from moonpad.report.tune_page import tune_page
from moonpad.report.tune_table import tune_details, tune_table
from moonpad.run.launch import refuse_other_systems
from moonpad.spec.loader import LoadedSpec, load_spec
from moonpad.store.atomic_files import replace_as_is, replace_text
from moonpad.tune.answers import Answers
from moonpad.tune.journal import TuneFolder, tunes_folder
from moonpad.tune.load import TuneLoad, requests_for
from moonpad.tune.outcome import Outcome, effects_of, outcome_of
from moonpad.tune.session import Session, saved_search
from moonpad.tune.spec_change import changed_text
from moonpad.tune.subject import Subject
from moonpad.tune.worth import TuneGoal, unit_of
from moonpad.values.errors import Interrupted, UsageError
from moonpad.values.records import replace
from moonpad.values.visible_text import shell_word
from moonpad.verify.judged_model import Card
from moonpad.verify.numerics.compare import Distance

if TYPE_CHECKING:
    from moonpad.cli.tune_eval import TaskAccuracy

USERS: Final = 16
HEAD: Final = "Written by `moonpad tune`"
LEAST_BUDGET_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """--eval, --eval-limit and --eval-max-tokens, as they were given."""

    task: str | None = None
    limit: int | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """As they were given."""

    load: LoadOptions
    concurrency: int | None
    goal: TuneGoal | None
    requests: int | None
    budget: str
    in_place: bool
    numerics: bool
    questions: QuestionOptions
    knobs: str
    fresh: bool
    out: Path | None


def run_tune(path: Path, options: TuneOptions, *, json: bool) -> None:
    """
    Raises:
        UsageError: an option is wrong, or the result could not be written.
        Interrupted: Ctrl-C; the same command goes on.
    """
    refuse_other_systems()
    budget_s = _budget(options.budget)
    loaded = load_spec(path)
    load = _load(options)
    written = options.out or path.with_name(f"{path.stem}-tuned.toml")
    _refuse_to_overwrite(written)
    accuracy = _accuracy(options.questions)
    with busy(f"planning {path}"):
        asked = accuracy.words if accuracy else ""
        only = [name.strip().replace("-", "_") for name in options.knobs.split(",") if name.strip()]
        subject = Subject.of(loaded, load, numerics=options.numerics, questions=asked, only=only)
    load = subject.load
    folder = TuneFolder.of(loaded.spec.name, subject.digest)
    if options.fresh:
        with folder.held():
            folder.set_aside()
    answers = Answers(folder, shipped_recording, rounding_of, options.numerics, accuracy)
    note(f"{loaded.spec.name}: {load.words}, for {load.goal}; at most {options.budget} of measuring; {folder.path}")
    with terminated_as_interrupted(), TuneProgress(unit_of(load.goal, limits=load.limits)) as progress:
        session = Session(
            subject,
            folder,
            answers,
            budget_s,
            options.in_place,
            progress.say,
            progress.event,
            progress.phase,
            progress.load,
        )
        try:
            outcome = session.run()
        except KeyboardInterrupt:
            raise Interrupted("interrupted; nothing is left running", remedy="the same command goes on there") from None
    document = {**session.about(), **_document(folder, outcome)}
    if outcome.winner is not None:
        text = tuned_text(loaded, outcome)
        try:
            replace_text(written, text, mode=0o644)
        except OSError as error:
            raise UsageError(f"{written} cannot be written: {error.strerror or error}", remedy="-o FILE") from error
        document["spec_written"] = str(written)
    replace_as_is(folder.path / "tune.html", tune_page(document, outcome, effects_of(outcome)), mode=0o644)
    emit(tune_table(outcome, _width()), document, json=json)
    note(f"written: {folder.path / 'tune.html'}")
    if outcome.winner is not None:
        note(f"written: {written}")
    _name_next(path, written, options, outcome)


def _accuracy(options: QuestionOptions) -> TaskAccuracy | None:
    """Raises UsageError and PreflightRefused before anything is measured."""
    if options.task is None:
        if options != QuestionOptions():
            name = "--eval-limit" if options.limit is not None else "--eval-max-tokens"
            raise UsageError(f"{name} goes with --eval", remedy=f"--eval FILE.jsonl {name} 200")
        return None
    from moonpad.cli.tune_eval import TaskAccuracy

    return TaskAccuracy.of(options.task, options.limit, options.max_tokens)


def _name_next(path: Path, written: Path, options: TuneOptions, outcome: Outcome) -> None:
    match outcome.standing:
        case "confirmed":
            next_command(f"moonpad up {shell_word(written)}")
        case "the default is best":
            next_command(f"moonpad tune {shell_word(path)} --explain")
        case _:
            next_command(f"the same with a larger --budget than {options.budget} goes on")


def run_explain(path: Path, *, json: bool) -> None:
    """The last tune of a spec, from its folder."""
    loaded = load_spec(path)
    found = _last_folder(loaded)
    if found is None:
        raise UsageError(f"{path} was not tuned on this machine", remedy=f"moonpad tune {shell_word(path)} …")
    saved = saved_search(found)
    if saved is None:
        raise UsageError(f"{found} holds no tune that can be read", remedy=f"moonpad tune {shell_word(path)} …")
    about, search = saved
    outcome = outcome_of(search, unit_of(search.goal, limits=bool(about["load"].get("slo"))), search.ended)
    emit(tune_details(about, outcome, effects_of(outcome), _width()), {**about, **_document(found, outcome)}, json=json)
    next_command(_after_explain(path, outcome))


def _after_explain(path: Path, outcome: Outcome) -> str:
    tuned = path.with_name(f"{path.stem}-tuned.toml")
    if outcome.winner is not None and tuned.exists():
        return f"moonpad up {shell_word(tuned)}"
    return f"moonpad tune {shell_word(path)} with the same options goes on; --fresh measures again"


def _document(folder: TuneFolder, outcome: Outcome) -> dict[str, Any]:
    effects = [effect.as_json() for effect in effects_of(outcome)]
    return {"folder": str(folder.path), **outcome.as_json(), "knobs": effects}


def tuned_text(loaded: LoadedSpec, outcome: Outcome) -> str:
    """The user's spec with the winner's changes, and at its head what they brought."""
    if outcome.winner is None:
        return loaded.text
    reasons = "\n".join(line for sentence in outcome.sentences for line in textwrap.wrap(sentence, 110))
    return changed_text(
        loaded.text, loaded.spec.settings.extra_args, outcome.winner, f"{HEAD} from {loaded.path.name}.\n{reasons}"
    )


def _last_folder(loaded: LoadedSpec) -> TuneFolder | None:
    own = [folder for folder in tunes_folder().glob(f"{loaded.spec.name}-*") if (folder / "journal.jsonl").exists()]
    own = [folder for folder in own if len(folder.name) == len(loaded.spec.name) + 13]
    newest = max(own, key=lambda folder: (folder / "journal.jsonl").stat().st_mtime, default=None)
    return None if newest is None else TuneFolder(newest)


def _refuse_to_overwrite(path: Path) -> None:
    """Of a file that is not one of ours."""
    try:
        with path.open(encoding="utf-8") as file:
            first = file.readline(200)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read", remedy="name another file with -o") from error
    if HEAD not in first:
        raise UsageError(f"{path} is there, and tune did not write it", remedy="name another file with -o")


def _budget(text: str) -> float:
    seconds = duration_s("--budget", text, "60m")
    if seconds < LEAST_BUDGET_S:
        raise UsageError(f"--budget {text}: nothing can be measured in that", remedy="--budget 60m")
    return seconds


def _load(options: TuneOptions) -> TuneLoad:
    if options.load.workload is None:
        raise UsageError("what load is it tuned for?", remedy="add --workload chat, or 8192:1024")
    goal = options.goal or "throughput"
    if goal == "latency" and options.load.slo:
        raise UsageError(
            "--slo counts good requests a second, which --goal latency does not",
            remedy="--goal throughput, or leave --slo out",
        )
    if options.concurrency is not None and options.load.rate is not None:
        raise UsageError("both --concurrency and --rate were given", remedy="leave one of them out")
    asked = read_load(options.load, goal, options.concurrency)
    if asked is None:
        raise UsageError("what load is it tuned for?", remedy="add --workload chat, or 8192:1024")
    workload = replace(asked.workload, concurrency=USERS) if asked.growing else asked.workload
    slo = Slo(**asked.limits)
    load = TuneLoad(workload, asked.text, goal, slo, 0)
    requests = requests_for(load.users) if options.requests is None else options.requests
    check_bounds("requests", requests, 4, 1_000_000)
    return replace(load, requests=requests)


def rounding_of(card: Card) -> Distance | None:
    """How far rounding alone moves a model that comes with moonpad."""
    recording = shipped_logprobs(card)
    return recording.floor if recording else None


def _width() -> int:
    return min(out().width, 120) if out().is_terminal else 120
