"""The requests of a plan, and when each is due: the same in every process that makes them."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from moonpad.bench.run_header import RunPlan
from moonpad.load.arrivals import replayed
from moonpad.load.endpoint_url import Target
from moonpad.load.lengths import fixed
from moonpad.load.prompts import FIRST
from moonpad.load.record import LoadRequest
from moonpad.load.request_builder import RequestBuilder
from moonpad.load.request_schedule import ClosedLoop, OpenLoop, Schedule
from moonpad.load.workloads.conversation import AGENT_TOOLS, Conversation, ConversationTurn
from moonpad.load.workloads.recorded import BLOCK_TOKENS, TraceRow, read_chats, read_trace
from moonpad.values.errors import UsageError


@dataclass(frozen=True, slots=True)
class Share:
    """Part `at` of a load that `of` processes carry: every `of`-th conversation, and so many of the users."""

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
    """The first request of each conversation of a share that has not ended before, as bytes. Most have one request.

    Raises:
        UsageError: the workload's file is missing or has changed.
    """
    factory = _RequestFactory(plan, target)
    starts = range(0, plan.config.requests, plan.config.workload.turns)
    return [
        factory.conversation(first)
        for number, first in enumerate(starts)
        if share.has(number) and any(index not in ended for index in factory.indices(first))
    ]


def other_requests(plan: RunPlan, target: Target, first: int, count: int) -> list[LoadRequest]:
    """Warm-up, of random words: `first` is below zero, so that none of them is a measured one."""
    factory, config = _RequestFactory(plan, target), plan.config
    inputs = config.input_lengths.draw(count, config.seed, f"input {first}")
    lengths = fixed(64) if config.output_tokens is None else config.output_lengths
    outputs = lengths.draw(count, config.seed, f"output {first}")
    return [factory.random(first + number, inputs[number], outputs[number]) for number in range(count)]


def schedule_of(plan: RunPlan, share: Share = WHOLE, before_s: float = 0.0, first: int = 0) -> Schedule:
    """A run resumed at `before_s` with request `first` keeps the gaps of the remaining arrivals."""
    config = plan.config
    if not config.paced:
        return ClosedLoop(share.part(config.connections), before_s)
    turns = config.workload.turns
    count = -(-config.requests // turns)
    if config.arrivals is not None:
        instants = config.arrivals.instants_s(count, config.seed)
    else:
        instants = replayed([row.at_s for row in trace_rows(plan)[:count]], config.workload.speed)
    shift_s = before_s - instants[first // turns] if before_s > 0 else 0.0
    cap = None if config.concurrency is None else share.part(config.concurrency)
    return OpenLoop([instants[index // turns] + shift_s for index in range(config.requests)], cap)


def trace_rows(plan: RunPlan) -> Sequence[TraceRow]:
    """The requests of the run's trace.

    Raises:
        UsageError: the file is missing, has changed, or has too few requests.
    """
    workload, count = plan.config.workload, plan.config.requests
    rows = read_trace(Path(workload.file), workload.digest)
    if len(rows) < count:
        raise UsageError(
            f"{workload.file} has only {len(rows)} requests, not {count}", remedy=f"use --requests {len(rows)}"
        )
    return rows


class _RequestFactory:
    """Makes requests. Lengths are drawn for all of them at once, so that each is the same in every worker."""

    def __init__(self, plan: RunPlan, target: Target) -> None:
        self.plan, config = plan, plan.config
        self.builder = RequestBuilder(target, plan.model, config.api, config.ignore_eos, config.temperature)
        self.inputs = config.input_lengths.draw(config.requests, config.seed, "input")
        drawn = config.output_tokens is not None
        self.outputs: Sequence[int] = (
            config.output_lengths.draw(config.requests, config.seed, "output") if drawn else ()
        )

    def indices(self, first: int) -> range:
        """The requests of the conversation that begins with one."""
        return range(first, min(first + self.plan.config.workload.turns, self.plan.config.requests))

    def conversation(self, first: int) -> LoadRequest:
        kinds: dict[str, Callable[[int], LoadRequest]] = {
            "random": lambda index: self.random(index, self.inputs[index], self.outputs[index]),
            "trace": self._of_trace,
            "sharegpt": self._of_chats,
            "turns": self._of_turns,
            "agent": self._of_turns,
        }
        return kinds[self.plan.config.workload.kind](first)

    def random(self, index: int, input_tokens: int, output_tokens: int) -> LoadRequest:
        text, tokens = self._prompt(index, input_tokens)
        return LoadRequest(index, self.builder.stream(text, output_tokens), tokens, output_tokens)

    def _prompt(self, index: int, input_tokens: int) -> tuple[str, int]:
        """With the text that requests share in front, and its tokens with those of it."""
        text = self.plan.calibration.prompt(self.plan.config.seed, index, input_tokens, self._shared(index))
        return text, input_tokens + self.plan.config.workload.prefix_tokens

    def _shared(self, index: int) -> str:
        """One of the texts that requests share, or ""; a warm-up request has the first."""
        workload, seed = self.plan.config.workload, self.plan.config.seed
        if not workload.prefix_tokens:
            return ""
        dice = Random(f"moonpad prefix of {seed} {index}")  # noqa: S311 - must repeat; nothing secret hangs on it
        number = dice.randrange(workload.prefixes) if index >= 0 else 0
        return self.plan.calibration.text(f"prefix {seed} {number}", workload.prefix_tokens)

    def _of_turns(self, first: int) -> LoadRequest:
        """Random questions, or a task and then what the tools of an agent give back."""
        config, agent = self.plan.config, self.plan.config.workload.kind == "agent"
        turns = []
        for index in self.indices(first):
            if index == first:
                text, tokens = self._prompt(index, self.inputs[index])
            else:
                tokens = config.workload.tool_tokens if agent else self.inputs[index]
                text = self.plan.calibration.text(f"turn {config.seed} {index}", tokens)
            turns.append(ConversationTurn(text, tokens, self.outputs[index]))
        return Conversation(self.builder, first, turns, AGENT_TOOLS if agent else ()).request()

    def _of_chats(self, first: int) -> LoadRequest:
        """The chats of the file in an order that the seed draws, from the first again where they are too few."""
        config = self.plan.config
        chats = read_chats(Path(config.workload.file), config.workload.digest, config.workload.turns)
        dice = Random(f"moonpad chats {config.seed}")  # noqa: S311 - must repeat; nothing secret hangs on it
        order = dice.sample(range(len(chats)), len(chats))
        chat = chats[order[first // config.workload.turns % len(order)]]
        estimate = self.plan.calibration.tokens_in_text
        turns = [
            ConversationTurn(question, estimate(question), self.outputs[index] if self.outputs else estimate(answer))
            for index, question, answer in zip(self.indices(first), chat.questions, chat.answers, strict=False)
        ]
        if config.workload.turns == 1:
            text, tokens, limit = turns[0].text, turns[0].input_tokens, turns[0].output_tokens
            return LoadRequest(first, self.builder.stream(text, limit), tokens, limit)
        return Conversation(self.builder, first, turns).request()

    def _of_trace(self, index: int) -> LoadRequest:
        """Each block is a text of its own, so that requests share what they shared; the last one is cut to length."""
        calibration, row = self.plan.calibration, trace_rows(self.plan)[index]
        left, parts = row.input_tokens - calibration.alone, list[str]()
        for block in row.blocks:
            if left > 0:
                parts.append(calibration.text(f"block {block}", min(BLOCK_TOKENS, left)))
                left -= BLOCK_TOKENS
        if left > 0:
            parts.append(calibration.text(f"rest {index}", left))
        output = self.outputs[index] if self.outputs else row.output_tokens
        return LoadRequest(index, self.builder.stream(" ".join((FIRST, *parts)), output), row.input_tokens, output)
