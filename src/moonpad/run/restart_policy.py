"""When an engine is restarted, when it counts as hung, and when as stable. Pure: the clock is an argument.

No single sign shows a hang from the outside: `/health` answers on engines whose scheduler is stuck, a canary waits in
the queue of a busy one, and a long prefill generates nothing. An engine counts as hung when all of this holds: requests
run, no figure of its metrics has moved for `stall_after_s`, one token was requested and did not come within
`stall_probe_s`, and nothing moved meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from moonpad.facts.probe import Unknown
from moonpad.observe.metrics import EngineLoad
from moonpad.observe.readiness import ProbeAnswer
from moonpad.values.supervision import BACKOFF_LIMIT_S, Policy
from moonpad.values.units import duration


def restart_delay_s(policy: Policy, restarts: Sequence[float], now_s: float) -> float | None:
    """How long to wait before the next restart; None where no more are allowed. `restarts`: when the others were."""
    within = restarts_within(policy, restarts, now_s)
    if within >= policy.restarts:
        return None
    doublings = min(within, 32)  # far over the limit, and still a number
    return float(min(policy.restart_backoff_s * 2**doublings, BACKOFF_LIMIT_S))


def restarts_within(policy: Policy, restarts: Sequence[float], now_s: float) -> int:
    """How many of the restarts count still."""
    return sum(now_s - at_s < policy.restart_window_s for at_s in restarts)


@dataclass(frozen=True, slots=True)
class Stalled:
    """The engine hangs: what did not move, and for how long."""

    reason: str
    running: int
    waiting: int | None
    generation_tokens: int
    still_s: float


@dataclass(frozen=True, slots=True)
class Recovered:
    """The hung engine makes progress again."""

    reason: str


class StallWatch:
    """Takes samples of `/metrics` and the outcome of canaries; says when the next canary is due.

    A missing sample shows neither progress nor a hang: counters that are the same before and after such a gap have not
    moved in it.
    """

    def __init__(self, policy: Policy, *, stalled: bool = False) -> None:
        self._policy = policy
        self._last: EngineLoad | None = None
        self._still_since: float | None = None  # None: nothing runs, or nothing is known yet
        self._canary_sent = 0.0
        self._next_canary = 0.0
        self._canary_failed = False  # it timed out, and nothing has moved since it was sent
        self._unknown_since: float | None = None
        self.stalled = stalled
        self.blind = ""
        """Why a hang could not be detected at present; "" where it could."""

    def take(self, now_s: float, sample: EngineLoad | Unknown) -> Stalled | Recovered | None:
        """What the sample changes, if anything."""
        problem = _unusable(sample)
        if problem or isinstance(sample, Unknown):
            self._unknown_since = now_s if self._unknown_since is None else self._unknown_since
            if not self.blind and now_s - self._unknown_since >= self._policy.stall_after_s:
                self.blind = problem
            return None
        self._unknown_since, self.blind = None, ""
        moved = self._last is not None and _figures(sample) != _figures(self._last)
        if moved or not sample.running:
            self._canary_failed = False
        if not sample.running:
            self._still_since = None
        elif moved or self._still_since is None:
            self._still_since = now_s
        self._last = sample
        if self.stalled:
            return self._recovered("tokens are generated again") if moved else None
        return self._judge(now_s, sample) if self._canary_failed else None

    def canary_due(self, now_s: float) -> bool:
        """Whether one token is to be requested: nothing moves though requests run, or a hung engine has no requests
        left that could show that it has recovered."""
        if now_s < self._next_canary or self._last is None:
            return False
        if self.stalled:
            return not self._last.running
        return (
            not self._canary_failed
            and self._still_since is not None
            and now_s - self._still_since >= self._policy.stall_after_s
        )

    def canary_sent(self, now_s: float) -> None:
        """A canary is on its way."""
        self._canary_sent = now_s

    def take_canary(self, now_s: float, answer: ProbeAnswer) -> Recovered | None:
        """The canary's outcome. Only a time-out counts against the engine, and the sample after it decides; a refusal
        shows that the engine responds, and the next canary is sent `stall_after_s` later."""
        self._next_canary = now_s + self._policy.stall_after_s
        if answer.ok:
            self._still_since = None if self._still_since is None else now_s
            return self._recovered("one token came back") if self.stalled else None
        still = self._still_since is not None and self._still_since <= self._canary_sent
        if not still and not self.stalled:
            self._next_canary = now_s  # what has moved meanwhile has its own `stall_after_s`
        self._canary_failed = answer.timed_out and still and not self.stalled
        return None

    def _judge(self, now_s: float, sample: EngineLoad) -> Stalled | None:
        if self._still_since is None or sample.running is None or sample.generation_tokens is None:
            return None
        self._canary_failed = False
        self.stalled = True
        still_s = now_s - self._still_since
        count = f"{sample.running:.0f} request{' runs' if sample.running == 1 else 's run'}"
        reason = (
            f"the engine hangs: {count}, nothing has moved for {duration(still_s)}, "
            f"and one token did not come within {duration(self._policy.stall_probe_s)}"
        )
        waiting = None if sample.waiting is None else int(sample.waiting)
        return Stalled(reason, int(sample.running), waiting, int(sample.generation_tokens), round(still_s, 3))

    def _recovered(self, reason: str) -> Recovered:
        self.stalled = False
        return Recovered(reason)


def _unusable(sample: EngineLoad | Unknown) -> str:
    """Why nothing can be concluded from the sample, "" where something can."""
    if isinstance(sample, Unknown):
        return sample.reason
    counts = {"running requests": sample.running, "generated tokens": sample.generation_tokens}
    missing = [name for name, value in counts.items() if value is None]
    return f"/metrics has no count of {' and '.join(missing)}" if missing else ""


def _figures(load: EngineLoad) -> tuple[float | None, ...]:
    """What changes while an engine works. A chunked prefill changes only the KV cache's usage."""
    return load.generation_tokens, load.prompt_tokens, load.kv_usage


class StableWatch:
    """*Stable* is `min_healthy_s` after ready without a failed probe; each failed one restarts the count."""

    def __init__(self, policy: Policy, ready_s: float, *, stable: bool = False) -> None:
        self._min_healthy_s = policy.min_healthy_s
        self._since: float | None = ready_s
        self.stable = stable
        """Once true, it stays true for this generation."""

    @property
    def healthy(self) -> bool:
        """Whether the last probe was answered with 200."""
        return self._since is not None

    def take(self, now_s: float, ok: bool) -> str | None:
        """One `/health` probe. The event that it makes: `stable`, `unhealthy` on the change to failing, or None."""
        if not ok:
            changed = self.healthy
            self._since = None
            return "unhealthy" if changed else None
        if self._since is None:
            self._since = now_s
        if not self.stable and now_s - self._since >= self._min_healthy_s:
            self.stable = True
            return "stable"
        return None
