"""One visit in the real world: start a candidate, hold its answers against the default's, load it, stop it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final

from moonpad.bench.result import BenchResult
from moonpad.bench.run import BenchProgress, OnProgress
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.run.prepare import Prepared
from moonpad.tune.answers import Answers
from moonpad.tune.bounded_load import BoundedLoad, ended_of
from moonpad.tune.candidate import DEFAULT, UNCHANGED, Candidate
from moonpad.tune.candidate_run import CandidateRun, free_port, start, stop_left
from moonpad.tune.driver import BudgetOver
from moonpad.tune.halving import Measure, Prove
from moonpad.tune.journal import TuneFolder
from moonpad.tune.kept import kept_visit
from moonpad.tune.order import Judged
from moonpad.tune.pace import Pace
from moonpad.tune.search import Search
from moonpad.tune.subject import Subject, prepare_one
from moonpad.tune.visit import Visit
from moonpad.tune.worth import FAILED_SHARE, samples_of, worth_of
from moonpad.values.errors import CheckFailed, ContactLost, LaunchFailed, PreflightRefused, UsageError
from moonpad.values.plan import Platform
from moonpad.values.records import replace

BEAT_S: Final = 5.0
WARM_ROUNDS: Final = 8
WARM_SEED: Final = 100_000
"""No run that counts has the prompts of a warm-up."""


@dataclass(slots=True)
class DeploymentMeasurer:
    """`phase` is told what is done; `progress` how far a load is. `clock` is monotonic."""

    subject: Subject
    folder: TuneFolder
    answers: Answers
    phase: Callable[[str], None] = lambda text: None
    progress: OnProgress = lambda progress: None
    clock: Callable[[], float] = time.monotonic
    _calibration: PromptCalibration | None = None
    _fingerprints: dict[tuple[Candidate, int], str] = field(default_factory=dict)

    def judge(self, candidate: Candidate) -> Judged:
        self.phase(f"planning {candidate.id}")
        return self.subject.judge(candidate)

    def fingerprint(self, candidate: Candidate, requests: int) -> str:
        key = candidate, requests
        if key not in self._fingerprints:
            prepared = self._prepared(candidate, 0)
            self._fingerprints[key] = self.subject.fingerprint(prepared, requests)
        return self._fingerprints[key]

    def measure(self, search: Search, action: Measure, left_s: float, beat: Callable[[float], None]) -> Visit:
        """A visit with its `problem` where it does not run. Raises BudgetOver, and UsageError where the default's
        answers cannot be compared with others'."""
        candidate = search.candidate(action.candidate)
        visit = Visit(action.candidate, action.stage, action.round, action.requests)
        if candidate != UNCHANGED and (kept := self._kept(search, action, candidate)) is not None:
            return kept
        timed = _Timed(self.clock, self.clock(), left_s, beat)
        try:
            with self._up(candidate, timed) as run:
                loaded = self._loaded(run, search, action, visit, timed)
            return replace(loaded, seconds=round(timed.seconds, 3))
        except TimeoutError:
            raise BudgetOver from None
        except (PreflightRefused, LaunchFailed, ContactLost, CheckFailed) as error:
            return _with_problem(visit, error, timed)

    def _loaded(self, run: CandidateRun, search: Search, action: Measure, visit: Visit, timed: _Timed) -> Visit:
        start_s = timed.seconds
        worths: list[float] = []
        samples: list[float] = []
        load_s = 0.0
        hopeless = False
        results: list[BenchResult] = []
        self._warm_up(run, timed)
        for number in range(action.runs):
            load = self._load(search, action, number, timed)
            began_s = timed.seconds
            self.phase("loading")
            result = load.run(run.endpoint, self.folder.bench_folder(), self._calibration)
            load_s += timed.seconds - began_s
            timed.beat_now()
            if load.over or result is None:
                raise BudgetOver
            self._calibration = result.plan.calibration
            results.append(result)
            if problem := self._failures(search, action, result):
                return replace(visit, seconds=round(timed.seconds, 3), start_s=start_s, load_s=load_s, problem=problem)
            if load.reached is not None:
                worths, hopeless = [load.reached], True
                break
            goal, limits = self.subject.load.goal, self.subject.load.limits
            ended = [ended_of(record, load.config) for record in result.records]
            worths.append(worth_of(ended, result.metrics.duration_s, goal, limits=limits))
            samples += samples_of(ended, result.metrics.duration_s, goal, limits=limits)
        if action.record:
            # Behind the load: it leaves requests and caches behind, which would be measured.
            self.phase("recording its answers")
            self.answers.record(run.endpoint, timed.left_s)
        return replace(
            visit,
            seconds=round(timed.seconds, 3),
            start_s=start_s,
            load_s=load_s,
            run_s=fmean([result.metrics.duration_s for result in results]),
            worths=tuple(worths),
            samples=tuple(round(sample, 6) for sample in samples),
            hopeless=hopeless,
            answers=() if action.record else None,
            figures=_figures(results),
        )

    def _warm_up(self, run: CandidateRun, timed: _Timed) -> None:
        """Rounds of one request for each user, until two in a row take about as long as the fastest: an engine on a
        device compiles kernels for what it meets first after a start. On an H200 rounds after a first start took 1.9,
        1.4, 0.8 and 0.8 s (benchmarks/results/gpu_tune.json). Raises BudgetOver."""
        if run.prepared.engine.platform is Platform.CPU:
            return
        self.phase("warming up")
        pace = Pace()
        for number in range(WARM_ROUNDS):
            config = self.subject.load.bench(self.subject.load.users, WARM_SEED + number)
            load = BoundedLoad(config, self.subject.load.goal, 0.0, timed.left_s, lambda _: timed.beat_at_times())
            result = load.run(run.endpoint, self.folder.bench_folder(), self._calibration)
            timed.beat_now()
            if load.over or result is None:
                raise BudgetOver
            self._calibration = result.plan.calibration
            whole = result.metrics.e2el_s
            if whole is None or pace.is_steady(whole.median):
                return

    def prove(self, search: Search, action: Prove, beat: Callable[[float], None]) -> Visit:
        """What speaks against a candidate's answers is in the visit's `answers`; probes that fail of the default too do
        not count."""
        visit = Visit(action.candidate, "proof", 0, 0)
        timed = _Timed(self.clock, self.clock(), math.inf, beat)
        try:
            with self._up(search.candidate(action.candidate), timed) as run:
                self.phase("asking the probes")
                failed = self.answers.failed_probes(run.endpoint)
                self.phase("comparing its log-probabilities")
                apart = self.answers.numerics_apart(run.endpoint)
                asks = self.answers.accuracy is not None and not apart
                if asks:
                    self._ask_questions(action.candidate, run)
            if failed or asks:
                with self._up(UNCHANGED, timed) as run:
                    self.phase("asking the default the same")
                    before = self.answers.failed_probes(run.endpoint, tuple(failed)) if failed else {}
                    if asks:
                        self._ask_questions(DEFAULT, run)
                failed = {id_: why for id_, why in failed.items() if id_ not in before}
            accuracy = self.answers.accuracy_of(action.candidate) if asks else None
        except (PreflightRefused, LaunchFailed, ContactLost, CheckFailed, UsageError) as error:
            return _with_problem(visit, error, timed)
        sentences = (*(f"{id_}: {why}" for id_, why in failed.items()), *apart)
        if accuracy is not None and accuracy.worse:
            sentences = (*sentences, accuracy.words)
        words = accuracy.words if accuracy is not None else ""
        return replace(visit, seconds=round(timed.seconds, 3), answers=sentences, accuracy=words)

    def _ask_questions(self, candidate: str, run: CandidateRun) -> None:
        self.phase("asking the questions of the evaluation")
        self.answers.ask_questions(candidate, run.endpoint)

    @contextmanager
    def _up(self, candidate: Candidate, timed: _Timed) -> Iterator[CandidateRun]:
        """The candidate while the block lasts; nothing of it is left behind it."""
        self.phase("starting")
        stop_left(self.subject.name)
        run = start(self._prepared(candidate, free_port()), timed.tick)
        try:
            yield run
        finally:
            self.phase("stopping")
            run.stop()

    def _load(self, search: Search, action: Measure, number: int, timed: _Timed) -> BoundedLoad:
        # The same seeds for all: each run of the default has its pair.
        seed = 1 + 100 * ("screen", "again", "final").index(action.stage) + action.runs * action.round + number
        config = self.subject.load.bench(action.requests, seed)
        worths = [one.worth for one in search.of(DEFAULT, action.stage) if one.worth is not None]
        bound = fmean(worths) if worths and action.stage != "final" and action.candidate != DEFAULT else 0.0

        def show(progress: BenchProgress) -> None:
            timed.beat_at_times()
            self.progress(progress)

        return BoundedLoad(config, self.subject.load.goal, bound, timed.left_s, show)

    def _failures(self, search: Search, action: Measure, result: BenchResult) -> str:
        """Requests that fail, more of them than of the default's."""
        metrics = result.metrics
        share = metrics.failed / max(1, metrics.failed + metrics.completed)
        base = max(
            (one.figures.get("failed_share", 0.0) for one in search.visits if one.candidate == DEFAULT), default=0.0
        )
        if not metrics.completed or share <= base + FAILED_SHARE:
            return "" if metrics.completed else "no request succeeded"
        if action.candidate == DEFAULT and not any(one.candidate == DEFAULT for one in search.visits):
            return ""
        kinds = ", ".join(f"{count} × {kind}" for kind, count in metrics.failures.items())
        return f"{metrics.failed} of {metrics.failed + metrics.completed} requests failed: {kinds}"

    def _kept(self, search: Search, action: Measure, candidate: Candidate) -> Visit | None:
        worths = [one.worth for one in search.of(DEFAULT, action.stage) if one.worth]
        if not worths or action.stage == "final":
            return None
        own = self.fingerprint(candidate, action.requests)
        default = self.fingerprint(UNCHANGED, action.requests)
        return kept_visit(self.folder.path, own, default, action.stage, fmean(worths))

    def _prepared(self, candidate: Candidate, port: int) -> Prepared:
        return prepare_one(self.subject.spec_of(candidate, port or self.subject.loaded.spec.endpoint.port))


