"""Warm-up, then N requests, then the figures."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from moonpad.bench.config import BenchConfig
from moonpad.bench.metrics import Metrics, metrics_of
from moonpad.bench.request_plan import other_requests
from moonpad.bench.result import BenchResult, as_json
from moonpad.bench.run_files import DEVICES_FILE, REQUESTS_FILE, SERVER_FILE, RunFiles
from moonpad.bench.run_header import RunPlan, read_plan
from moonpad.bench.saved_records import SavedRecords
from moonpad.bench.telemetry import watch_devices, watch_server
from moonpad.bench.worker_pool import Job, LoadState, remaining_job, run_load, run_load_in_workers
from moonpad.load.client import Connector
from moonpad.load.client_error import ClientError, measure_client_error
from moonpad.load.descriptors import ensure_descriptors
from moonpad.load.endpoint_url import Target, target_of
from moonpad.load.event_loop import run_in_loop
from moonpad.load.failure import RequestFailed
from moonpad.load.json_request import fetch
from moonpad.load.openai_schema import Malformed, model_cards, names_of
from moonpad.load.prompt_calibration import PromptCalibration, calibrate
from moonpad.load.record import RequestRecord
from moonpad.load.request_builder import RequestBuilder
from moonpad.load.request_schedule import ClosedLoop
from moonpad.load.scheduler import Idle, close_idle, open_idle, run_schedule
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, ContactLost, Interrupted, UsageError
from moonpad.values.records import replace
from moonpad.values.redaction import redact
from moonpad.values.visible_text import shell_word

# Indices of warm-up prompts; calibration has those just below zero.
WARMUP_INDEX = -1000
MODELS_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class BenchProgress:
    """`phase`: "calibrate", "warm-up", "measure" or "the client itself". `record`: the request that has just ended;
    `running`: those in flight then, None where other processes send them.
    """

    phase: str
    done: int
    total: int
    failed: int = 0
    record: RequestRecord | None = None
    running: int | None = None


OnProgress = Callable[[BenchProgress], None]


def run_bench(
    endpoint: Endpoint,
    config: BenchConfig,
    *,
    out_dir: Path | None = None,
    on_progress: OnProgress | None = None,
    before: PromptCalibration | None = None,
) -> BenchResult:
    """Measures the endpoint; blocks until done. Ctrl-C gives what was measured so far, marked partial.

    `before`: of a run there before, so that words are not weighed again.

    Raises:
        UsageError: the endpoint, the model or `out_dir` cannot be used.
        ContactLost: nothing answers there.
        CheckFailed: the endpoint refuses a plain request, or a result could not be written.
        Interrupted: Ctrl-C before the first measured request.
    """
    return _blocking(measure(endpoint, config, out_dir=out_dir, on_progress=on_progress, before=before))


def resume_bench(endpoint: Endpoint, folder: Path, *, on_progress: OnProgress | None = None) -> BenchResult:
    """Resumes the run of a folder: requests that ended are not sent again. Raises what `run_bench` raises."""
    plan, past = read_plan(folder), SavedRecords(folder / REQUESTS_FILE)
    if plan.base_url != redact(endpoint.base_url):
        raise UsageError(
            f"{folder} was measured at {plan.base_url}, not at {endpoint.base_url}",
            remedy=f"use --url {shell_word(plan.base_url)}, or measure in a new folder",
        )
    endpoint = replace(endpoint, model=plan.model)
    return _blocking(measure(endpoint, plan.config, out_dir=folder, on_progress=on_progress, plan=plan, past=past))


def _blocking(work: Coroutine[Any, Any, BenchResult]) -> BenchResult:
    try:
        return run_in_loop(work)
    except KeyboardInterrupt as error:
        raise Interrupted("interrupted before a request was measured") from error


async def measure(
    endpoint: Endpoint,
    config: BenchConfig,
    *,
    out_dir: Path | None = None,
    on_progress: OnProgress | None = None,
    before: PromptCalibration | None = None,
    plan: RunPlan | None = None,
    past: Sequence[RequestRecord] = (),
) -> BenchResult:
    """As `run_bench`, in the running loop; cancelling it is its Ctrl-C. `plan`, `past`: of a run to resume."""
    target = target_of(endpoint)
    # An open loop without a cap needs at most one per request; how many, only the server decides.
    each = math.ceil(config.connections / config.workers)
    ensure_descriptors(each, config.requests if config.concurrency is None else each)
    with closing(RunFiles(out_dir, resume=plan is not None)) if out_dir else nullcontext() as files:
        report = on_progress or (lambda _: None)
        return await _Run(endpoint, target, config, files, report, plan, past, before).measure()


@dataclass(frozen=True, slots=True)
class _Run:
    endpoint: Endpoint
    target: Target
    config: BenchConfig
    files: RunFiles | None
    report: OnProgress
    plan: RunPlan | None = None
    """The plan of a resumed run."""
    past: Sequence[RequestRecord] = ()
    """Its requests that have ended."""
    before: PromptCalibration | None = None

    async def measure(self) -> BenchResult:
        self.report(BenchProgress("calibrate", 0, 1))
        plan = self.plan or await self._ask_first()
        if self.files and self.plan is None:
            self.files.begin(plan.as_json())
        connector = Connector(self.target, time.perf_counter, self.config.deadlines.connect_s)
        job = remaining_job(plan, self.past)
        idle = await open_idle(connector, self.config.connections if job.workers == 1 else 1)
        try:
            await self._warm_up(plan, connector, idle)
            return await self._load(job, connector, idle)
        finally:
            await close_idle(idle)

    async def _ask_first(self) -> RunPlan:
        """Asks the server for its model, and calibrates the prompts."""
        config = self.config
        try:
            timeout_s = config.deadlines.total_s
            model = self.endpoint.model or await _only_model(self.target, min(MODELS_TIMEOUT_S, timeout_s))
            lengths = config.input_lengths.draw(config.requests, config.seed, "input")
            usual = round(sum(lengths) / len(lengths))
            builder = RequestBuilder(self.target, model, config.api)
            calibration = await calibrate(
                builder, input_tokens=usual, seed=config.seed, before=self.before, timeout_s=timeout_s
            )
            return RunPlan(config, model, calibration, self.endpoint.base_url, self.endpoint.planned)
        except RequestFailed as failed:
            raise ContactLost(
                f"{self.endpoint.base_url} does not answer: {failed.failure.text}", remedy="moonpad status"
            ) from failed

    async def _warm_up(self, plan: RunPlan, connector: Connector, idle: Idle) -> None:
        total = self.config.warmup
        done: list[RequestRecord] = []

        def ended(record: RequestRecord) -> None:
            done.append(record)
            self.report(BenchProgress("warm-up", len(done), total))

        requests = other_requests(plan, self.target, WARMUP_INDEX, total)
        schedule = ClosedLoop(min(self.config.connections, total))
        deadlines, now_s = self.config.deadlines, time.perf_counter()
        await run_schedule(requests, schedule, idle, connector, deadlines, time.perf_counter, now_s, ended)

    async def _load(self, job: Job, connector: Connector, idle: Idle) -> BenchResult:
        records_here: list[RequestRecord] = []
        load = LoadState(time.perf_counter() - job.before_s)
        done, failed, duration_s = len(job.ended), job.failed, job.before_s

        def ended(record: RequestRecord) -> None:
            nonlocal done, failed, duration_s
            done += 1
            # A timer may wake a millisecond early, and so quick an answer is over before its request was due.
            duration_s = max(duration_s, record.closed_s, record.scheduled_s)
            failed += not record.ok
            if self.files:
                self.files.append(record)
            else:
                records_here.append(record)
            running = load.in_flight.running if load.in_flight else None
            self.report(BenchProgress("measure", done, self.config.requests, failed, record, running))

        partial = False
        began = datetime.now().astimezone().isoformat(timespec="seconds")
        try:
            async with (
                watch_server(self.endpoint, time.perf_counter, load.zero, self._keeper(SERVER_FILE)) as server,
                watch_devices(self.endpoint, time.perf_counter, load.zero, self._keeper(DEVICES_FILE)) as devices,
            ):
                if job.workers > 1:
                    await run_load_in_workers(job, self.endpoint, ended, load)
                else:
                    await run_load(job, self.target, connector, idle, ended, load)
        except asyncio.CancelledError:
            if done == len(self.past):
                raise
            partial, duration_s = True, time.perf_counter() - load.origin_s
        await close_idle(idle)  # they may use up all descriptors
        if self.files:
            records: Sequence[RequestRecord] = self.files.records()
        else:
            records = sorted((*self.past, *records_here), key=lambda record: record.index)
        metrics = metrics_of(records, duration_s, self.config.slo)
        result = BenchResult(
            plan=job.plan,
            began=began,
            records=records,
            metrics=metrics,
            client_cpu=load.cpu,
            client_lag_s=load.lag_s,
            partial=partial,
            server=server,
            devices=devices,
            workers=job.workers,
            client_error=None if partial else await self._client_error(metrics, job.workers),
        )
        if self.files:
            self.files.finish(as_json(result))
        return result

    def _keeper(self, name: str) -> Callable[[dict[str, Any]], None]:
        files = self.files
        return (lambda row: files.append_sample(name, row)) if files else (lambda _: None)

    async def _client_error(self, metrics: Metrics, workers: int) -> ClientError | None:
        """The client's own error, under as many streams of the same speed as there were for each of its processes."""
        if not self.config.measure_client or metrics.itl_s is None:
            return None
        self.report(BenchProgress("the client itself", 0, 1))
        # The peak counts all who ran in one second; no more than the cap ran at once.
        streams = min(metrics.peak_concurrency, self.config.concurrency or metrics.peak_concurrency)
        return await measure_client_error(math.ceil(streams / workers), metrics.itl_s.median)


async def _only_model(target: Target, timeout_s: float) -> str:
    """The one model of `GET /v1/models`.

    Raises:
        UsageError: the endpoint serves no model, or several.
        CheckFailed: it refuses the request.
        RequestFailed: it does not answer.
    """
    answer = await fetch(target, target.get(f"{target.api_path}/models"), timeout_s=timeout_s)
    if answer.status in (401, 403):
        raise CheckFailed(
            f"the endpoint requires a key: HTTP {answer.status}", remedy="name its variable with --key-env"
        )
    if answer.status != 200:
        raise CheckFailed(
            f"GET {target.api_path}/models answered HTTP {answer.status}: {answer.text[:200]}",
            remedy="name the model with --model, and check that the URL ends where /v1 begins",
        )
    cards = model_cards(answer.json)
    if isinstance(cards, Malformed):
        raise CheckFailed(f"{target.api_path}/models is not a list of models: {cards.because}", remedy="--model NAME")
    if len(cards) != 1:
        serves = f"{len(cards)} models: {names_of(cards)}" if cards else "no model"
        raise UsageError(f"the endpoint serves {serves}", remedy="name one with --model")
    return str(cards[0]["id"])
