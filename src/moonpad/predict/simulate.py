"""A run of requests through an engine's scheduler, step by step where prompts are computed, in leaps where all decode.

Between two events (a request ends, arrives, or the KV cache is full) nothing changes but the contexts, so that n steps
cost n times the one in their middle. One scheduler stands for all data-parallel replicas: their steps wait for each
other, as the ranks of one expert-parallel group must.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from moonpad.predict.arrivals import Requests
from moonpad.predict.scheduler_policy import SchedulerPolicy, refuse_too_long
from moonpad.values.errors import PreflightRefused

StepSeconds = Callable[[float, float, float, float, int], float]
"""(decoding sequences, their tokens of context, tokens of prompts, pairs of those with what they look at, prompts)."""


@dataclass(slots=True)
class Run:
    """What happened; lists by request. Times are the engine's: without the way from and to the client."""

    duration_s: float
    ttft_s: list[float]
    """From the instant it was sent to the first token that its client sees."""
    decode_s: list[float]
    """From that token to its last."""
    sent_s: list[float]
    steps: int = 0
    preemptions: int = 0
    decodes: float = 0.0
    """Mean of sequences that decode in a step, over steps in which any do."""
    context: float = 0.0
    """Mean of their tokens together."""
    in_flight: float = 0.0
    """Mean over time of the requests that were sent and are not answered yet."""


def simulate(
    requests: Requests,
    policy: SchedulerPolicy,
    seconds: StepSeconds,
    *,
    concurrency: int | None = None,
    reading_s: Callable[[int], float] = lambda prompt: 0.0,
    unseen: int = 0,
) -> Run:
    """`concurrency`: at most so many are in flight. `reading_s`: of one prompt of so many tokens before the scheduler
    has it; prompts are read one after another. `unseen`: of so many tokens at the beginning of each answer its client
    sees nothing.

    Raises:
        PreflightRefused: a request is longer than the KV cache.
    """
    longest = max(prompt + answer for prompt, answer in zip(requests.prompt, requests.answer, strict=True))
    refuse_too_long(longest, policy)
    return _Simulation(requests, policy, seconds, concurrency, reading_s, unseen).run()


@dataclass(slots=True)
class _Prompt:
    number: int
    done: int
    total: int


