"""Judges the answers that a probe got by the model's own text, and by a recording of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from moonpad.engines.api_facts import ApiFacts
from moonpad.load.openai_schema import Message
from moonpad.values.errors import CheckFailed, ContactLost
from moonpad.values.records import replace
from moonpad.verify.api import Api, Asked, Body
from moonpad.verify.offered_tools import WEATHER, WEATHER_QUESTION
from moonpad.verify.own_text.answer_labels import AnswerLabels
from moonpad.verify.own_text.changes import MOST_SHOWN, Examination, change_of, changes_of
from moonpad.verify.own_text.comparable import comparable, is_greedy, limit_of
from moonpad.verify.own_text.continuation import Continuation, NoCompletions, continue_prompt
from moonpad.verify.own_text.difference import (
    BROKEN,
    CLEAR_MARGIN,
    Difference,
    common_prefix,
    differences,
    wrong_logprobs,
    wrong_tokens,
    wrong_usage,
)
from moonpad.verify.own_text.kimi_text import THINK, THINK_END, OwnAnswer, as_kimi_text, read_kimi_text, renumbered
from moonpad.verify.own_text.prompt import Prompt, prompt_of
from moonpad.verify.own_text.recording import AnswerRecording, RecordedText, departs, key_of
from moonpad.verify.own_text.template import model_of, shipped_template
from moonpad.verify.tool_calls import SECTION_BEGIN

MOST_TIES: Final = 6
OTHER_SEEDS: Final = (101, 202)
BATCH_MARGIN: Final = 3.0
"""Nats by which another batch may change what a token leads by, where a mixture of experts chooses other experts."""
PENALTIES: Final = ("presence_penalty", "frequency_penalty", "repetition_penalty")
OWN_MEANING: Final = ("repetition_penalty",)
"""Fields that each engine takes in its own way: vLLM counts the tokens of the prompt too, SGLang those of the answer
alone. What one wrote by them says nothing of another: https://github.com/sgl-project/sglang/pull/5703"""
LONGEST_TOKEN: Final = 32
"""Characters that two tokens may have in common before they differ."""
AT_ONCE: Final = 8
NO_MARKS: Final = "the text of /v1/completions has no special tokens, so thinking and calls cannot be told in it"
BATCH_PENALTY: Final = "with a penalty the answer depends on what else is in the batch"
KNOWN: Final = "after an earlier turn the engine streams the thinking as content, behind <think>"


