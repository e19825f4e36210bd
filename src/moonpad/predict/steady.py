"""The steady state of a workload in closed form: for ranking dozens of plans at once.

A request takes a prefill and then one step a token. While one decodes, the others' prompts are computed in between, so
that a token takes a step and its share of them; how many decode at once follows by Little's law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from moonpad.predict.cost import StepCost
from moonpad.predict.scheduler_policy import SchedulerPolicy, refuse_too_long
from moonpad.values.workload import Workload

ROUNDS: Final = 40
FULL: Final = 0.995
"""A share of its capacity beyond which an open loop counts as saturated."""


@dataclass(frozen=True, slots=True)
class Steady:
    ttft_s: float
    tpot_s: float
    requests_per_s: float
    decodes: float
    context: float
    """Tokens of all sequences that decode."""
    waiting_s: float
    """Of the time to the first token: before anything of the request is computed."""
    saturated: bool = False


def steady_state(workload: Workload, policy: SchedulerPolicy, cost: StepCost) -> Steady:
    """Raises PreflightRefused where the longest request has no room."""
    refuse_too_long(workload.input.longest + workload.output.longest, policy)
    prompt = workload.input.mean
    new = prompt * (1 - (workload.shared_prefix if policy.prefix_caching else 0.0))
    answer = max(1.0, workload.output.mean)
    steps = max(0.0, answer - 1) / policy.tokens_per_step
    held = new + answer / 2
    room = min(float(policy.sequences), policy.kv_tokens / (held + policy.reserved * answer / 2))
    room = max(1.0, room)
    if workload.rate_per_s is None:
        most = float(workload.concurrency or 1)
        return _closed(cost, policy, prompt, new, steps, most, min(most, room))
    full = _closed(cost, policy, prompt, new, steps, room, room)
    if workload.rate_per_s >= full.requests_per_s * FULL:
        return _overloaded(workload, full)
    return _open(cost, policy, prompt, new, steps, workload.rate_per_s)


@dataclass(frozen=True, slots=True)
class _Step:
    """With so many that decode: seconds of a plain step, what each of the prompts that are computed together adds to
    the steps, and what they add together; the tokens of context."""

    plain: float
    prefill: float
    whole: float
    context: float

    def together(self, rate: float, most: float) -> float:
        """Prompts that arrive during a step share the next one, where there is any: the mean of a Poisson variable that
        is not 0. The longer steps are those that compute prompts."""
        busy = min(1.0, rate * self.prefill)
        arrived = rate * (self.plain + busy * self.whole)
        return min(most, arrived / -math.expm1(-arrived)) if arrived > 0 else 1.0


def _most_together(policy: SchedulerPolicy, new: float) -> float:
    return max(1.0, policy.step_limit / min(new, float(policy.step_tokens)))


def _step(
    cost: StepCost,
    policy: SchedulerPolicy,
    prompt: float,
    new: float,
    steps: float,
    decodes: float,
    together: float,
) -> _Step:
    context = decodes * (prompt + steps * policy.tokens_per_step / 2)
    beside = decodes if policy.mixes else 0.0
    pieces = max(1, math.ceil(new / policy.step_tokens))
    size = new / pieces
    done, total = prompt - new, 0.0
    for _ in range(pieces):
        pairs = together * size * (done + size / 2)
        total += cost.seconds(beside, decodes * prompt if beside else 0.0, together * size, pairs, together)
        done += size
    whole = total - (pieces * cost.seconds(beside, decodes * prompt, 0.0, 0.0, 0) if beside else 0.0)
    plain = cost.seconds(max(decodes, 1.0), max(context, prompt), 0.0, 0.0, 0)
    return _Step(plain, whole / together, whole, context)


def _closed(
    cost: StepCost, policy: SchedulerPolicy, prompt: float, new: float, steps: float, clients: float, room: float
) -> Steady:
    decodes, together, most = (room if steps else 0.0), 1.0, min(room, _most_together(policy, new))
    for _ in range(ROUNDS):
        step = _step(cost, policy, prompt, new, steps, decodes, together)
        # In one round each of those with a place has its prompt computed, and a step for each token.
        first = step.whole + step.plain / 2
        cycle = max(steps * step.plain + room * step.prefill, first + steps * step.plain)
        following = room * max(0.0, 1 - first / cycle) if steps else 0.0
        shared = step.together(room / cycle, most)
        if abs(following - decodes) < 1e-3 * room and abs(shared - together) < 0.01 * together:
            break
        decodes, together = (decodes + following) / 2, (together + shared) / 2
    rate = room / cycle
    tpot = (cycle - first) / (steps * policy.tokens_per_step) if steps else 0.0
    # Prompts meet in the queue now and then.
    busy = min(0.95, rate * step.prefill)
    queue = busy * step.prefill / 2
    waiting = (clients - room) / rate
    return Steady(first + queue + waiting, tpot, rate, decodes, step.context, waiting)


def _open(cost: StepCost, policy: SchedulerPolicy, prompt: float, new: float, steps: float, rate: float) -> Steady:
    # A queue that grows is computed in larger batches, so that the steady state is found from there.
    together = most = _most_together(policy, new)
    decodes = 1.0
    for _ in range(ROUNDS):
        step = _step(cost, policy, prompt, new, steps, decodes, together)
        busy = min(0.99, rate * step.prefill)
        token_s = step.plain / (1 - busy)
        following, shared = rate * steps * token_s, step.together(rate, most)
        if abs(following - decodes) < 1e-3 * max(1.0, decodes) and abs(shared - together) < 0.01 * together:
            break
        decodes, together = (decodes + following) / 2, (together + shared) / 2
    waiting = busy * step.prefill / (2 * (1 - busy))
    first = step.whole + step.plain / 2
    return Steady(first + waiting, token_s / policy.tokens_per_step, rate, decodes, step.context, waiting)


def _overloaded(workload: Workload, full: Steady) -> Steady:
    """What arrives beyond capacity waits: half of the run's surplus on average."""
    sent_s = workload.count / (workload.rate_per_s or 1.0)
    served_s = workload.count / full.requests_per_s
    waiting = max(0.0, served_s - sent_s) / 2
    return Steady(
        full.ttft_s + waiting, full.tpot_s, full.requests_per_s, full.decodes, full.context, waiting, saturated=True
    )