@dataclass
class _Simulation:
    requests: Requests
    policy: SchedulerPolicy
    seconds: StepSeconds
    concurrency: int | None
    reading_s: Callable[[int], float]
    unseen: int = 0
    now: float = 0.0
    read: float = 0.0
    """When the last prompt that was sent has been read."""
    used: float = 0.0
    """Tokens in the KV cache."""
    context: float = 0.0
    """Those of sequences that decode."""
    passed: int = 0
    """Steps in which sequences decoded."""
    following: int = 0
    """The next request that was not sent yet."""
    promised: float = 0.0
    """Tokens of answers for which room was kept when their requests were admitted."""
    grown: float = 0.0
    """Those of them that have been written."""
    in_flight: int = 0
    answered: int = 0
    held: bool = False
    """A request is due, and as many as may be are in flight."""
    warm: bool = False
    """The shared prefix is in the cache."""
    reading: deque[tuple[float, int]] = field(default_factory=deque)
    """(when it is read, request)."""
    waiting: deque[int] = field(default_factory=deque)
    prompts: deque[_Prompt] = field(default_factory=deque)
    running: dict[int, tuple[int, int]] = field(default_factory=dict)
    """By request, the latest last: (tokens of context, `passed`) when it began to decode."""
    ends: list[tuple[int, int, int]] = field(default_factory=list)
    """A heap of (`passed` at its end, request, `passed` at its start)."""
    shown: list[tuple[int, int, int]] = field(default_factory=list)
    """The same of what is not seen yet, with `passed` when it will be."""

    def run(self) -> Run:
        count = len(self.requests)
        nothing = [math.nan] * count
        self.result = Run(0.0, nothing[:], nothing[:], nothing[:])
        self.first = nothing[:]
        self.written = [0] * count
        steps_with, decodes, context = 0, 0.0, 0.0
        while self.answered < count:
            self._send()
            self._make_room()
            chunks = self._chunks()
            running = len(self.running)
            if not chunks and not running and self.reading:
                self._wait(self.reading[0][0])
            elif not chunks and not running:
                if self.following >= count:
                    raise PreflightRefused("no request can be admitted", remedy="ask for shorter requests")
                self._wait(self.requests.arrival_s[self.following])
            elif chunks:
                decoding = running if self.policy.mixes else 0
                self._step(chunks, decoding)
                steps_with, decodes = steps_with + (decoding > 0), decodes + decoding
                context += self.context if decoding else 0.0
            else:
                leap = self._leap(running)
                steps_with, decodes = steps_with + leap, decodes + leap * running
                context += leap * self.context
        result = self.result
        result.duration_s = self.now
        result.decodes, result.context = decodes / max(1, steps_with), context / max(1, steps_with)
        result.in_flight /= max(self.now, 1e-12)
        return result

    def _wait(self, until: float) -> None:
        self.result.in_flight += self.in_flight * (until - self.now)
        self.now = until

    def _send(self) -> None:
        arrival, count = self.requests.arrival_s, len(self.requests)
        most = self.concurrency if self.concurrency is not None else count
        while self.following < count and self.in_flight < most and arrival[self.following] <= self.now:
            number = self.following
            # One that had to wait for its turn is sent now.
            self.result.sent_s[number] = self.now if self.held else arrival[number]
            self.read = max(self.read, self.result.sent_s[number]) + self.reading_s(self.requests.prompt[number])
            self.reading.append((self.read, number))
            self.following += 1
            self.in_flight += 1
        self.held = self.following < count and arrival[self.following] <= self.now
        while self.reading and self.reading[0][0] <= self.now:
            self.waiting.append(self.reading.popleft()[1])

    def _make_room(self) -> None:
        """As vLLM does: the request that came last gives up its place, and is computed again later."""
        grows = self.policy.tokens_per_step
        while (
            self.used + len(self.running) * grows > self.policy.kv_tokens and len(self.running) + len(self.prompts) > 1
        ):
            self.result.preemptions += 1
            if self.prompts:
                prompt = self.prompts.pop()
                self._forget(prompt.number, 0.0)
                self.used -= prompt.done - self._cached(prompt.number)
                self.waiting.appendleft(prompt.number)
                continue
            number, (base, start) = self.running.popitem()
            grown = self._grown(start)
            self._forget(number, grown)
            self.written[number] += int(grown)
            self.used -= base + grown - self._cached(number)
            self.context -= base + grown
            self.waiting.appendleft(number)

    def _grown(self, start: int) -> float:
        return (self.passed - start) * self.policy.tokens_per_step

    def _cached(self, number: int) -> int:
        """What of a prompt lies in the cache once for all."""
        return self.requests.cached[number] if self.warm else 0

    def _chunks(self) -> list[tuple[_Prompt, int]]:
        """Tokens of prompts for the next step, those that have begun first."""
        policy, requests = self.policy, self.requests
        running = len(self.running)
        decoding = running * policy.tokens_per_step if policy.mixes else 0
        budget = policy.step_limit - math.ceil(decoding)
        kept = max(running * policy.tokens_per_step, self.promised - self.grown)
        free = policy.kv_tokens - self.used - kept
        chunks: list[tuple[_Prompt, int]] = []
        for prompt in self.prompts:
            tokens = int(min(budget, prompt.total - prompt.done, policy.step_limit, free))
            if tokens <= 0:
                break
            chunks.append((prompt, tokens))
            budget, free, self.used = budget - tokens, free - tokens, self.used + tokens
        while self.waiting and budget > 0 and running + len(self.prompts) < policy.sequences:
            number = self.waiting[0]
            total, cached = requests.prompt[number] + self.written[number], self._cached(number)
            tokens = min(budget, total - cached)
            if policy.whole_prompts and tokens < total - cached and (running or chunks):
                break
            needed = total - cached + policy.reserved * requests.answer[number] if policy.reserved else tokens
            if needed > free and (running or self.prompts or tokens > free):
                break
            self.waiting.popleft()
            self.promised += policy.reserved * requests.answer[number]
            free -= policy.reserved * requests.answer[number]
            prompt = _Prompt(number, cached, total)
            self.prompts.append(prompt)
            chunks.append((prompt, tokens))
            budget, free, self.used = budget - tokens, free - tokens, self.used + tokens
        return chunks

    def _step(self, chunks: list[tuple[_Prompt, int]], decoding: int) -> None:
        tokens, pairs, pieces = 0, 0.0, 0
        for prompt, size in chunks:
            tokens += size
            pairs += size * (prompt.done + size / 2)
            pieces += -(-size // self.policy.step_tokens)
        self._advance(1, self.seconds(decoding, self.context if decoding else 0.0, tokens, pairs, pieces), decoding)
        for prompt, size in chunks:
            prompt.done += size
            if prompt.done >= prompt.total:
                self.prompts.remove(prompt)
                self._begin(prompt)

    def _begin(self, prompt: _Prompt) -> None:
        number = prompt.number
        self.warm = True
        self.written[number] += 1
        if (hidden := self.unseen + 1 - self.written[number]) > 0:
            due = self.passed + math.ceil(hidden / self.policy.tokens_per_step)
            heappush(self.shown, (due, number, self.passed))
        else:
            self._show(number, self.now)
        left = self.requests.answer[number] - self.written[number]
        if left <= 0:
            self.used -= prompt.total - self._cached(number)
            self._forget(number, 0.0)
            self._end(number)
            return
        self.running[number] = prompt.total, self.passed
        self.context += prompt.total
        ends = self.passed + math.ceil(left / self.policy.tokens_per_step)
        heappush(self.ends, (ends, number, self.passed))

    def _show(self, number: int, at: float) -> None:
        if math.isnan(self.first[number]):
            self.first[number] = at
            self.result.ttft_s[number] = at - self.result.sent_s[number]

    def _leap(self, running: int) -> int:
        """Steps up to the next event, one at least."""
        grows = self.policy.tokens_per_step
        while self.ends[0][1] not in self.running or self.running[self.ends[0][1]][1] != self.ends[0][2]:
            heappop(self.ends)
        steps = self.ends[0][0] - self.passed
        if self.policy.kv_tokens < math.inf:
            steps = min(steps, int((self.policy.kv_tokens - self.used) // (running * grows)))
        steps = max(1, steps)
        middle = self.context + running * grows * (steps - 1) / 2
        each = self.seconds(running, middle, 0.0, 0.0, 0)
        until = self._next_s() - self.now
        if 0 < until < steps * each:
            # Earlier steps are shorter, so that this many never pass the arrival.
            steps = max(1, int(until / each))
            middle = self.context + running * grows * (steps - 1) / 2
            each = self.seconds(running, middle, 0.0, 0.0, 0)
        self._advance(steps, steps * each, running)
        return steps

    def _next_s(self) -> float:
        """When the next prompt has been read or arrives."""
        if self.reading:
            return self.reading[0][0]
        full = self.concurrency is not None and self.in_flight >= self.concurrency
        if full or self.following >= len(self.requests):
            return math.inf
        return self.requests.arrival_s[self.following]

    def _advance(self, steps: int, seconds: float, decoding: int) -> None:
        self.result.in_flight += self.in_flight * seconds
        self.result.steps += steps
        self.now += seconds
        if not decoding:
            return
        self.passed += steps
        while self.shown and self.shown[0][0] <= self.passed:
            due, number, start = heappop(self.shown)
            if number in self.running and self.running[number][1] == start:
                self._show(number, self.now - seconds * (self.passed - due) / steps)
        grown = decoding * steps * self.policy.tokens_per_step
        self.used += grown
        self.context += grown
        self.grown += grown
        ends = self.ends
        while ends and ends[0][0] <= self.passed:
            _, number, start = heappop(ends)
            if number not in self.running or self.running[number][1] != start:
                continue
            base, _ = self.running.pop(number)
            grown = self._grown(start)
            self._forget(number, grown)
            self.used -= base + grown - self._cached(number)
            self.context -= base + grown
            self._end(number)

    def _forget(self, number: int, grown: float) -> None:
        """The room that was kept for a request is free again."""
        self.promised -= self.policy.reserved * self.requests.answer[number]
        self.grown -= grown

    def _end(self, number: int) -> None:
        self._show(number, self.now)
        self.result.decode_s[number] = self.now - self.first[number]
        self.answered += 1
        self.in_flight -= 1
