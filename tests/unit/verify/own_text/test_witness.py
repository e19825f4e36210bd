"""Whose fault a difference is: the server's where the model was sure, nobody's where two tokens were as likely."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from moonpad.engines import ENGINES
from moonpad.load.openai_schema import Message, ToolCall, Usage
from moonpad.values.endpoint import Endpoint
from moonpad.values.records import replace
from moonpad.verify.api import Asked, connect
from moonpad.verify.envelope import TokenLogprob
from moonpad.verify.own_text.changes import Examination
from moonpad.verify.own_text.recording import AnswerRecording, RecordedText, departs, key_of
from moonpad.verify.own_text.verdict import settle
from moonpad.verify.own_text.witness import Witness
from moonpad.verify.probe import Outcome, Status
from moonpad.verify.tool_calls import ARGUMENTS_BEGIN, CALL_BEGIN, CALL_END, SECTION_BEGIN, SECTION_END

BODY: dict[str, Any] = {"messages": [{"role": "user", "content": "Why?"}], "temperature": 0, "max_tokens": 64}
SURE, UNSURE = -9.0, -0.4
USAGE = Usage(prompt_tokens=3, completion_tokens=5, total_tokens=8)
RIGHT = Message("sun lamp", "why", "reasoning", finish_reason="stop", usage=USAGE)


@dataclass
class Model:
    """A server of raw completions whose model writes these tokens. `rival`: the second likeliest of each."""

    tokens: tuple[str, ...] = ("<think>", "why", "</think>", "sun", " lamp")
    rivals: Mapping[int, str] = field(default_factory=dict)
    shows_marks: bool = True
    status: int = 200
    prompt_count: int = 3
    lead: float = -UNSURE - 0.1
    """Of a token over its rival, in nats."""
    text: str = ""
    """Instead of that of the tokens."""
    chat: str = ""
    """The content of every chat answer."""
    forced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What follows a prompt that ends so."""
    later: tuple[str, ...] = ()
    """What the model writes from the second time on, where it is not the same."""
    asked: int = 0

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_get("/v1/models", self.models)
        app.router.add_post("/tokenize", self.tokenize)
        app.router.add_post("/detokenize", self.detokenize)
        app.router.add_post("/v1/completions", self.complete)
        app.router.add_post("/v1/chat/completions", self.answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        finally:
            await runner.cleanup()

    async def tokenize(self, request: web.Request) -> web.Response:
        return web.json_response({"tokens": [1, 2, 3], "count": self.prompt_count})

    async def detokenize(self, request: web.Request) -> web.Response:
        return web.json_response({"prompt": "Why?"})

    async def answer(self, request: web.Request) -> web.Response:
        message = {"role": "assistant", "content": self.chat, "reasoning": "why"}
        usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return web.json_response({"choices": choices, "usage": usage})

    async def models(self, request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "kimi"}, {"id": "listed"}]})

    async def complete(self, request: web.Request) -> web.Response:
        prompt = (await request.json())["prompt"]
        if self.status != 200:
            return web.json_response({"error": {"message": "Not Found"}}, status=self.status)
        usual = self.later if self.later and self.asked else self.tokens
        self.asked += 1
        tokens = next((rest for end, rest in self.forced.items() if str(prompt).endswith(end)), usual)
        tops = [
            {token: -0.1, self.rivals.get(place, "other"): -0.1 - self.lead if place in self.rivals else SURE}
            for place, token in enumerate(tokens)
        ]
        shown = [token for token in tokens if self.shows_marks or not token.startswith("<")]
        choice = {
            "text": self.text or "".join(shown),
            "finish_reason": "stop",
            "logprobs": {"tokens": list(tokens), "top_logprobs": tops},
        }
        usage = {"prompt_tokens": 3, "completion_tokens": len(tokens), "total_tokens": 3 + len(tokens)}
        return web.json_response({"choices": [choice], "usage": usage})


def examine(
    answer: Message,
    server: Model,
    *,
    how: str = "whole",
    body: Mapping[str, Any] = BODY,
    recording: AnswerRecording | None = None,
    logprobs: tuple[TokenLogprob, ...] = (),
    model: str = "",
    engine: str = "vllm",
) -> Examination:
    async def ask() -> Examination:
        async with server.serve() as url, connect(Endpoint(url, "kimi")) as api:
            witness = Witness(api, {"id": "kimi"}, ENGINES[engine].api, recording)
            return await witness.examine([Asked(body, answer, how, logprobs=logprobs, model=model)])

    return asyncio.run(ask())