@dataclass(slots=True)
class Witness:
    """`api` keeps evidence of its own. `engine`: the one that serves, by the model list; None if unknown."""

    api: Api
    card: Mapping[str, object]
    engine: ApiFacts | None = None
    recording: AnswerRecording | None = None
    known: dict[str, tuple[Body, Continuation]] = field(default_factory=dict)
    """What the model wrote, by the key of the request."""
    unavailable: str = ""
    """Why the endpoint cannot be asked for the model's own text; "" if it can, or was not asked yet."""
    _pending: dict[str, asyncio.Future[Continuation]] = field(default_factory=dict)
    _prompts: dict[str, Prompt] = field(default_factory=dict)
    _marked: bool | None = None
    _labels: AnswerLabels = field(default_factory=AnswerLabels)
    _alone: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def _seeded(self) -> bool:
        return self.engine is not None and self.engine.repeats_by_seed

    @property
    def _gives_prompt_ids(self) -> bool:
        return self.engine is not None and self.engine.returns_token_ids

    async def examine(self, asked: Sequence[Asked]) -> Examination:
        slots = asyncio.Semaphore(AT_ONCE)

        async def one(row: Asked) -> Examination:
            async with slots:
                return await self._examine(row)

        results = await asyncio.gather(*(one(row) for row in asked))
        return Examination(
            sum(result.compared for result in results),
            tuple(dict.fromkeys(change for result in results for change in result.changes)),
            tuple(dict.fromkeys(text for result in results for text in result.reasons)),
            tuple(dict.fromkeys(text for result in results for text in result.known)),
        )

    async def _examine(self, asked: Asked) -> Examination:
        if faults := (*asked.faults, *await self._labels.wrong(self.api, asked)):
            where = "the answer" if asked.how == "whole" else "the stream"
            changes = (replace(change_of(asked, fault, fault), where=where) for fault in faults[:MOST_SHOWN])
            return Examination(0, tuple(changes))
        body, limit = asked.body, limit_of(asked.body)
        if limit is None or not comparable(body, seeded=self._seeded):
            return Examination()
        key = key_of(body, limit)
        try:
            own = await self._own(key, body, limit)
        except NoCompletions as error:
            return self._by_recording(key, asked, str(error))
        if not (body.get("stop") or body.get("stop_token_ids")) and (wrong := wrong_tokens(own)):
            return changes_of(asked, wrong, "the list of its tokens")
        judged = await self._compare(key, asked, own, limit)
        fault = self._departure(key, own) if judged.compared else ""
        if fault and _has_penalty(body) and await self._is_recorded_alone(key, limit):
            return Examination(reasons=(BATCH_PENALTY,))
        return Examination(1, (change_of(asked, "recording", fault),)) if fault else judged

    # - the model's own text -

    async def own(self, body: Body) -> Continuation:
        """
        Raises:
            NoCompletions: it cannot be had.
        """
        limit = limit_of(body) or 1
        return await self._own(key_of(body, limit), body, limit)

    async def _own(self, key: str, body: Body, limit: int) -> Continuation:
        if self.unavailable:
            raise NoCompletions(self.unavailable, ever=True)
        if key not in self._pending:
            self._pending[key] = asyncio.ensure_future(self._ask(key, body, limit))
        return await self._pending[key]

    async def _ask(self, key: str, body: Body, limit: int) -> Continuation:
        try:
            prompt = await prompt_of(self.api, body, shipped_template(model_of(self.card)))
            self._prompts[key] = prompt
            own = await continue_prompt(self.api, prompt.sent, body, limit, with_prompt_ids=self._gives_prompt_ids)
        except NoCompletions as error:
            if error.ever:
                self.unavailable = self.unavailable or str(error)
            raise
        except (ContactLost, CheckFailed) as error:  # of its tokenizer, which no probe asked
            raise NoCompletions(error.message) from error
        self.known[key] = (body, own)
        return own

    # - compared -

    async def _compare(self, key: str, asked: Asked, own: Continuation, limit: int) -> Examination:
        prompt = self._prompts[key]
        if (judged := self._by_prompt(prompt, asked, own)) is not None:
            return judged
        for _ in range(MOST_TIES):
            answer = self._read(asked.body, own, prompt)
            wrong = self._differences(asked, own, answer)
            if not wrong:
                return Examination(1)
            if self._is_known(asked, own, answer):
                return Examination(1, known=(KNOWN,))
            in_text = any(difference.in_text for difference in wrong) and is_greedy(asked.body)
            tie = _tie(asked, own, answer, CLEAR_MARGIN) if in_text else None
            if tie is None and in_text and (wide := _tie(asked, own, answer, BATCH_MARGIN)):
                tie = wide if await self._is_right_alone(key, asked) else None
            if tie is None and _has_penalty(asked.body) and await self._agree_alone(key, asked, limit):
                return Examination(reasons=(BATCH_PENALTY,))
            if tie is None and not _has_marks(own.text) and not await self._shows_marks():
                return Examination(reasons=(NO_MARKS,))
            if tie is None and not is_greedy(asked.body) and not await self._is_drawn_otherwise(asked, limit):
                return Examination(reasons=("what is drawn by a seed depends on the batch",))
            if tie is None:
                return changes_of(asked, wrong)
            followed = await self._follow(prompt, asked, own, limit, *tie)
            if followed is None:
                return Examination(reasons=("a token was as likely as another, and the other way cannot be asked",))
            own = followed
        return Examination(reasons=("too many tokens were as likely as others",))

    def _read(self, body: Body, own: Continuation | RecordedText, prompt: Prompt | None = None) -> OwnAnswer:
        answer = read_kimi_text(own.text, own.finish_reason, thinking=prompt is not None and prompt.thinking)
        numbers = self.engine is not None and self.engine.numbers_calls
        return renumbered(answer, body["messages"]) if numbers else answer

    async def _shows_marks(self) -> bool:
        """Whether the endpoint's plain completions show special tokens at all, by a question that needs a tool."""
        if self._marked is None:
            body = {"messages": [{"role": "user", "content": WEATHER_QUESTION}], "tools": [WEATHER], "max_tokens": 512}
            self._marked = False
            with suppress(NoCompletions):
                self._marked = _has_marks((await self.own({**body, "temperature": 0})).text)
        return self._marked

    async def _is_right_alone(self, key: str, asked: Asked) -> bool:
        """Whether the same question, asked alone, is answered with the model's own text: then another batch may be why
        it was not before."""
        _, own = self.known[key]
        answer = self._read(asked.body, own, self._prompts[key])
        async with self._alone:
            try:
                chat = await self.api.chat(asked.body)
            except (ContactLost, CheckFailed):
                return False
        return isinstance(chat, Message) and not self._differences(Asked(asked.body, chat, "whole"), own, answer)

    async def _agree_alone(self, key: str, asked: Asked, limit: int) -> bool:
        """Whether both APIs, asked once more and alone, give the same text. The log-probabilities are those before a
        penalty, so that they do not tell which tokens were about as likely behind it."""
        prompt = self._prompts[key]
        async with self._alone:
            try:
                own = await continue_prompt(self.api, prompt.sent, asked.body, limit)
                chat = await self.api.chat(asked.body)
            except (NoCompletions, ContactLost, CheckFailed):
                return False
        answer = self._read(asked.body, own, prompt)
        return isinstance(chat, Message) and not self._differences(Asked(asked.body, chat, "whole"), own, answer)

    async def _is_drawn_otherwise(self, asked: Asked, limit: int) -> bool:
        """Whether the server answers otherwise than the model by other seeds too. One seed alone proves nothing: in
        another batch the numbers differ a little, and so may what is drawn."""
        seed = asked.body.get("seed")
        prompt = self._prompts[key_of(asked.body, limit)]
        async with self._alone:
            for step in OTHER_SEEDS:
                body = {**asked.body, "seed": step + (seed if isinstance(seed, int) else 0)}
                try:
                    own = await continue_prompt(self.api, prompt.sent, body, limit)
                    chat = await (self.api.chat(body) if asked.how == "whole" else self.api.joined(body))
                except (NoCompletions, ContactLost, CheckFailed):
                    return False
                answer = self._read(body, own, prompt)
                if not isinstance(chat, Message) or not differences(answer, chat):
                    return False
        return True

    def _by_prompt(self, prompt: Prompt, asked: Asked, own: Continuation) -> Examination | None:
        """Whether another prompt was answered than was asked, by its tokens; None if it is the same."""
        answer, expected = asked.answer, own.usage.prompt_tokens
        got = answer.usage.prompt_tokens if answer.usage else None
        if asked.prompt_ids and own.prompt_ids and asked.prompt_ids != own.prompt_ids and expected == got:
            at = common_prefix(own.prompt_ids, asked.prompt_ids)
            return changes_of(asked, [Difference("the prompt", "other tokens", f"changed from token {at} on", False)])
        if expected is None or got is None or expected == got:
            return None
        if asked.body.get("tool_choice") == "none" and asked.body.get("tools"):
            return Examination(reasons=("with tool_choice none the server leaves the tools out of the prompt",))
        if prompt.count == expected or (self.engine is not None and self.engine.renders_by_template):
            wrong = Difference("the prompt", f"{expected} tokens", f"{got} tokens by usage", in_text=False)
            return changes_of(asked, [wrong])
        reason = f"the server renders the conversation in its own way: {got} tokens, by the model's template {expected}"
        return Examination(reasons=(reason,))

    def _is_known(self, asked: Asked, own: Continuation, answer: OwnAnswer) -> bool:
        """Whether the stream has the whole thinking, behind its tag, at the beginning of the content, and all else is
        right: what an engine is known to do after earlier turns."""
        if self.engine is None or not self.engine.streams_later_thinking_as_content or not _is_moved(asked):
            return False
        moved = replace(answer, reasoning="", content=f"{THINK}{answer.reasoning}{answer.content}")
        usage = asked.answer.usage
        got = replace(asked.answer, usage=replace(usage, reasoning_tokens=None) if usage else None)
        return not self._differences(replace(asked, answer=got), own, moved)

    def _differences(self, asked: Asked, own: Continuation, answer: OwnAnswer) -> list[Difference]:
        body, got = asked.body, asked.answer
        one_call = body.get("parallel_tool_calls") is False
        wrong = differences(answer, got, calls=body.get("tool_choice") != "none", most_calls=1 if one_call else None)
        followed = own.usage.completion_tokens is None
        usage = replace(own.usage, reasoning_tokens=own.reasoning_tokens)
        exact = not (one_call or followed or body.get("stop") or body.get("n") not in (None, 1))
        counted = self.engine is not None and self.engine.counts_thinking_exactly and BROKEN not in got.reasoning
        wrong += wrong_usage(usage, got.usage, completion=exact, exact_thinking=counted)
        return wrong if followed else wrong + wrong_logprobs(own, asked.logprobs)

    async def _follow(
        self, prompt: Prompt, asked: Asked, own: Continuation, limit: int, place: int, rival: str
    ) -> Continuation | None:
        """What the model writes if it takes the other of two tokens that are about as likely."""
        if not prompt.text:
            return None
        begun = own.text[: own.starts()[place]] + rival
        left = limit - place - 1
        if left < 1:
            return None
        try:
            rest = await continue_prompt(self.api, prompt.text + begun, asked.body, left)
        except NoCompletions:
            return None
        rival_token = replace(own.tokens[place], text=rival)
        return Continuation(
            begun + rest.text,
            rest.finish_reason,
            replace(rest.usage, prompt_tokens=own.usage.prompt_tokens, completion_tokens=None, total_tokens=None),
            (*own.tokens[:place], replace(rival_token, likeliest={rival: 0.0}), *rest.tokens),
        )

    # - recorded -

    def _recorded(self, key: str, body: Body) -> RecordedText | None:
        if self.recording is None or any(body.get(name) is not None for name in OWN_MEANING):
            return None
        return self.recording.texts.get(key)

    def _departure(self, key: str, own: Continuation) -> str:
        """Whether the model's text is another than was recorded; "" if not, or if the numbers may be why."""
        body, _ = self.known[key]
        trusted = self._recorded(key, body)
        if self.recording is None or trusted is None or trusted.prompt_tokens != own.usage.prompt_tokens:
            return ""
        departure = departs(trusted, own.text, [token.text for token in own.tokens])
        if departure is None or departure[1] < CLEAR_MARGIN:
            return ""
        at, margin = departure
        start = max(0, at - 30)
        return (
            f"the model's text is {own.text[start : at + 40]!r}, in the recording of {self.recording.made_by} "
            f"{trusted.text[start : at + 40]!r}, which led by {margin:.1f} nats"
        )

    async def _is_recorded_alone(self, key: str, limit: int) -> bool:
        """Whether the model, asked once more and alone, writes what was recorded."""
        async with self._alone:
            try:
                own = await continue_prompt(self.api, self._prompts[key].sent, self.known[key][0], limit)
            except (NoCompletions, ContactLost, CheckFailed):
                return False
        return not self._departure(key, own)

    def _by_recording(self, key: str, asked: Asked, reason: str) -> Examination:
        """Without completions: by what a sound endpoint's model wrote."""
        trusted = self._recorded(key, asked.body)
        if self.recording is None or trusted is None:
            return Examination(reasons=(reason,))
        got = asked.answer
        counted = got.usage.prompt_tokens if got.usage else None
        if counted is not None and counted != trusted.prompt_tokens:
            return Examination(reasons=(f"the prompt has {counted} tokens, in the recording {trusted.prompt_tokens}",))
        body = asked.body
        own = self._read(body, trusted)
        most = 1 if body.get("parallel_tool_calls") is False else None
        wrong = differences(own, got, calls=body.get("tool_choice") != "none", most_calls=most)
        departure = departs(trusted, as_kimi_text(got, opened=trusted.text.startswith(THINK)))
        if wrong and departure is not None and departure[1] < CLEAR_MARGIN:
            return Examination(reasons=("a token was as likely as another in the recording",))
        source = f"the recording of {self.recording.made_by}"
        return changes_of(asked, wrong, source)


