"""One run of the load at a candidate, given up when it is hopeless or the budget ends."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from moonpad.bench.config import BenchConfig
from moonpad.bench.result import BenchResult
from moonpad.bench.run import BenchProgress, OnProgress, measure
from moonpad.load.event_loop import run_in_loop
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.load.record import RequestRecord
from moonpad.tune.worth import Ended, TuneGoal, best_possible, is_hopeless
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import Interrupted


@dataclass(slots=True)
class BoundedLoad:
    """`default`: the worth below whose share a run is hopeless; 0: none is. `reached`: the most that a hopeless run
    could still have been worth. `over`: the budget ended."""

    config: BenchConfig
    goal: TuneGoal
    default: float
    left_s: float
    show: OnProgress
    ended: list[Ended] = field(default_factory=list)
    reached: float | None = None
    over: bool = False

    def run(self, endpoint: Endpoint, folder: Path, before: PromptCalibration | None) -> BenchResult | None:
        """None where the budget ended before anything was measured; the result is partial where it was given up.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            MoonpadError: what `run_bench` raises.
        """
        try:
            result = run_in_loop(self._bounded(endpoint, folder, before))
        except asyncio.CancelledError:
            return None
        except Interrupted:
            raise KeyboardInterrupt from None
        if result.partial and not self.over and self.reached is None:
            raise KeyboardInterrupt
        return result

    async def _bounded(self, endpoint: Endpoint, folder: Path, before: PromptCalibration | None) -> BenchResult:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - for mypy

        def end_of_budget() -> None:
            self.over = True
            task.cancel()

        def watch(progress: BenchProgress) -> None:
            self.show(progress)
            if progress.phase == "measure" and progress.record is not None and self.reached is None and not self.over:
                self.ended.append(ended_of(progress.record, self.config))
                if self._is_hopeless():
                    task.cancel()

        timer = asyncio.get_running_loop().call_later(max(0.0, self.left_s), end_of_budget)
        try:
            return await measure(endpoint, self.config, out_dir=folder, on_progress=watch, before=before)
        finally:
            timer.cancel()

    def _is_hopeless(self) -> bool:
        if not self.default:
            return False
        limits, count = self.config.slo.given, self.config.requests
        elapsed_s = max(one.ended_s for one in self.ended)
        if not is_hopeless(self.ended, elapsed_s, count, self.goal, self.default, limits=limits):
            return False
        self.reached = best_possible(self.ended, elapsed_s, count, self.goal, limits=limits)
        return True


def ended_of(record: RequestRecord, config: BenchConfig) -> Ended:
    good = config.slo.keeps(record)
    return Ended(record.scheduled_s, record.closed_s, record.output_tokens, record.ok, good)
