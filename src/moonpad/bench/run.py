"""Warm-up, then N requests, then the figures."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from moonpad.bench.config import BenchConfig
from moonpad.bench.crew import Job, Load, carry, carry_by_workers, job_of
from moonpad.bench.device_watch import devices_watched
from moonpad.bench.folder import DEVICES_FILE, REQUESTS_FILE, SERVER_FILE, RunFiles
from moonpad.bench.metrics import Metrics, metrics_of
from moonpad.bench.model_name import only_model
from moonpad.bench.requests import other_requests
from moonpad.bench.result import BenchResult, as_json
from moonpad.bench.resume import read_plan
from moonpad.bench.run_plan import RunPlan
from moonpad.bench.saved_records import SavedRecords
from moonpad.bench.server_watch import watched
from moonpad.load.asker import Asker
from moonpad.load.calibrate import Calibration, calibrate
from moonpad.load.client import Connector
from moonpad.load.descriptors import ensure_descriptors
from moonpad.load.drive import Idle, close_idle, drive, open_idle
from moonpad.load.failure import RequestFailed
from moonpad.load.loop import run_in_loop
from moonpad.load.record import RequestRecord
from moonpad.load.schedule import ClosedLoop
from moonpad.load.self_error import SelfError, self_error
from moonpad.load.target import Target, target_of
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost, Interrupted, UsageError

# Indices of warm-up prompts; calibration has those just below zero.
WARMUP_INDEX = -1000


@dataclass(frozen=True, slots=True)
class Progress:
    """`phase`: "calibrate", "warm-up", "measure" or "the client itself". `record`: the request that has just ended;
    `running`: those in flight then, None where other processes carry the load.
    """

    phase: str
    done: int
    total: int
    failed: int = 0
    record: RequestRecord | None = None
    running: int | None = None


OnProgress = Callable[[Progress], None]


def run_bench(
    endpoint: Endpoint,
    config: BenchConfig,
    *,
    out_dir: Path | None = None,
    on_progress: OnProgress | None = None,
    before: Calibration | None = None,
) -> BenchResult:
    """Measures the endpoint; blocks until done. Ctrl-C gives what was measured so far, marked partial.

    `before`: of a run there before, so that words are not weighed again.

    Raises:
        UsageError: the endpoint, the model or `out_dir` cannot be used.
        ContactLost: nothing answers there.
        CheckFailed: the endpoint refuses a plain request, or a result could not be written.
        Interrupted: Ctrl-C before the first measured request.
    """
    try:
        return run_in_loop(measure(endpoint, config, out_dir=out_dir, on_progress=on_progress, before=before))
    except KeyboardInterrupt as error:
        raise Interrupted("interrupted before a request was measured") from error


def resume_bench(endpoint: Endpoint, folder: Path, *, on_progress: OnProgress | None = None) -> BenchResult:
    """Goes on with the run of a folder: what has ended there is not sent again. Raises what `run_bench` raises."""
    plan, past = read_plan(folder), SavedRecords(folder / REQUESTS_FILE)
    if plan.base_url != endpoint.base_url:
        raise UsageError(
            f"{folder} was begun at {plan.base_url}, and this is {endpoint.base_url}",
            remedy=f"--url {plan.base_url}, or measure in a new folder",
        )
    try:
        return run_in_loop(_resumed(endpoint, plan, past, folder, on_progress or (lambda _: None)))
    except KeyboardInterrupt as error:
        raise Interrupted("interrupted before a further request was measured") from error


async def _resumed(
    endpoint: Endpoint, plan: RunPlan, past: Sequence[RequestRecord], folder: Path, report: OnProgress
) -> BenchResult:
    _ensure_descriptors(plan.config)
    files = RunFiles(folder, resume=True)
    try:
        run = _Run(replace(endpoint, model=plan.model), target_of(endpoint), plan.config, files, report, plan, past)
        return await run.measure()
    finally:
        files.close()


async def measure(
    endpoint: Endpoint,
    config: BenchConfig,
    *,
    out_dir: Path | None = None,
    on_progress: OnProgress | None = None,
    before: Calibration | None = None,
) -> BenchResult:
    """As `run_bench`, in the running loop; cancelling it is its Ctrl-C."""
    target = target_of(endpoint)
    _ensure_descriptors(config)
    files = RunFiles(out_dir) if out_dir else None
    try:
        run = _Run(endpoint, target, config, files, on_progress or (lambda _: None), before=before)
        return await run.measure()
    finally:
        if files:
            files.close()


def _ensure_descriptors(config: BenchConfig) -> None:
    """Before anything is sent. How many an open loop without a cap will need, only the server knows."""
    each = math.ceil(config.connections / config.workers)
    ensure_descriptors(each, config.requests if config.concurrency is None else each)


@dataclass(frozen=True, slots=True)
class _Run:
    endpoint: Endpoint
    target: Target
    config: BenchConfig
    files: RunFiles | None
    report: OnProgress
    plan: RunPlan | None = None
    """Of a run that goes on: its model and its prompts' length are known."""
    past: Sequence[RequestRecord] = ()
    """What has ended of it."""
    before: Calibration | None = None

    async def measure(self) -> BenchResult:
        self.report(Progress("calibrate", 0, 1))
        plan = self.plan or await self._ask_first()
        if self.files and self.plan is None:
            self.files.begin(plan.as_json())
        connector = Connector(self.target, time.perf_counter, self.config.deadlines.connect_s)
        job = job_of(plan, self.past)
        idle = await open_idle(connector, self.config.connections if job.workers == 1 else 1)
        try:
            await self._warm_up(plan, connector, idle)
            return await self._load(job, connector, idle)
        finally:
            await close_idle(idle)

    async def _ask_first(self) -> RunPlan:
        """What the server must say before anything can be measured."""
        config = self.config
        try:
            model = self.endpoint.model or await only_model(self.target)
            lengths = config.input_lengths.draw(config.requests, config.seed, "input")
            usual = round(sum(lengths) / len(lengths))
            asker = Asker(self.target, model, config.api)
            calibration = await calibrate(asker, input_tokens=usual, seed=config.seed, before=self.before)
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
            self.report(Progress("warm-up", len(done), total))

        requests = other_requests(plan, self.target, WARMUP_INDEX, total)
        schedule = ClosedLoop(min(self.config.connections, total))
        deadlines, now_s = self.config.deadlines, time.perf_counter()
        await drive(requests, schedule, idle, connector, deadlines, time.perf_counter, now_s, ended)

    async def _load(self, job: Job, connector: Connector, idle: Idle) -> BenchResult:
        held: list[RequestRecord] = []
        load = Load(time.perf_counter() - job.before_s)
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
                held.append(record)
            running = load.flight.running if load.flight else None
            self.report(Progress("measure", done, self.config.requests, failed, record, running))

        partial = False
        began = datetime.now().astimezone().isoformat(timespec="seconds")
        try:
            async with (
                watched(self.endpoint, time.perf_counter, load.zero, self._keeper(SERVER_FILE)) as server,
                devices_watched(self.endpoint, time.perf_counter, load.zero, self._keeper(DEVICES_FILE)) as devices,
            ):
                if job.workers > 1:
                    await carry_by_workers(job, self.endpoint, ended, load)
                else:
                    await carry(job, self.target, connector, idle, ended, load)
        except asyncio.CancelledError:
            if done == len(self.past):
                raise
            partial, duration_s = True, time.perf_counter() - load.origin_s
        await close_idle(idle)  # they may be all the descriptors that there are
        if self.files:
            records: Sequence[RequestRecord] = self.files.records()
        else:
            records = sorted((*self.past, *held), key=lambda record: record.index)
        metrics = metrics_of(records, duration_s, self.config.slo)
        result = BenchResult(
            config=self.config,
            base_url=self.endpoint.base_url,
            model=job.plan.model,
            began=began,
            calibration=job.plan.calibration,
            records=records,
            metrics=metrics,
            client_cpu=load.cpu,
            client_lag_s=load.lag_s,
            partial=partial,
            server=server,
            devices=devices,
            planned=job.plan.planned,
            workers=job.workers,
            self_error=None if partial else await self._self_error(metrics, job.workers),
        )
        if self.files:
            self.files.finish(as_json(result))
        return result

    def _keeper(self, name: str) -> Callable[[dict[str, Any]], None]:
        files = self.files
        return (lambda row: files.append_sample(name, row)) if files else (lambda _: None)

    async def _self_error(self, metrics: Metrics, workers: int) -> SelfError | None:
        """The client's own error, under as many streams of the same speed as there were for each of its processes."""
        if not self.config.measure_client or metrics.itl_s is None:
            return None
        self.report(Progress("the client itself", 0, 1))
        # The peak counts all who ran in one second; no more than the cap ran at once.
        streams = min(metrics.peak_concurrency, self.config.concurrency or metrics.peak_concurrency)
        return await self_error(math.ceil(streams / workers), metrics.itl_s.median)