@dataclass(slots=True)
class _Timed:
    """How long a visit takes, and how much of the budget is left within it."""

    clock: Callable[[], float]
    began_s: float
    budget_s: float
    beat: Callable[[float], None]
    _beaten_s: float = 0.0

    @property
    def seconds(self) -> float:
        return self.clock() - self.began_s

    @property
    def left_s(self) -> float:
        return self.budget_s - self.seconds

    def tick(self) -> None:
        """Raises BudgetOver."""
        self.beat_at_times()
        if self.left_s <= 0:
            raise BudgetOver

    def beat_at_times(self) -> None:
        if self.seconds - self._beaten_s >= BEAT_S:
            self.beat_now()

    def beat_now(self) -> None:
        self._beaten_s = self.seconds
        self.beat(self._beaten_s)


def _with_problem(
    visit: Visit, error: PreflightRefused | LaunchFailed | ContactLost | CheckFailed | UsageError, timed: _Timed
) -> Visit:
    findings = getattr(error, "findings", ())
    text = str(findings[0].message) if findings else error.message
    what = {LaunchFailed: "it did not start", PreflightRefused: "refused"}.get(type(error), "it failed")
    return replace(visit, seconds=round(timed.seconds, 3), problem=f"{what}: {' '.join(text.split())[:600]}")


def _figures(results: list[BenchResult]) -> dict[str, float]:
    """Of the last run, as people know them."""
    if not results:
        return {}
    metrics = results[-1].metrics
    figures = {
        "output_throughput": metrics.output_throughput,
        "request_throughput": metrics.request_throughput,
        "failed_share": metrics.failed / max(1, metrics.failed + metrics.completed),
    }
    if metrics.goodput is not None:
        figures["goodput"] = metrics.goodput
    for name in ("ttft", "tpot", "e2el"):
        described = getattr(metrics, f"{name}_s")
        if described is not None:
            figures[f"median_{name}_s"] = described.median
    return figures