def _tie(asked: Asked, own: Continuation, answer: OwnAnswer, margin: float) -> tuple[int, str] | None:
    """Where the answer leaves the text of the model at a token that led by less than `margin`: its place, and the token
    taken."""
    if _is_moved(asked):
        end = len(THINK + answer.reasoning)
        got = f"{asked.answer.content[:end]}{THINK_END}{asked.answer.content[end:]}"
        got += as_kimi_text(replace(asked.answer, content="", reasoning=""), opened=False)
    else:
        got = as_kimi_text(asked.answer, opened=own.text.startswith(THINK))
    at, starts = common_prefix(own.text, got), own.starts()
    last = own.token_at(at)
    for place in range(-1 if last is None else last, -1, -1):
        start, token = starts[place], own.tokens[place]
        if at - start > LONGEST_TOKEN:
            break
        if token.margin >= margin:
            continue
        # Two tokens may begin alike: " " before "2", and " have".
        least = 1 if place == last else at - start + 1
        rivals = token.rivals(margin)
        fitting = [rival for rival in rivals if len(rival) >= least and got.startswith(rival, start)]
        if fitting:
            return place, max(fitting, key=len)
    return None


def _is_moved(asked: Asked) -> bool:
    """Whether a stream after an earlier turn has its thinking in the content."""
    messages: Any = asked.body["messages"]
    later = any(turn.get("role") == "assistant" for turn in messages)
    return later and asked.how == "streamed" and not asked.answer.reasoning and asked.answer.content.startswith(THINK)


def _has_penalty(body: Body) -> bool:
    return any(body.get(name) is not None for name in PENALTIES)


def _has_marks(text: str) -> bool:
    return any(mark in text for mark in (THINK, THINK_END, SECTION_BEGIN))
