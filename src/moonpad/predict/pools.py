"""Prefill and decode in servers of their own: a request is computed in one pool, moves, and is written in the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moonpad.catalog.step_constants import StepConstants
from moonpad.predict.calibrate import StepCalibration
from moonpad.predict.cost import StepCost
from moonpad.predict.figures import Figures
from moonpad.predict.prediction import constants_for, prediction_of
from moonpad.predict.ranges import kind_of
from moonpad.predict.scheduler_policy import policy_of, refuse_too_long
from moonpad.predict.serving_plan import ServingPlan
from moonpad.predict.stage_shape import kv_bytes_per_layer
from moonpad.values.prediction import Prediction
from moonpad.values.workload import Workload

ROUNDS: Final = 60
RUN_OF_CLIENTS: Final = 10
"""Requests of a run for each client, where it does not say how many: as published runs have them."""
FULLEST: Final = 0.98
"""Of a pool in an open loop; beyond it the queue has no steady state."""


@dataclass(frozen=True, slots=True)
class PoolOf:
    """So many servers that are alike."""

    plan: ServingPlan
    servers: int = 1

    @property
    def devices(self) -> int:
        return self.servers * self.plan.configuration.layout.world_size


def predict_pools(
    prefill: PoolOf, decode: PoolOf, workload: Workload, *, calibration: StepCalibration | None = None
) -> Prediction:
    """The steady state. Requests go to the servers of a pool evenly; prompts queue for a prefill server as in M/D/1.

    Raises:
        PreflightRefused: a request does not fit the KV cache of decoding, or memory cannot be planned.
    """
    constants, standing, because = constants_for(decode.plan.configuration, calibration)
    first_constants, _, _ = constants_for(prefill.plan.configuration, calibration)
    cost = StepCost(decode.plan, constants, workload.acceptance)
    first = StepCost(prefill.plan, first_constants, workload.acceptance)
    figures = _steady(prefill, decode, workload, first, cost)
    kind = kind_of(decode.plan.configuration)
    return prediction_of(workload, figures, cost, prefill.devices + decode.devices, standing, because, kind)


def _steady(prefill: PoolOf, decode: PoolOf, workload: Workload, first: StepCost, cost: StepCost) -> Figures:
    prompt, answer = workload.input.mean, workload.output.mean
    new = prompt * (1 - workload.shared_prefix)
    step_tokens, replicas = policy_of(prefill.plan).step_tokens, prefill.plan.configuration.layout.dp
    compute_s = _prompt_seconds(first, step_tokens, prompt, new)
    # Under load a step has a prompt on each replica, and several short ones.
    together = replicas * max(1, int(step_tokens // new))
    served = prefill.servers * together / _prompt_seconds(first, step_tokens * together, prompt, new, together)
    move_s = transfer_seconds(prefill.plan, cost.constants, prompt)
    policy = policy_of(decode.plan, cost.tokens_per_step)
    refuse_too_long(workload.input.longest + workload.output.longest, policy)
    steps = max(0.0, answer - 1) / policy.tokens_per_step
    room = min(float(policy.sequences), policy.kv_tokens / (prompt + answer / 2)) * decode.servers
    way = first.request_seconds(prompt)
    most = FULLEST * served
    rate, decodes, step_s, waiting, held = min(most, workload.rate_per_s or most), 1.0, 0.0, 0.0, 0.0
    for _ in range(ROUNDS):
        each = max(1.0, decodes / decode.servers)
        step_s = cost.seconds(each, each * (prompt + answer / 2))
        busy = min(FULLEST, rate / served)
        waiting = busy * compute_s / (2 * (1 - busy))
        if workload.rate_per_s is None:
            clients = float(workload.concurrency or 1)
            cycle = way + waiting + compute_s + move_s + steps * step_s
            able = min(clients / cycle, most, room / max(steps * step_s, 1e-9))
            rate += (able - rate) / 2
            # What no server has room for waits.
            held = max(0.0, clients / rate - cycle)
        decodes += (min(room, rate * steps * step_s) - decodes) / 2
    ttft = way + waiting + held + compute_s + move_s
    tpot = step_s / policy.tokens_per_step
    # All clients send at once at the start: each of the first waits for half of them, which the mean has and the median
    # has not.
    burst = 0.0
    if workload.rate_per_s is None:
        clients = float(workload.concurrency or 1)
        burst = clients / (2 * served) * min(1.0, clients / (workload.requests or RUN_OF_CLIENTS * clients))
    capacity = min(most, room / max(steps * step_s, 1e-9))
    return Figures(
        ttft_s=ttft,
        tpot_s=tpot,
        ttft_mean_s=ttft + burst,
        tpot_mean_s=tpot,
        e2el_s=ttft + tpot * (answer - 1),
        ttft_p95_s=ttft + 2 * max(waiting, 0.25 * compute_s),
        tpot_p95_s=tpot * 1.1,
        requests_per_s=rate,
        output_tokens_per_s=rate * answer,
        total_tokens_per_s=rate * (answer + prompt),
        decodes=max(1.0, decodes / decode.servers),
        context=max(1.0, decodes / decode.servers) * (prompt + answer / 2),
        saturated=workload.rate_per_s is not None and workload.rate_per_s > capacity,
        waiting_s=waiting,
    )


def _prompt_seconds(cost: StepCost, step_tokens: int, prompt: float, new: float, together: int = 1) -> float:
    """Of so many prompts in the same steps, which have `step_tokens` for all of them."""
    done, total = prompt - new, 0.0
    while done < prompt:
        size = min(step_tokens / together, prompt - done)
        total += cost.seconds(0, 0.0, size * together, together * size * (done + size / 2), together)
        done += size
    return total


def transfer_seconds(plan: ServingPlan, constants: StepConstants, prompt: float) -> float:
    """The KV cache of one prompt over the network cards of the ranks that hold it: every tensor-parallel rank has the
    same latents, of which one copy moves over all of their cards."""
    configuration = plan.configuration
    layers = configuration.architecture.mla_between(0, configuration.architecture.layers)
    network = (configuration.device.network_bits_per_s or 200e9) / 8 * constants.network
    cards = configuration.layout.tp * configuration.layout.pp
    return constants.network_s + prompt * layers * kv_bytes_per_layer(configuration) / network / cards
