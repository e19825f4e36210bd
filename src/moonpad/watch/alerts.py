"""What deserves a look, and what to do about it: rules over the looks at one endpoint. Pure; each is silent on a sound
endpoint, and on one that was stopped on purpose or is starting.

The same limits stand in the rules for Prometheus (prometheus.py)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.facts.probe import Unknown
from moonpad.values.finding import Severity
from moonpad.values.records import as_dict
from moonpad.values.supervision import State
from moonpad.values.units import duration
from moonpad.values.visible_text import shell_word
from moonpad.watch.look import Look, growth


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on a rule speaks. Choices of moonpad's, not of an engine's documentation."""

    hung_s: float = 30.0
    """Requests run, and no token has moved for so long; as `stall_after` of a spec's `[launch]`."""
    queue: float = 8.0
    """Waiting requests; fewer are a burst."""
    queue_s: float = 20.0
    """The queue is longer in the later half of at least so long a time than in the earlier half."""
    kv_usage: float = 0.95
    preemptions: float = 3.0
    """Within a window."""
    first_token_s: float = 10.0
    """Nine of ten first tokens come sooner on a sound endpoint."""
    first_tokens: float = 5.0
    """Requests within a window; of fewer no quantile is judged."""
    restarted_s: float = 600.0


@dataclass(frozen=True, slots=True)
class Alert:
    """`code` is never renamed: scripts match on it."""

    code: str
    severity: Severity
    message: str
    remedy: str

    def as_json(self) -> dict[str, str]:
        return {name: str(value) for name, value in as_dict(self).items()}


Rule = Callable[[Sequence[Look], Limits], "Alert | None"]


def alerts_of(looks: Sequence[Look], limits: Limits = Limits()) -> tuple[Alert, ...]:
    """Those that hold at the last of the looks, which are of one endpoint, the oldest first."""
    return tuple(alert for rule in RULES if (alert := rule(looks, limits)) is not None)


def not_answering(looks: Sequence[Look], _: Limits) -> Alert | None:
    now = looks[-1]
    if now.down_on_purpose:
        return None
    if now.run is not None and now.run.state is State.FAILED:
        return Alert("failed", Severity.ERROR, f"it is down: {now.run.because}", _doctor(now))
    before = looks[-2].health if len(looks) > 1 else now.health
    if now.health.status == 200 or (now.health.timed_out and before.status == 200):
        return None  # one late answer is a busy server
    if now.health.status is not None:
        message = f"/health answers {now.health.status}"
    else:
        message = f"/health does not answer: {now.health.text or 'no reason is known'}"
    return Alert("not-answering", Severity.ERROR, message, _log_or_reach(now))


def hung(looks: Sequence[Look], limits: Limits) -> Alert | None:
    now = looks[-1]
    if now.run is not None and now.run.state is State.STALLED:
        remedy = f"moonpad logs {_target(now)}; it is restarted where the spec has restart_on_stall = true"
        return Alert("hung", Severity.ERROR, f"it hangs: {now.run.because}", remedy)
    still = [look for look in looks if look.figure("generation_tokens") == now.figure("generation_tokens")]
    first = still[0]
    moved = any(look.figure("prompt_tokens") != now.figure("prompt_tokens") for look in still)
    busy = all((look.figure("running") or 0) > 0 for look in still)
    if now.figure("generation_tokens") is None or moved or not busy or now.at_s - first.at_s < limits.hung_s:
        return None
    message = f"{now.figure('running'):.0f} requests run, and no token has moved for {duration(now.at_s - first.at_s)}"
    # Not an error: a very long prompt looks the same until its first token.
    return Alert("hung", Severity.WARNING, message, _log_or_reach(now))


def queue_grows(looks: Sequence[Look], limits: Limits) -> Alert | None:
    queue = [(look.at_s, waiting) for look in looks if (waiting := look.figure("waiting")) is not None]
    if len(queue) < 4 or queue[-1][0] - queue[0][0] < limits.queue_s or isinstance(looks[-1].load, Unknown):
        return None
    middle = len(queue) // 2
    early, late = (statistics.median(waiting for _, waiting in half) for half in (queue[:middle], queue[middle:]))
    now = queue[-1][1]
    if now < limits.queue or late <= early or now <= early:
        return None
    message = (
        f"{now:.0f} requests wait, {early:.0f} did {duration(queue[-1][0] - queue[0][0])} ago: more come than leave"
    )
    remedy = "raise max_num_seqs if the KV cache has room, else send fewer at a time, or add a copy behind a router"
    return Alert("queue-grows", Severity.WARNING, message, remedy)