def test_the_same_text_is_no_change() -> None:
    assert examine(RIGHT, Model()) == Examination(1)


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        (replace(RIGHT, content="sun lam"), "content"),
        (replace(RIGHT, content="", reasoning="whysun lamp"), "reasoning"),
        (replace(RIGHT, finish_reason="length"), "finish_reason"),
        (replace(RIGHT, usage=replace(USAGE, completion_tokens=4, total_tokens=7)), "usage.completion_tokens"),
        (replace(RIGHT, usage=replace(USAGE, prompt_tokens=2, total_tokens=7)), "the prompt"),
        (replace(RIGHT, usage=None), "usage"),
    ],
)
def test_a_change_at_a_clear_margin_is_the_servers(answer: Message, part: str) -> None:
    changes = examine(answer, Model()).changes
    assert changes[0].part.partition(" from ")[0] == part
    if part in ("content", "reasoning"):
        assert "lam" in changes[0].text or "why" in changes[0].text
        assert "the model's own text has" in changes[0].text


def test_another_token_that_was_as_likely_is_followed() -> None:
    """After ` light` instead of ` lamp` the model ends too: nothing was changed. After it, a word too many is."""
    model = Model(rivals={4: " light"}, forced={" light": ()})
    assert examine(replace(RIGHT, content="sun light"), model) == Examination(1)
    assert examine(replace(RIGHT, content="sun light!"), model).changes
    assert examine(replace(RIGHT, content="sun moon"), model).changes


@pytest.mark.parametrize(("alone", "changed"), [("sun lamp", False), ("sun light", True)])
def test_a_token_that_led_by_more_is_followed_if_the_answer_alone_is_right(alone: str, changed: bool) -> None:
    """A mixture of experts may choose others in another batch; a server that changes words does so alone too."""
    model = Model(rivals={4: " light"}, lead=2.0, forced={" light": ()}, chat=alone)
    assert bool(examine(replace(RIGHT, content="sun light"), model).changes) is changed
    assert examine(replace(RIGHT, content="sun moon"), model).changes


@pytest.mark.parametrize(("alone", "changed"), [("sun lamp", False), ("sun moon", True)])
def test_behind_a_penalty_the_answer_alone_decides(alone: str, changed: bool) -> None:
    """The log-probabilities are those before it, and tell of no token that was about as likely behind it."""
    moon = replace(RIGHT, content="sun moon")
    examination = examine(moon, Model(chat=alone), body={**BODY, "presence_penalty": 2.0})
    assert bool(examination.changes) is changed
    assert changed or "penalty" in examination.reasons[0]
    assert examine(moon, Model(chat=alone)).changes


def test_a_lead_that_no_batch_explains_is_not_followed() -> None:
    model = Model(rivals={4: " light"}, lead=4.0, forced={" light": ()}, chat="sun lamp")
    assert examine(replace(RIGHT, content="sun light"), model).changes


@pytest.mark.parametrize(("lead", "changed"), [(0.4, False), (4.0, True)])
def test_two_tokens_may_begin_alike(lead: float, changed: bool) -> None:
    """The texts part behind the blank, which is a token of one and the beginning of the other's: as SGLang wrote
    "1 have" for "1 2" under load."""
    tokens = ("<think>", "why", "</think>", "1", " ", "2")
    model = Model(tokens=tokens, rivals={4: " have"}, lead=lead, forced={" have": ()}, chat="1 have")
    own = replace(RIGHT, content="1 have", usage=Usage(prompt_tokens=3, completion_tokens=5, total_tokens=8))
    assert bool(examine(own, model).changes) is changed


@pytest.mark.parametrize("text", ["<think>why</think>sun lam", "<think>why</think>Sun lamp"])
def test_a_completion_whose_text_is_not_that_of_its_tokens_is_changed(text: str) -> None:
    """As by a proxy that spoils completions and chats alike."""
    spoiled = replace(RIGHT, content=text.removeprefix("<think>why</think>"))
    (change,) = examine(spoiled, Model(text=text)).changes
    assert "its tokens" in change.text


@pytest.mark.parametrize(("model", "changed"), [("kimi", False), ("listed", False), ("another", True), ("", False)])
def test_an_answer_of_a_model_that_is_not_listed(model: str, changed: bool) -> None:
    assert bool(examine(RIGHT, Model(), model=model).changes) is changed


def test_one_id_for_the_answers_to_two_requests() -> None:
    other = {**BODY, "max_tokens": 32}

    async def ask(*bodies: Mapping[str, Any]) -> Examination:
        async with Model().serve() as url, connect(Endpoint(url, "kimi")) as api:
            witness = Witness(api, {"id": "kimi"}, ENGINES["vllm"].api)
            return await witness.examine([Asked(body, RIGHT, "whole", id="chatcmpl-7") for body in bodies])

    assert asyncio.run(ask(BODY, other)).changes
    assert asyncio.run(ask(BODY, BODY)).changes == ()


