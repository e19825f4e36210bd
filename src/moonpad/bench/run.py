"""Warm-up, then N requests, then the figures."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from moonpad.bench.config import BenchConfig
from moonpad.bench.folder import RunFiles
from moonpad.bench.metrics import Metrics, metrics_of
from moonpad.bench.model_name import only_model
from moonpad.bench.result import BenchResult, as_json
from moonpad.bench.resume import RunPlan, read_plan, read_records
from moonpad.bench.server_watch import watched
from moonpad.load.calibrate import Calibration, calibrate
from moonpad.load.chat import chat_request
from moonpad.load.client import Connector
from moonpad.load.failure import RequestFailed
from moonpad.load.loop import run_in_loop
from moonpad.load.record import LoadRequest, RequestRecord
from moonpad.load.schedule import LEAD_S, ClosedLoop, Idle, OpenLoop, Schedule, drive, open_idle
from moonpad.load.self_error import SelfError, self_error
from moonpad.load.target import Target, target_of
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost, Interrupted

# Indices of warm-up prompts; calibration has those just below zero.
WARMUP_INDEX = -1000


@dataclass(frozen=True, slots=True)
class Progress:
    """`phase`: "calibrate", "warm-up", "measure" or "the client itself". `record`: the request that has just ended."""

    phase: str
    done: int
    total: int
    failed: int = 0
    record: RequestRecord | None = None


OnProgress = Callable[[Progress], None]


def run_bench(
    endpoint: Endpoint, config: BenchConfig, *, out_dir: Path | None = None, on_progress: OnProgress | None = None
) -> BenchResult:
    """Measures the endpoint; blocks until done. Ctrl-C gives what was measured so far, marked partial.

    Raises:
        UsageError: the endpoint, the model or `out_dir` cannot be used.
        ContactLost: nothing answers there.
        CheckFailed: the endpoint refuses a plain request, or a result could not be written.
        Interrupted: Ctrl-C before the first measured request.
    """
    try:
        return run_in_loop(measure(endpoint, config, out_dir=out_dir, on_progress=on_progress))
    except KeyboardInterrupt as error:
        raise Interrupted("interrupted before a request was measured") from error


def resume_bench(endpoint: Endpoint, folder: Path, *, on_progress: OnProgress | None = None) -> BenchResult:
    """Goes on with the run of a folder: what has ended there is not sent again. Raises what `run_bench` raises."""
    plan, past = read_plan(folder), read_records(folder)
    try:
        return run_in_loop(_resumed(endpoint, plan, past, folder, on_progress or (lambda _: None)))
    except KeyboardInterrupt as error:
        raise Interrupted("interrupted before a further request was measured") from error


async def _resumed(
    endpoint: Endpoint, plan: RunPlan, past: tuple[RequestRecord, ...], folder: Path, report: OnProgress
) -> BenchResult:
    files = RunFiles(folder, resume=True)
    try:
        run = _Run(replace(endpoint, model=plan.model), target_of(endpoint), plan.config, files, report, plan, past)
        return await run.measure()
    finally:
        files.close()


async def measure(
    endpoint: Endpoint, config: BenchConfig, *, out_dir: Path | None = None, on_progress: OnProgress | None = None
) -> BenchResult:
    """As `run_bench`, in the running loop; cancelling it is its Ctrl-C."""
    target = target_of(endpoint)
    files = RunFiles(out_dir) if out_dir else None
    try:
        return await _Run(endpoint, target, config, files, on_progress or (lambda _: None)).measure()
    finally:
        if files:
            files.close()


@dataclass(frozen=True, slots=True)
class _Run:
    endpoint: Endpoint
    target: Target
    config: BenchConfig
    files: RunFiles | None
    report: OnProgress
    plan: RunPlan | None = None
    """Of a run that goes on: its model and its prompts' length are known."""
    past: tuple[RequestRecord, ...] = ()
    """What has ended of it."""

    async def measure(self) -> BenchResult:
        self.report(Progress("calibrate", 0, 1))
        if self.plan is not None:
            model, calibration = self.plan.model, self.plan.calibration
        else:
            model, calibration = await self._ask_first()
            if self.files:
                self.files.begin(RunPlan(self.config, model, calibration).as_json())
        connector = Connector(self.target, time.perf_counter, self.config.deadlines.connect_s)
        idle = await open_idle(connector, self.config.connections)
        try:
            await self._warm_up(model, calibration, connector, idle)
            requests = self._requests(model, calibration, 0, self.config.requests)
            return await self._load(model, calibration, connector, idle, requests)
        finally:
            for connection in idle:
                connection.close()

    async def _ask_first(self) -> tuple[str, Calibration]:
        """What the server must say before anything can be measured."""
        config = self.config
        try:
            model = self.endpoint.model or await only_model(self.target)
            lengths = config.input_lengths.draw(config.requests, config.seed, "input")
            usual = round(sum(lengths) / len(lengths))
            return model, await calibrate(self.target, model, input_tokens=usual, seed=config.seed)
        except RequestFailed as failed:
            raise ContactLost(
                f"{self.endpoint.base_url} does not answer: {failed.failure.text}", remedy="moonpad status"
            ) from failed

    async def _warm_up(self, model: str, calibration: Calibration, connector: Connector, idle: Idle) -> None:
        total = self.config.warmup
        done: list[RequestRecord] = []

        def ended(record: RequestRecord) -> None:
            done.append(record)
            self.report(Progress("warm-up", len(done), total))

        requests = self._requests(model, calibration, WARMUP_INDEX, total)
        schedule = ClosedLoop(min(self.config.connections, total))
        await self._drive(requests, schedule, connector, idle, time.perf_counter(), ended)

    async def _load(
        self,
        model: str,
        calibration: Calibration,
        connector: Connector,
        idle: Idle,
        requests: list[LoadRequest],
    ) -> BenchResult:
        records: list[RequestRecord] = list(self.past)
        failed = sum(not record.ok for record in records)
        ended_before = {record.index for record in records}
        left = [request for request in requests if request.index not in ended_before]

        def ended(record: RequestRecord) -> None:
            nonlocal failed
            records.append(record)
            failed += not record.ok
            if self.files:
                self.files.append(record)
            self.report(Progress("measure", len(records), len(requests), failed, record))

        partial = False
        began = datetime.now().astimezone().isoformat(timespec="seconds")
        # A run that goes on has one axis: its second part begins where the first one ended.
        before_s = max((record.closed_s for record in records), default=0.0)
        cpu_s, begun_s = time.process_time(), time.perf_counter()
        origin_s = begun_s + LEAD_S - before_s  # all that is due at once is ready by then
        try:
            async with watched(self.endpoint, time.perf_counter, origin_s) as server:
                try:
                    await self._drive(left, self._schedule(left, before_s), connector, idle, origin_s, ended)
                finally:
                    now_s, cpu_s = time.perf_counter(), time.process_time() - cpu_s
        except asyncio.CancelledError:
            if len(records) == len(self.past):
                raise
            partial = True
        wall_s = now_s - origin_s
        records.sort(key=lambda record: record.index)
        metrics = metrics_of(records, wall_s, self.config.slo)
        result = BenchResult(
            config=self.config,
            base_url=self.endpoint.base_url,
            model=model,
            began=began,
            calibration=calibration,
            records=tuple(records),
            metrics=metrics,
            client_cpu=cpu_s / max(now_s - begun_s, 1e-9),
            partial=partial,
            server=server,
            self_error=None if partial else await self._self_error(metrics),
        )
        if self.files:
            self.files.write_samples(sample.as_json() for sample in server.samples)
            self.files.finish(as_json(result))
        return result

    async def _self_error(self, metrics: Metrics) -> SelfError | None:
        """The client's own error, under as many streams of the same speed as there were."""
        if not self.config.measure_client or metrics.itl_s is None:
            return None
        self.report(Progress("the client itself", 0, 1))
        # The peak counts all who ran in one second; no more than the cap ran at once.
        streams = min(metrics.peak_concurrency, self.config.concurrency or metrics.peak_concurrency)
        return await self_error(streams, metrics.itl_s.median)

    async def _drive(
        self,
        requests: list[LoadRequest],
        schedule: Schedule,
        connector: Connector,
        idle: Idle,
        origin_s: float,
        ended: Callable[[RequestRecord], None],
    ) -> None:
        await drive(requests, schedule, idle, connector, self.config.deadlines, time.perf_counter, origin_s, ended)

    def _schedule(self, left: Sequence[LoadRequest], before_s: float) -> Schedule:
        """Arrivals that are left keep their gaps; the first of them comes at once."""
        config = self.config
        if config.arrivals is None:
            return ClosedLoop(config.connections, before_s)
        instants = config.arrivals.instants_s(config.requests, config.seed)
        shift_s = before_s - instants[left[0].index] if self.past and left else 0.0
        return OpenLoop([instant + shift_s for instant in instants], config.concurrency)

    def _requests(self, model: str, calibration: Calibration, first: int, count: int) -> list[LoadRequest]:
        config = self.config
        inputs = config.input_lengths.draw(count, config.seed, f"input {first}" if first < 0 else "input")
        outputs = config.output_lengths.draw(count, config.seed, f"output {first}" if first < 0 else "output")
        one_length = config.input_lengths.fixed is not None
        return [
            chat_request(
                self.target,
                model,
                seed=config.seed,
                index=first + number,
                words=calibration.words if one_length else calibration.words_of(inputs[number]),
                input_tokens=inputs[number],
                output_tokens=outputs[number],
                ignore_eos=config.ignore_eos,
                temperature=config.temperature,
            )
            for number in range(count)
        ]