def kv_cache_full(looks: Sequence[Look], limits: Limits) -> Alert | None:
    """Full, and requests wait for it, at each of the last three looks: a full cache alone is a good use of it."""
    last = looks[-3:]
    usages = [look.figure("kv_usage") for look in last]
    waits = all((look.figure("waiting") or 0) > 0 for look in last)
    if len(last) < 2 or not waits or any(usage is None or usage < limits.kv_usage for usage in usages):
        return None
    message = f"the KV cache is {usages[-1]:.0%} full, and {last[-1].figure('waiting'):.0f} requests wait"
    remedy = "lower max_model_len or the concurrency, use an FP8 KV cache, or give the engine more memory: moonpad plan"
    return Alert("kv-cache-full", Severity.WARNING, message, remedy)


def preempted(looks: Sequence[Look], limits: Limits) -> Alert | None:
    grown = growth(looks, "preemptions")
    if grown is None or grown < limits.preemptions:
        return None
    seconds = duration(looks[-1].at_s - looks[0].at_s)
    message = f"{grown:.0f} requests were preempted in {seconds}, and are calculated again"
    remedy = "lower max_num_seqs, so that fewer requests share the KV cache, or give the cache more memory"
    return Alert("preemptions", Severity.WARNING, message, remedy)


def slow_first_token(looks: Sequence[Look], limits: Limits) -> Alert | None:
    now, first = looks[-1], next((look for look in looks[:-1] if "ttft" in look.times), None)
    if first is None or "ttft" not in now.times:
        return None
    window = now.times["ttft"].since(first.times["ttft"])
    p90 = window.quantile(0.9)
    if p90 is None or window.count < limits.first_tokens or p90.low_s < limits.first_token_s:
        return None  # the whole bucket must lie above the limit
    message = (
        f"one in ten of the last {window.count:.0f} first tokens took longer than {duration(p90.low_s)};"
        f" the limit is {duration(limits.first_token_s)}"
    )
    waits = (now.figure("waiting") or 0) > 0
    remedy = (
        "requests wait: raise max_num_seqs, or send fewer at a time"
        if waits
        else f"moonpad doctor {_endpoint(now)} measures where the time goes, by half a minute of load"
    )
    return Alert("slow-first-token", Severity.WARNING, message, remedy)


def restarted(looks: Sequence[Look], limits: Limits) -> Alert | None:
    run = looks[-1].run
    if run is None or (looks[-1].down_on_purpose and run.state is State.STOPPED):
        return None
    if run.restarted_s is None or run.restarted_s > limits.restarted_s:
        return None
    times = f"{run.restarts} restart{'s' * (run.restarts != 1)} so far"
    message = f"it was restarted {duration(run.restarted_s)} ago, {times}"
    return Alert("restarted", Severity.WARNING, message, _doctor(looks[-1]))


RULES: Final[tuple[Rule, ...]] = (
    not_answering, hung, restarted, kv_cache_full, preempted, queue_grows, slow_first_token,
)  # fmt: skip


def _target(look: Look) -> str:
    return shell_word(look.url if look.run is None else look.name)


def _endpoint(look: Look) -> str:
    """The options by which `doctor` finds it."""
    if look.run is not None and look.run.spec:
        return f"--endpoint {shell_word(look.run.spec)}"
    return f"--url {shell_word(look.url)}"


def _doctor(look: Look) -> str:
    """What names the cause of an end by the engine's log."""
    log = look.run.log_path if look.run is not None else ""
    return f"moonpad doctor --log {shell_word(log)}" if log else f"moonpad logs {_target(look)}"


def _log_or_reach(look: Look) -> str:
    if look.run is None:
        return "look at the engine's log on its host, and at the way there: a firewall, a tunnel, a proxy"
    return f"moonpad logs {_target(look)}, then {_doctor(look)}"