@pytest.mark.parametrize(
    ("values", "changed"),
    [((-0.1, -9.0), False), ((-0.5, -8.5), False), ((-0.1, -3.9), True), ((-2.1, -9.0), True)],
)
def test_log_probabilities_are_those_of_the_completion(values: tuple[float, float], changed: bool) -> None:
    rows = tuple(TokenLogprob(token, values[0], {token: values[0], "other": values[1]}) for token in Model().tokens)
    assert bool(examine(RIGHT, Model(), logprobs=rows).changes) is changed


def test_without_completions_nothing_is_compared_and_the_reason_is_given() -> None:
    examination = examine(replace(RIGHT, content="moon"), Model(status=404))
    assert examination == Examination(reasons=("there is no /v1/completions",))


def test_a_text_without_its_special_tokens_tells_nothing() -> None:
    examination = examine(RIGHT, Model(shows_marks=False))
    assert examination.changes == ()
    assert "no special tokens" in examination.reasons[0]


@pytest.mark.parametrize(
    "field", [{"temperature": 1.0}, {"response_format": {"type": "json_object"}}, {"tool_choice": "required"}]
)
def test_what_need_not_be_the_same_is_not_compared(field: dict[str, object]) -> None:
    assert examine(replace(RIGHT, content="moon"), Model(), body={**BODY, **field}) == Examination()


def test_what_is_drawn_by_a_seed_is_a_change_only_if_other_seeds_are_drawn_otherwise_too() -> None:
    """In another batch one seed may give another text; a server that ignores a parameter changes the text of each."""
    drawn = {**BODY, "temperature": 2.0, "seed": 8}
    moon = replace(RIGHT, content="moon")
    assert examine(RIGHT, Model(), body=drawn) == Examination(1)
    assert examine(moon, Model(chat="stars"), body=drawn).changes
    assert examine(moon, Model(chat="sun lamp"), body=drawn).changes == ()


LATER = {**BODY, "messages": [*BODY["messages"], {"role": "assistant", "content": "So."}, *BODY["messages"]]}
MOVED = replace(RIGHT, reasoning="", content="<think>whysun lamp")


def test_what_the_engine_itself_does_is_a_warning() -> None:
    """vLLM 0.32 streams the thinking of a later turn as content; whole answers, first turns and more are changes."""
    assert examine(MOVED, Model(), how="streamed", body=LATER).known
    assert examine(MOVED, Model(), how="whole", body=LATER).changes
    assert examine(MOVED, Model(), how="streamed").changes
    assert examine(replace(MOVED, content="<think>whysun lam"), Model(), how="streamed", body=LATER).changes
    assert examine(replace(RIGHT, reasoning="", content="whysun lamp"), Model(), how="streamed", body=LATER).changes


def test_an_engine_that_counts_calls_itself_gives_another_id() -> None:
    tokens = ("<think>", "</think>", SECTION_BEGIN, CALL_BEGIN, "functions.look:7", ARGUMENTS_BEGIN, "{}", CALL_END)
    model = Model((*tokens, SECTION_END))
    usage = Usage(prompt_tokens=3, completion_tokens=9, total_tokens=12)

    def called(number: int) -> Message:
        call = ToolCall(f"functions.look:{number}", "look", "{}")
        return Message("", tool_calls=(call,), finish_reason="tool_calls", usage=usage)

    assert examine(called(7), model) == Examination(1)
    assert "id of call 0" in examine(called(0), model).changes[0].text
    assert examine(called(0), model, engine="sglang") == Examination(1)
    assert "id of call 0" in examine(called(7), model, engine="sglang").changes[0].text


def recording(*, margin: float, text: str = "<think>why</think>sun lamp") -> AnswerRecording:
    row = RecordedText("Why?", text, "stop", 3, 5, (0, 7, 10, 18, 21), (margin,) * 5)
    return AnswerRecording("kimi", "a sound endpoint", "", {key_of(BODY, 64): row})


def test_another_text_than_was_recorded_is_the_servers_where_the_margin_is_clear() -> None:
    other = "<think>why</think>moon"
    changes = examine(RIGHT, Model(), recording=recording(margin=3.0, text=other)).changes
    assert "the recording of a sound endpoint" in changes[0].text
    assert examine(RIGHT, Model(), recording=recording(margin=0.3, text=other)) == Examination(1)
    assert examine(RIGHT, Model(), recording=recording(margin=3.0)) == Examination(1)


