"""What a protocol cannot measure at an endpoint, said before it runs. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from moonpad.catalog.evaluations import Protocol
from moonpad.evaluate.endpoint_facts import EndpointFacts
from moonpad.stats.proportion import detectable_unpaired
from moonpad.values.units import duration

MOST_POINTS: Final = 100.0
LONG_THOUGHT: Final = 8192
"""Tokens: with so many nearly every thought on a school question ends (vLLM-Ascend's reference has 2,048)."""


@dataclass(frozen=True, slots=True)
class Limitation:
    """`refuses`: no answer would count, so nothing is asked."""

    text: str
    remedy: str = ""
    refuses: bool = False


def limitations(protocol: Protocol, facts: EndpointFacts, questions: int) -> tuple[Limitation, ...]:
    """In the order in which they matter."""
    return (
        *_unreachable(protocol, facts),
        *_context(protocol, facts),
        *_thinking(protocol, facts),
        *_cache(protocol, facts),
        *_time(protocol, facts, questions),
        *_few(questions),
    )


def _unreachable(protocol: Protocol, facts: EndpointFacts) -> Iterator[Limitation]:
    if not facts.problem:
        return
    other = "chat" if protocol.path == "/completions" else "completions"
    too_long = any(word in facts.problem.lower() for word in ("context", "too long", "maximum model length"))
    if too_long:
        remedy = "serve a longer context ([settings] max_model_len), or lower --max-tokens"
    elif protocol.task == "gsm8k":
        remedy = f"--protocol {other}, if the endpoint serves that API alone; else moonpad verify"
    else:
        remedy = "moonpad verify says what is wrong with the endpoint"
    yield Limitation(f"a request of this protocol gets no answer: {facts.problem}", remedy, refuses=True)


def _context(protocol: Protocol, facts: EndpointFacts) -> Iterator[Limitation]:
    if facts.context is None or facts.prompt_tokens is None:
        return
    needed = facts.prompt_tokens + protocol.max_tokens
    if needed > facts.context:
        text = (
            f"the longest prompt has {facts.prompt_tokens:,} tokens, with an answer of up to {protocol.max_tokens:,} "
            f"that is {needed:,}; the endpoint serves {facts.context:,}"
        )
        remedy = f"serve at least {needed:,} ([settings] max_model_len), or lower --max-tokens"
        yield Limitation(text, remedy, refuses=True)


def _thinking(protocol: Protocol, facts: EndpointFacts) -> Iterator[Limitation]:
    if protocol.path == "/completions":
        text = (
            "raw prompts have no chat template: this measures how the model continues a text, not how it answers in a "
            "chat, and neither its thinking nor the server's parsers take part"
        )
        yield Limitation(text, "--protocol chat measures what chat clients get")
        if facts.thinks:
            yield Limitation(
                f"the model thinks in chats; here too, answers would be cut after {protocol.max_tokens:,} tokens",
                "watch the share of cut answers beside the accuracy",
            )
    elif facts.thinks and protocol.max_tokens < LONG_THOUGHT:
        text = (
            f"the model thinks, and an answer is cut after {protocol.max_tokens:,} tokens, thinking included: what is "
            "cut counts as wrong, and is counted apart"
        )
        yield Limitation(text, f"--max-tokens {LONG_THOUGHT}, which is another protocol than the references'")


def _cache(protocol: Protocol, facts: EndpointFacts) -> Iterator[Limitation]:
    if facts.kv_tokens is None or facts.prompt_tokens is None:
        return
    needed = protocol.concurrency * (facts.prompt_tokens + protocol.max_tokens)
    if needed > facts.kv_tokens:
        text = (
            f"{protocol.concurrency} answers at once may take {needed:,} tokens of KV cache, the endpoint has "
            f"{facts.kv_tokens:,}: requests will wait, or be preempted"
        )
        yield Limitation(text, "it costs time, and changes batches; --concurrency asks fewer at once")


def _time(protocol: Protocol, facts: EndpointFacts, questions: int) -> Iterator[Limitation]:
    seconds = longest_s(protocol, facts, questions)
    if seconds is not None:
        yield Limitation(
            f"at the speed of one short answer it takes up to {duration(seconds)} if every answer runs to the limit"
        )


def longest_s(protocol: Protocol, facts: EndpointFacts, questions: int) -> float | None:
    """If every answer runs to its limit, at the speed that one had alone: with many at once each is slower, and all are
    faster than one after the other."""
    if facts.seconds_per_token is None:
        return None
    each = (facts.first_token_s or 0.0) + protocol.max_tokens * facts.seconds_per_token
    return each * -(-questions // protocol.concurrency)


def _few(questions: int) -> Iterator[Limitation]:
    points = 100 * detectable_unpaired(0.9, questions)
    if points >= MOST_POINTS:
        yield Limitation(f"{questions:,} questions are too few to show any difference")
        return
    yield Limitation(
        f"{questions:,} questions show a difference of {points:.1f} points or more near 90 % (two samples, 80 % "
        "power); pairs of the same questions show less"
    )
