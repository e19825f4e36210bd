"""The requests of a plan, and when each is due: the same in every process that makes them."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from moonpad.bench.run_plan import RunPlan
from moonpad.load.chat import chat_request
from moonpad.load.record import LoadRequest
from moonpad.load.schedule import ClosedLoop, OpenLoop, Schedule
from moonpad.load.target import Target


@dataclass(frozen=True, slots=True)
class Share:
    """Part `at` of a load that `of` processes carry: every `of`-th request, and so many of the users."""

    at: int = 0
    of: int = 1

    def has(self, number: int) -> bool:
        return number % self.of == self.at

    def part(self, count: int) -> int:
        """The parts of all shares add up to `count`."""
        return count // self.of + (self.at < count % self.of)


WHOLE = Share()


def measured_requests(
    plan: RunPlan, target: Target, share: Share = WHOLE, ended: Container[int] = ()
) -> list[LoadRequest]:
    """Those of a share that have not ended before, as bytes."""
    config = plan.config
    inputs = config.input_lengths.draw(config.requests, config.seed, "input")
    outputs = config.output_lengths.draw(config.requests, config.seed, "output")
    return [
        _request(plan, target, index, inputs[index], outputs[index])
        for index in range(config.requests)
        if share.has(index) and index not in ended
    ]


def other_requests(plan: RunPlan, target: Target, first: int, count: int) -> list[LoadRequest]:
    """Warm-up: `first` is below zero, so that none of them is a measured one."""
    config = plan.config
    inputs = config.input_lengths.draw(count, config.seed, f"input {first}")
    outputs = config.output_lengths.draw(count, config.seed, f"output {first}")
    return [_request(plan, target, first + number, inputs[number], outputs[number]) for number in range(count)]


def schedule_of(plan: RunPlan, share: Share = WHOLE, before_s: float = 0.0, first: int = 0) -> Schedule:
    """Of a run that goes on at `before_s` with request `first`, the arrivals that are left keep their gaps."""
    config = plan.config
    if config.arrivals is None:
        return ClosedLoop(share.part(config.connections), before_s)
    instants = config.arrivals.instants_s(config.requests, config.seed)
    shift_s = before_s - instants[first] if before_s > 0 else 0.0
    cap = None if config.concurrency is None else share.part(config.concurrency)
    return OpenLoop([instant + shift_s for instant in instants], cap)


def _request(plan: RunPlan, target: Target, index: int, input_tokens: int, output_tokens: int) -> LoadRequest:
    config, calibration = plan.config, plan.calibration
    one_length = config.input_lengths.fixed is not None
    return chat_request(
        target,
        plan.model,
        seed=config.seed,
        index=index,
        words=calibration.words if one_length else calibration.words_of(input_tokens),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        ignore_eos=config.ignore_eos,
        temperature=config.temperature,
    )