def test_a_recording_holds_for_every_engine() -> None:
    """What a request asks for beside the text, as vLLM's `return_token_ids`, makes no other text of it."""
    asked = {**BODY, "return_token_ids": True, "logprobs": True, "tool_choice": "auto"}
    other = recording(margin=3.0, text="<think>why</think>moon")
    assert examine(RIGHT, Model(), body=asked, recording=other).changes


@pytest.mark.parametrize(("tokens", "margin"), [(("1", " have"), 0.2), (("1", " ", "have"), 5.0), ((), 0.2)])
def test_a_text_leaves_the_recorded_one_at_a_token(tokens: tuple[str, ...], margin: float) -> None:
    """Where the tokens are not known, the one before may be where it was."""
    row = RecordedText("How many?", "1 2", "stop", 3, 3, (0, 1, 2), (9.0, 0.2, 5.0))
    assert departs(row, "1 have", tokens) == (2, margin)


def test_what_an_engine_takes_in_its_own_way_is_not_held_against_a_recording() -> None:
    """SGLang's penalty of repetitions counts no tokens of the prompt, vLLM's does."""
    body = {**BODY, "repetition_penalty": 2.0}
    row = recording(margin=3.0, text="<think>why</think>moon").texts[key_of(BODY, 64)]
    theirs = AnswerRecording("kimi", "a sound endpoint", "", {key_of(body, 64): row})
    assert examine(RIGHT, Model(), body=body, recording=theirs) == Examination(1)
    assert examine(replace(RIGHT, content="moon"), Model(), body=body, recording=theirs).changes


@pytest.mark.parametrize(("alone", "changed"), [(" moon", False), (" lamp", True)])
def test_behind_a_penalty_the_text_alone_is_held_against_the_recording(alone: str, changed: bool) -> None:
    body = {**BODY, "presence_penalty": 2.0}
    row = recording(margin=6.0, text="<think>why</think>sun moon").texts[key_of(BODY, 64)]
    theirs = AnswerRecording("kimi", "a sound endpoint", "", {key_of(body, 64): row})
    model = Model(later=("<think>", "why", "</think>", "sun", alone))
    examination = examine(RIGHT, model, body=body, recording=theirs)
    assert bool(examination.changes) is changed
    assert changed or "penalty" in examination.reasons[0]
    without = Model(later=("<think>", "why", "</think>", "sun", alone))
    assert examine(RIGHT, without, recording=recording(margin=6.0, text="<think>why</think>sun moon")).changes


def test_a_recording_stands_in_for_missing_completions() -> None:
    away = Model(status=404)
    assert examine(RIGHT, away, recording=recording(margin=3.0)) == Examination(1)
    assert examine(replace(RIGHT, content="moon"), away, recording=recording(margin=3.0)).changes
    assert not examine(replace(RIGHT, content="moon"), away, recording=recording(margin=0.3)).changes


POOR = Outcome(Status.FAIL, "no call came", model_may_be_why=True)
CHANGED = Examination(1, examine(replace(RIGHT, content="moon"), Model()).changes)
UNPARSED = Examination(1, examine(replace(RIGHT, reasoning=""), Model()).changes)


@pytest.mark.parametrize(
    ("outcome", "examination", "small", "status", "says"),
    [
        (POOR, Examination(2), "", Status.FAIL, "it is the model"),
        (POOR, Examination(2), "too small", Status.SKIP, "it is the model"),
        (POOR, Examination(reasons=("no completions",)), "", Status.FAIL, "could not be told apart: no completions"),
        (POOR, Examination(reasons=("no completions",)), "too small", Status.SKIP, "could not be told apart"),
        (POOR, CHANGED, "too small", Status.FAIL, "the server changed the answer"),
        (Outcome(Status.PASS, "right"), CHANGED, "too small", Status.FAIL, "the server changed the answer"),
        (Outcome(Status.SKIP, "no /metrics"), CHANGED, "", Status.FAIL, "the server changed the answer"),
        (Outcome(Status.PASS, "asked", by_own_text=True), Examination(2), "", Status.PASS, "2 answers"),
        (Outcome(Status.PASS, "asked", by_own_text=True), Examination(), "", Status.SKIP, "could not be told apart"),
        (Outcome(Status.PASS, "right"), Examination(), "", Status.PASS, "right"),
        (Outcome(Status.PASS, "a call", unparsed=True), UNPARSED, "", Status.PASS, "a call"),
        (Outcome(Status.PASS, "a call", unparsed=True), CHANGED, "", Status.FAIL, "the server changed the answer"),
        (Outcome(Status.PASS, "right"), UNPARSED, "", Status.FAIL, "the server changed the answer"),
    ],
)
def test_the_verdict(outcome: Outcome, examination: Examination, small: str, status: Status, says: str) -> None:
    verdict = settle(outcome, examination, small)
    assert verdict.status is status
    assert says in verdict.because
