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


def _prefill(
    cost: StepCost, policy: SchedulerPolicy, prompt: float, new: float, decodes: float, due: float
) -> tuple[float, float]:
    """(seconds that computing one prompt adds to the steps of those that decode meanwhile, those until it is computed);
    alone where none decodes. `due`: prompts that come in one step, which are computed together where they have room."""
    context = decodes * prompt
    pieces = max(1, math.ceil(new / policy.step_tokens))
    together = max(1.0, min(due, policy.step_limit * pieces / max(new, 1.0)))
    done, total = prompt - new, 0.0
    beside = decodes if policy.mixes else 0.0
    for _ in range(pieces):
        size = new / pieces
        pairs = together * size * (done + size / 2)
        total += cost.seconds(beside, context if beside else 0.0, together * size, pairs, math.ceil(together))
        done += size
    added = total - (pieces * cost.seconds(beside, context) if beside else 0.0)
    return added / together, added


def _token(
    cost: StepCost, policy: SchedulerPolicy, prompt: float, new: float, steps: float, decodes: float, due: float
) -> tuple[float, float, float, float]:
    """(seconds of a plain step, what one prompt adds, until one is computed, tokens of context) with so many that
    decode."""
    context = decodes * (prompt + steps * policy.tokens_per_step / 2)
    plain = cost.seconds(max(decodes, 1.0), max(context, prompt))
    return plain, *_prefill(cost, policy, prompt, new, decodes, due), context


def _closed(
    cost: StepCost, policy: SchedulerPolicy, prompt: float, new: float, steps: float, clients: float, room: float
) -> Steady:
    decodes = room if steps else 0.0
    for _ in range(ROUNDS):
        # As many as end in a step come in it; where nothing decodes, all that have a place.
        due = decodes / steps if steps else room
        plain, prefill, latency, context = _token(cost, policy, prompt, new, steps, decodes, due)
        # In one round each of those with a place has its prompt computed, and a step for each token.
        first = latency + plain / 2
        cycle = max(steps * plain + room * prefill, first + steps * plain)
        following = room * max(0.0, 1 - first / cycle) if steps else 0.0
        if abs(following - decodes) < 1e-3 * room:
            break
        decodes = (decodes + following) / 2
    rate = room / cycle
    tpot = (cycle - first) / (steps * policy.tokens_per_step) if steps else 0.0
    # Prompts meet in the queue now and then.
    busy = min(0.95, rate * prefill)
    queue = busy * latency / 2
    waiting = (clients - room) / rate
    return Steady(first + queue + waiting, tpot, rate, decodes, context, waiting)


def _open(cost: StepCost, policy: SchedulerPolicy, prompt: float, new: float, steps: float, rate: float) -> Steady:
    decodes, step = 1.0, 0.0
    for _ in range(ROUNDS):
        plain, prefill, latency, context = _token(cost, policy, prompt, new, steps, decodes, rate * step)
        busy = min(0.99, rate * prefill)
        step = plain / (1 - busy)
        following = rate * steps * step
        if abs(following - decodes) < 1e-3 * max(1.0, decodes):
            break
        decodes = (decodes + following) / 2
    waiting = busy * latency / (2 * (1 - busy))
    tpot = step / policy.tokens_per_step
    return Steady(latency + plain / 2 + waiting, tpot, rate, decodes, context, waiting)


def _overloaded(workload: Workload, full: Steady) -> Steady:
    """What arrives beyond capacity waits: half of the run's surplus on average."""
    sent_s = workload.count / (workload.rate_per_s or 1.0)
    served_s = workload.count / full.requests_per_s
    waiting = max(0.0, served_s - sent_s) / 2
    return Steady(
        full.ttft_s + waiting, full.tpot_s, full.requests_per_s, full.decodes, full.context, waiting, saturated=True
    )
