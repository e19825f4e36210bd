"""Which of the known reasons explains an endpoint's slowness, each with the share of a request's time that it takes.

Each is asked of the figures by itself, and is a cause, is none, or cannot be told: what was not measured is not passed.
Thresholds are where the reason takes a part of a request's time that a user would notice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from moonpad.doctor.slow_facts import ServerFigures, SlowFacts
from moonpad.values.records import as_dict

NOTICED: Final = 0.2
"""Of a request's time."""
FULL: Final = 0.95
"""Of the KV cache: what is left is less than one more request needs."""
FEW_REQUESTS: Final = 5
ROOM: Final = 2.0
"""Times the throughput of one stream that several together reach: then one stream leaves most of the engine idle."""
HELD: Final = 0.6
"""Devices that work less of the time than this wait for the host between steps."""
ENGINE_SHARE: Final = 0.7
"""Of the gap between tokens at the client: where the engine's own gap is less, something behind it takes the rest."""
TOGETHER: Final = 3.0
"""Tokens a chunk: engines send one, or a few with speculative decoding; more is a buffer on the way."""

Standing = Literal["cause", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`share`: of a request's time, None where it cannot be said so."""

    reason: str
    standing: Standing
    message: str
    remedy: str = ""
    share: float | None = None

    def as_json(self) -> dict[str, Any]:
        return as_dict(self)


def explain_slowness(facts: SlowFacts) -> tuple[Verdict, ...]:
    """Causes first, the largest share first; then what is none; then what cannot be told."""
    verdicts = [check(facts) for check in CHECKS]
    rank = {"cause": 0, "no": 1, "unknown": 2}
    return tuple(sorted(verdicts, key=lambda each: (rank[each.standing], -(each.share or 0.0))))


def queueing(facts: SlowFacts) -> Verdict:
    users, idle = facts.users, facts.idle
    full = idle is not None and (idle.kv_usage or 0.0) >= FULL
    room = "more memory for the KV cache, shorter contexts, or one more copy" if full else (
        "let more requests run at once (the limit of sequences), or add a copy"
    )  # fmt: skip
    if users is not None and users.queued_s is not None and users.whole_s and users.requests >= FEW_REQUESTS:
        share = users.queued_s / users.whole_s
        message = f"requests wait {_s(users.queued_s)} of their {_s(users.whole_s)} before anything is read"
        if share >= NOTICED:
            return Verdict("queueing", "cause", f"{message}{_now(idle)}", room, share)
        if not _waits(idle):
            return Verdict("queueing", "no", message, share=share)
    if idle is None or idle.waiting is None:
        return Verdict("queueing", "unknown", "the engine does not say how many requests wait")
    if _waits(idle):
        share = idle.waiting / (idle.waiting + (idle.running or 0.0))
        return Verdict("queueing", "cause", f"requests wait at this moment{_now(idle)}", room, share)
    return Verdict("queueing", "no", f"{idle.waiting:.0f} requests waited while {idle.running or 0:.0f} ran")


def _waits(window: ServerFigures | None) -> bool:
    return window is not None and (window.waiting or 0.0) >= 1.0


def _now(window: ServerFigures | None) -> str:
    if window is None or window.waiting is None:
        return ""
    cache = "" if window.kv_usage is None else f", with {window.kv_usage:.0%} of the KV cache in use"
    return f"; {window.waiting:.0f} wait now while {window.running or 0:.0f} run{cache}"


def preemption(facts: SlowFacts) -> Verdict:
    windows = [window for window in (facts.idle, facts.loaded) if window and window.preemptions is not None]
    if not windows:
        return Verdict("preemption", "unknown", "the engine counts no preemptions")
    count = sum(window.preemptions or 0.0 for window in windows)
    used = max((window.kv_usage or 0.0 for window in windows), default=0.0)
    seconds = sum(window.seconds for window in windows)
    if count > 0:
        message = f"{count:.0f} requests lost their KV cache in {seconds:.0f} s and are read again"
        remedy = (
            "let fewer requests run at once, or give the KV cache more memory: what is thrown away is computed twice"
        )
        return Verdict("preemption", "cause", message, remedy)
    return Verdict("preemption", "no", f"none in {seconds:.0f} s; at most {used:.0%} of the KV cache was in use")


def long_prompts(facts: SlowFacts) -> Verdict:
    users = facts.users
    if users is None or users.requests < FEW_REQUESTS:
        return Verdict("long prompts", "unknown", "too few requests of users to tell: fewer than 5 have ended")
    if users.prefill_s is None or not users.whole_s:
        return Verdict("long prompts", "unknown", "the engine does not say how long it reads prompts")
    share = users.prefill_s / users.whole_s
    tokens = "" if users.prompt_tokens is None else f" of {users.prompt_tokens:,.0f} tokens"
    hits = "" if users.prefix_hit_rate is None else f"; {users.prefix_hit_rate:.0%} of them were in the prefix cache"
    message = f"reading a prompt{tokens} takes {_s(users.prefill_s)} of a request's {_s(users.whole_s)}{hits}"
    if share >= NOTICED:
        remedy = (
            "shorten what is sent each time, put what is common first so that the prefix cache serves it, or give "
            "prefill copies of its own"
        )
        return Verdict("long prompts", "cause", message, remedy, share)
    return Verdict("long prompts", "no", message, share=share)


def low_batch(facts: SlowFacts) -> Verdict:
    alone, together = facts.alone, facts.together
    if alone.output_tokens_per_s <= 0:
        return Verdict("low batch", "unknown", "the short load had no output to count")
    gain = together.output_tokens_per_s / alone.output_tokens_per_s
    message = (
        f"one stream gets {alone.output_tokens_per_s:.3g} tokens/s, {together.streams} at once "
        f"{together.output_tokens_per_s:.3g} together"
    )
    running = facts.idle.running if facts.idle is not None else None
    if running is None:
        return Verdict("low batch", "unknown", f"{message}; the engine does not say how many users' requests run")
    if gain >= ROOM and running <= 2.0 and not _waits(facts.idle):
        remedy = (
            "for more tokens a second send more at once; for a quicker single answer only another layout or a draft "
            "model helps"
        )
        return Verdict("low batch", "cause", f"{message}; {running:.0f} ran before this load", remedy, None)
    return Verdict("low batch", "no", f"{message}; {running:.0f} ran before this load")


def devices(facts: SlowFacts) -> Verdict:
    if facts.held_back:
        remedy = "look at cooling and power of this machine, before anything else is measured"
        return Verdict("devices", "cause", "; ".join(facts.held_back), remedy)
    if facts.busy is None:
        return Verdict("devices", "unknown", facts.why_unknown("devices"))
    message = f"they worked {facts.busy:.0%} of the time while {facts.together.streams} streams were answered"
    if facts.busy < HELD:
        remedy = "let the engine capture its graphs, and keep other work off the processor cores that it uses"
        return Verdict("devices", "cause", f"{message}: between steps they wait for the host", remedy, 1 - facts.busy)
    return Verdict("devices", "no", f"{message}, and nothing holds their clocks down")


def backend(facts: SlowFacts) -> Verdict:
    if facts.marks is None:
        return Verdict("backend", "unknown", facts.why_unknown("log"))
    if not facts.marks:
        return Verdict("backend", "no", "the log names no slower path that it took")
    shown = "; ".join(f"{mark.message} (line {mark.line} of the log)" for mark in facts.marks)
    return Verdict("backend", "cause", shown, "; ".join(dict.fromkeys(mark.remedy for mark in facts.marks)))


def tokenizer(facts: SlowFacts) -> Verdict:
    if facts.tokenize is None or facts.long is None:
        return Verdict("tokenizer", "unknown", facts.why_unknown("tokenizer"))
    tokens, seconds = facts.tokenize
    share = min(1.0, seconds / facts.long.ttft_s) if facts.long.ttft_s > 0 else 0.0
    of = f"of the {_s(facts.long.ttft_s)} to its first token"
    message = f"counting the {tokens:,} tokens of a prompt takes {_s(seconds)} {of}"
    if share >= NOTICED:
        remedy = "use the fast tokenizer of the checkpoint, or run more API processes before the engine"
        return Verdict("tokenizer", "cause", message, remedy, share)
    return Verdict("tokenizer", "no", message, share=share)


def network(facts: SlowFacts) -> Verdict:
    gap_s, own_s = facts.together.tpot_s, facts.own.between_tokens_s if facts.own else None
    if facts.together.chunk_tokens > TOGETHER:
        message = (
            f"tokens come {facts.together.chunk_tokens:.0f} at a time: something between the engine and here keeps "
            "them together"
        )
        return Verdict(
            "network", "cause", message, "switch off the buffering of the proxy (nginx: proxy_buffering off)"
        )
    if gap_s and own_s is not None and own_s < ENGINE_SHARE * gap_s:
        message = f"tokens leave the engine every {_s(own_s)} and arrive every {_s(gap_s)}"
        remedy = "look at what is between: the API process's core, a proxy, TLS, the way to this machine"
        return Verdict("network", "cause", message, remedy, 1 - own_s / gap_s)
    if facts.connect_s is None or facts.answer_s is None:
        return Verdict("network", "unknown", facts.why_unknown("network"))
    share = min(1.0, facts.answer_s / facts.alone.ttft_s) if facts.alone.ttft_s > 0 else 0.0
    message = (
        f"a connection takes {_s(facts.connect_s)} and an answer without any token {_s(facts.answer_s)} "
        f"of the {_s(facts.alone.ttft_s)} to a first token"
    )
    if share >= NOTICED and facts.connect_s >= facts.answer_s / 4:
        return Verdict(
            "network", "cause", message, "ask from nearer, and keep connections open between requests", share
        )
    if share >= NOTICED:
        return Verdict(
            "network", "cause", message, "the API process is busy: give it a core, or several of them", share
        )
    return Verdict("network", "no", message, share=share)


CHECKS: Final[tuple[Callable[[SlowFacts], Verdict], ...]] = (
    queueing,
    preemption,
    long_prompts,
    low_batch,
    devices,
    backend,
    tokenizer,
    network,
)


def _s(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
