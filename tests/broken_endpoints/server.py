"""An OpenAI endpoint of the scripted Kimi: sound, but for the faults that are switched on.

Written from shared facts about failing endpoints and the API's documentation; `faults.py` lists the switches.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from moonpad.values.endpoint import Endpoint
from tests.broken_endpoints.kimi import FILLER, SPECIAL, Call, Turn, answer, rendered, text_of, tokens_of

MODEL = "moonshotai/Kimi-K2-Thinking"
TOKEN_S = 0.002
CONTEXT = 32_768
BODY_BYTES = 1 << 26


def error(status: int, message: str) -> web.Response:
    body = {"error": {"message": message, "type": "BadRequestError", "param": None, "code": status}}
    return web.json_response(body, status=status)


@dataclass
class Piece:
    """One token of an answer: where it is shown ("" nowhere), and as what."""

    channel: str
    text: str
    call: int = -1


@dataclass
class BrokenEndpoint:
    """`faults` are switches of `faults.py`; none of them is a sound server."""

    faults: frozenset[str] = frozenset()
    key: str = ""
    model: str = MODEL
    context: int = CONTEXT
    running: int = 0
    asked: int = 0
    dead: bool = False
    spoil: Callable[[bytes], bytes] = bytes
    """What becomes of each body, or of each event of a stream."""
    requests: int = 0

    def on(self, fault: str) -> bool:
        return fault in self.faults

    def app(self) -> web.Application:
        app = web.Application(client_max_size=BODY_BYTES, middlewares=[self.spoiled_body])
        app.router.add_get("/health", self.health)
        app.router.add_get("/metrics", self.metrics)
        app.router.add_post("/tokenize", self.tokenize)
        app.router.add_get("/v1/models", self.models)
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_post("/v1/completions", self.completions)
        return app

    @web.middleware
    async def spoiled_body(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.requests += 1
        response = await handler(request)
        if isinstance(response, web.Response) and isinstance(response.body, bytes):
            response.body = self.spoil(response.body)
        return response

    # - beside the answers -

    async def health(self, request: web.Request) -> web.Response:
        return web.Response(status=503 if self.on("unhealthy") or self.dead else 200)

    async def metrics(self, request: web.Request) -> web.Response:
        if self.on("metrics without requests"):
            return web.Response(text="python_gc_objects 7\n")
        text = f'# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{{engine="0"}} {self.running}.0\n'
        return web.Response(text=text)

    async def models(self, request: web.Request) -> web.Response:
        if not self.lets_in(request) and not self.on("models without a key"):
            return error(401, "Unauthorized")
        if self.on("models are a page"):
            return web.Response(text="<html>It works!</html>", content_type="text/html")
        card = {"id": self.model, "object": "model", "owned_by": "vllm", "root": f"/models/{self.model}"}
        return web.json_response({"object": "list", "data": [{**card, "max_model_len": self.context}]})

    async def tokenize(self, request: web.Request) -> web.Response:
        body = await request.json()
        if "messages" in body:
            tokens = tokens_of(rendered(body["messages"], opened=body.get("add_generation_prompt", True)))
        else:
            tokens = tokens_of(body["prompt"])
        numbers = [SPECIAL.get(token, sum(map(ord, token)) % 100_000) for token in tokens]
        return web.json_response({"tokens": numbers, "count": len(numbers), "max_model_len": self.context})

    def lets_in(self, request: web.Request) -> bool:
        if not self.key or self.on("any key"):
            return True
        return request.headers.get("Authorization") == f"Bearer {self.key}"

    # - requests -

    async def read(self, request: web.Request) -> dict[str, Any] | web.Response:
        if not self.lets_in(request):
            return error(401, "Unauthorized")
        if self.dead:
            return error(500, "EngineCore encountered an issue")
        try:
            body = json.loads(await request.read())
        except (ValueError, UnicodeDecodeError):
            if self.on("broken JSON is refused late"):
                await asyncio.sleep(1.2)
            if self.on("dies of broken JSON"):
                self.dead = True
            if self.on("500 for broken JSON") or self.dead:
                return error(500, "Internal Server Error")
            return error(400, "the body is no JSON")
        if not isinstance(body, dict):
            return error(400, "the body is no object")
        if body.get("model") != self.model and not self.on("any model"):
            return error(404, f"The model `{body.get('model')}` does not exist.")
        return body

    def refusal(self, body: dict[str, Any]) -> str:
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            return "messages must be a list"
        if any(not isinstance(one, dict) or not isinstance(one.get("role"), str) for one in messages):
            return "a message has a role"
        temperature = body.get("temperature", 1.0)
        if not isinstance(temperature, int | float) or (temperature < 0 and not self.on("takes every temperature")):
            return "temperature must be a number of at least 0"
        if not 0 < body.get("top_p", 1.0) <= 1:
            return "top_p must be in (0, 1]"
        if not isinstance(body.get("max_tokens", 1), int) or body.get("max_tokens", 1) < 1:
            return "max_tokens must be at least 1"
        if not isinstance(body.get("tools") or [], list):
            return "tools must be a list"
        return ""

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await self.read(request)
        if isinstance(body, web.Response):
            return body
        if why := self.refusal(body):
            return error(400, why)
        if self.on("tools are refused") and body.get("tools"):
            return error(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')
        prompt = len(tokens_of(self.prompt(body)))
        if prompt >= self.context:
            return error(400, f"This model's maximum context length is {self.context} tokens, got {prompt}.")
        self.running += 1
        self.asked += 1
        try:
            if body.get("stream"):
                return await self.streamed(request, body, prompt)
            return await self.whole(body, prompt)
        except asyncio.CancelledError:
            if self.on("runs on when left"):
                self.running += 1
            raise
        finally:
            self.running -= 1

    def prompt(self, body: dict[str, Any]) -> str:
        messages = [dict(one) for one in body["messages"]]
        if self.on("system message is dropped"):
            messages = [one for one in messages if one["role"] != "system"]
        if self.on("history is dropped"):
            messages = messages[-1:]
        if self.on("parts are dropped"):
            messages = [
                {**one, "content": one["content"] if isinstance(one.get("content"), str) else ""} for one in messages
            ]
        if self.on("thinking is not read back"):
            messages = [{k: v for k, v in one.items() if not k.startswith("reasoning")} for one in messages]
        if self.on("thinking is read back by the other name"):
            messages = [{k: v for k, v in one.items() if k != "reasoning"} for one in messages]
        if self.on("empty content is rendered as a list"):
            messages = [
                {**one, "content": "[]" if one.get("content") == "" else one.get("content")} for one in messages
            ]
        return rendered(messages, body.get("tools") or (), opened=not self.on("no turn of the assistant"))

    async def completions(self, request: web.Request) -> web.StreamResponse:
        body = await self.read(request)
        if isinstance(body, web.Response):
            return body
        prompt = body["prompt"] if isinstance(body["prompt"], list) else tokens_of(body["prompt"])
        limit = self.context // 2 if self.on("context is shorter than claimed") else self.context
        if len(prompt) + body["max_tokens"] > limit and not self.on("long prompts are cut in silence"):
            if self.on("500 for a long prompt"):
                return error(500, "Internal Server Error")
            if self.on("the limit is not named"):
                return error(400, "Bad request")
            return error(400, f"This model's maximum context length is {limit} tokens, got {len(prompt)}.")
        if self.on("no text in completions"):
            return web.json_response({"choices": [{"index": 0, "finish_reason": "length"}], "usage": {}})
        made = body["max_tokens"] * (3 if self.on("completions run over") else 1)
        usage = {"prompt_tokens": len(prompt), "completion_tokens": made, "total_tokens": len(prompt) + made}
        choice = {"index": 0, "text": " four" * made, "finish_reason": "length", "logprobs": None}
        return web.json_response({"object": "text_completion", "choices": [choice], "usage": usage})

    # - the answer, token by token -

    def turn(self, body: dict[str, Any]) -> Turn:
        asked = dict(body)
        if self.on("the results of tools are lost"):
            asked["messages"] = [one for one in body["messages"] if one["role"] != "tool"]
        choice = body.get("tool_choice")
        if self.on("tool_choice none is ignored") and choice == "none":
            asked["tool_choice"] = "auto"
        if self.on("tool_choice required is ignored") and choice == "required":
            asked["tool_choice"] = "auto"
        if self.on("a named tool is ignored") and isinstance(choice, dict):
            asked["tool_choice"] = "auto"
        if self.on("temperature is ignored"):
            asked["temperature"] = 0
        if self.on("n is ignored"):
            asked["n"] = 1
        for name in ("json_object", "json_schema"):
            if self.on(f"{name} is ignored") and (body.get("response_format") or {}).get("type") == name:
                asked.pop("response_format")
        if self.on("regex is ignored"):
            asked.pop("structured_outputs", None)
        if choice == "none" and body.get("tools") and body.get("skip_special_tokens") is False:
            return self.raw(answer({**asked, "tool_choice": "auto"}))
        turn = answer(asked, salt=str(self.asked))
        return self.spoiled(turn, body)

    def raw(self, turn: Turn) -> Turn:
        """What the model itself writes where it sees tools, and nobody parses."""
        if self.on("tools are not in the prompt"):
            return Turn(turn.reasoning, "I have no tool for this.")
        if self.on("the model's calls have no section"):
            inside = "".join(f"{one.id}{one.arguments}" for one in turn.calls)
            return Turn(turn.reasoning, inside)
        if self.on("the model's calls are no JSON"):
            turn.calls = [Call(one.name, one.arguments.replace('"', "'"), one.number) for one in turn.calls]
        inside = "".join(
            f"<|tool_call_begin|>{one.id}<|tool_call_argument_begin|>{one.arguments}<|tool_call_end|>"
            for one in turn.calls
        )
        return Turn(turn.reasoning, f"<|tool_calls_section_begin|>{inside}<|tool_calls_section_end|>")

    def spoiled(self, turn: Turn, body: dict[str, Any]) -> Turn:
        user = text_of(body["messages"][-1].get("content"))
        if self.on("!!!! behind a long text") and len(user) > 2000:
            return Turn("", "!" * 60)
        if self.on("repeats itself behind a long text") and len(user) > 2000:
            return Turn("", "It leaves at nine and then. " * 20)
        if self.on("answers of others under load") and self.running > 8:
            turn.content = "The result of this is 36, dear friend." if "36" not in turn.content else turn.content
            turn.reasoning = "12 * 3 is 36."
        if self.on("nothing behind the thinking") and not turn.calls:
            turn.content = ""
        if self.on("the end token is visible") and not turn.calls:
            turn.content += "<|im_end|>"
        if self.on("a special token in the thinking"):
            turn.reasoning += "<|tool_calls_section_begin|>"
        if self.on("a call of a tool that was not offered"):
            turn.calls = [Call("search_web", one.arguments, one.number) for one in turn.calls]
        if self.on("calls are merged") and len(turn.calls) > 1:
            turn.calls = turn.calls[:1]
        if self.on("ids begin again"):
            turn.calls = [Call(one.name, one.arguments, number) for number, one in enumerate(turn.calls)]
        if self.on("forgets at turn 137") and [one.number for one in turn.calls] == [136]:
            turn.calls = [Call(one.name, '{"page": "elsewhere"}', one.number) for one in turn.calls]
        for call in turn.calls:
            self.spoil_call(call)
        return turn

    def spoil_call(self, call: Call) -> None:
        if self.on("arguments are cut at 8 KB"):
            call.arguments = call.arguments[:8192]
        if self.on("the last brace is lost"):
            call.arguments = call.arguments.removesuffix("}")
        if self.on("arguments break the schema"):
            call.arguments = call.arguments.replace('"city"', '"town"').replace('"first"', '"business"')
        if self.on("empty arguments are an empty text") and call.arguments == "{}":
            call.arguments = ""
        if self.on("letters beyond ASCII are lost"):
            call.arguments = call.arguments.encode("ascii", "replace").decode()

    def pieces(self, turn: Turn, body: dict[str, Any]) -> tuple[list[Piece], str]:
        """The answer's tokens, and why it ended."""
        pieces = [Piece("reasoning", one) for one in tokens_of(turn.reasoning)] + [Piece("", "</think>")]
        raw = self.unparsed(turn, body)
        content = raw if raw is not None else turn.content
        channel = "reasoning" if self.on("all in the reasoning") else "content"
        pieces += [Piece(channel, one) for one in tokens_of(content)]
        if raw is None and turn.calls:
            for number, call in enumerate(turn.calls):
                pieces += [Piece("call", one, number) for one in ["", *tokens_of(call.arguments)]]
        finish = "tool_calls" if turn.calls and raw is None else "stop"
        pieces.append(Piece("", "<|im_end|>"))
        bias = body.get("logit_bias") or {}
        for token, number in SPECIAL.items():
            if bias.get(str(number), 0) >= 100 and not self.on(f"{token} does not end"):
                return [Piece("", token)], "stop"
        if self.on("no end is known"):
            pieces[-1:] = [Piece("content", f" {FILLER[n % 8]}") for n in range(2000)]
        if body.get("ignore_eos"):
            least = self.limit(body) or 100
            pieces[-1:] = [Piece("content", f" {FILLER[n % 8]}") for n in range(max(0, least - len(pieces) + 1))]
        return self.cut(pieces, finish, body)

    def unparsed(self, turn: Turn, body: dict[str, Any]) -> str | None:
        """The calls as text, where a fault leaves them so."""
        if not turn.calls:
            return None
        call = turn.calls[0]
        foreign = any(
            not str(one["id"]).startswith("functions.")
            for message in body["messages"]
            for one in message.get("tool_calls") or ()
        )
        inside = f"<|tool_call_begin|>{call.id}<|tool_call_argument_begin|>{call.arguments}<|tool_call_end|>"
        if (
            self.on("no tool parser")
            or (self.on("foreign ids spoil later calls") and foreign)
            or (self.on("hyphens are not parsed") and "-" in call.name)
        ):
            return f"<|tool_calls_section_begin|>{inside}<|tool_calls_section_end|>"
        if self.on("ids without functions. are not parsed"):
            return f"<|tool_call_begin|>{call.name}:0<|tool_call_argument_begin|>{call.arguments}<|tool_call_end|>"
        if self.on("ids without signs are not parsed"):
            return f"functions{call.name}0{call.arguments}"
        if self.on("calls of foreign ids are dropped") or self.on("a line break in the id drops the call"):
            return ""
        if self.on("a call inside the thinking is lost"):
            turn.reasoning += f"functions.{call.name}:0{call.arguments}"
            return ""
        return None

    def limit(self, body: dict[str, Any]) -> int | None:
        limits = [
            body.get(name)
            for name in ("max_tokens", "max_completion_tokens")
            if not self.on(f"{name} is ignored") and body.get(name) is not None
        ]
        return min(limits) if limits else None

    def cut(self, pieces: list[Piece], finish: str, body: dict[str, Any]) -> tuple[list[Piece], str]:
        stops = body.get("stop") or []
        for stop in [] if self.on("stop is ignored") else ([stops] if isinstance(stops, str) else stops):
            for end in range(1, len(pieces) + 1):
                if stop in "".join(one.text for one in pieces[:end] if one.channel == "content"):
                    pieces = pieces[: end if self.on("the stop string is shown") else end - 1]
                    finish = "stop"
                    break
        limit = self.limit(body)
        if limit is not None and len(pieces) > limit:
            pieces, finish = pieces[:limit], "stop" if self.on("a cut answer ends with stop") else "length"
            if self.on("calls are dropped at the limit"):
                pieces = [one for one in pieces if one.channel != "call"]
            if self.on("cut thinking is content") and not any(one.text == "</think>" for one in pieces):
                pieces = [Piece("content", one.text) for one in pieces]
        if self.on("finish_reason is always length"):
            finish = "length"
        if self.on("a call ends with stop") and finish == "tool_calls":
            finish = "stop"
        return pieces, finish

    # - sent -

    @property
    def field(self) -> str:
        return "thinking" if self.on("thinking under another name") else "reasoning"

    def usage(self, prompt: int, pieces: list[Piece]) -> dict[str, Any]:
        made = len(pieces)
        if self.on("usage counts the prompt wrongly"):
            prompt += 9
        if self.on("usage counts the answer twice"):
            made *= 2
        total = made if self.on("usage does not add up") else prompt + made
        thought = sum(one.channel == "reasoning" for one in pieces)
        details = {"completion_tokens_details": {"reasoning_tokens": thought}}
        return {"prompt_tokens": prompt, "completion_tokens": made, "total_tokens": total, **details}

    def call_id(self, call: Call) -> str:
        return f"chatcmpl-tool-{call.number:032x}" if self.on("ids of another make") else call.id

    def message(self, turn: Turn, pieces: list[Piece]) -> dict[str, Any]:
        def text(channel: str, call: int = -1) -> str:
            return "".join(one.text for one in pieces if one.channel == channel and one.call == call)

        message: dict[str, Any] = {"role": "assistant", "content": text("content") or None}
        reasoning = text("reasoning")
        if self.on("thinking is in the content"):
            message["content"] = f"<think>{reasoning}</think>{message['content'] or ''}"
        elif reasoning and not self.on("thinking is dropped"):
            message[self.field] = reasoning
        begun = {one.call for one in pieces if one.channel == "call"}
        calls = [
            {
                "id": self.call_id(call),
                "type": "function",
                "function": {"name": call.name, "arguments": text("call", number)},
            }
            for number, call in enumerate(turn.calls)
            if number in begun
        ]
        if calls:
            message["tool_calls"] = calls
        return message

    def logprobs(self, pieces: list[Piece], body: dict[str, Any]) -> dict[str, Any] | None:
        if not body.get("logprobs") or self.on("no logprobs"):
            return None
        value = math.nan if self.on("logprobs are NaN") else -0.25
        best = -0.01 if self.on("greedy is not the likeliest") else value
        top = [{"token": "x", "logprob": best}, {"token": "y", "logprob": -2.0}]
        return {"content": [{"token": one.text, "logprob": value, "top_logprobs": top} for one in pieces]}

    async def whole(self, body: dict[str, Any], prompt: int) -> web.Response:
        choices = []
        count = 1 if self.on("n is ignored") else body.get("n") or 1
        pieces: list[Piece] = []
        for index in range(count):
            turn = self.turn(body)
            pieces, finish = self.pieces(turn, body)
            message = self.message(turn, pieces)
            choices.append(
                {"index": index, "message": message, "finish_reason": finish}
                | ({"logprobs": found} if (found := self.logprobs(pieces, body)) else {})
            )
        await asyncio.sleep(TOKEN_S * min(len(pieces), 20) / 4)
        document = {"object": "chat.completion", "choices": choices, "usage": self.usage(prompt, pieces)}
        if self.on("no usage"):
            document.pop("usage")
        return web.Response(text=json.dumps(document), content_type="application/json")

    async def streamed(self, request: web.Request, body: dict[str, Any], prompt: int) -> web.StreamResponse:
        turn = self.turn(body)
        pieces, finish = self.pieces(turn, body)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        held: list[bytes] = []

        async def send(document: dict[str, Any]) -> None:
            data = b"data: " + json.dumps(document).encode() + b"\n\n"
            if self.on("a proxy buffers"):
                held.append(data)
            else:
                await response.write(self.spoil(data))

        def chunk(delta: dict[str, Any], ended: str | None = None) -> dict[str, Any]:
            return {"choices": [{"index": 0, "delta": delta, "finish_reason": ended}]}

        named: set[int] = set()
        for number, piece in enumerate(pieces):
            if delta := self.delta(piece, turn, named):
                await send(chunk(delta))
            await asyncio.sleep(TOKEN_S)
            if self.on("the stream is cut") and number == 5 and request.transport is not None:
                request.transport.abort()
                return response
        if self.on("an error inside the stream"):
            await send({"error": {"message": "CUDA error: an illegal memory access", "code": 500}})
        if not self.on("no finish_reason in the stream"):
            await send(chunk({}, finish))
        if not self.on("no usage in the stream"):
            await send({"choices": [], "usage": self.usage(prompt, pieces)})
        for data in held:
            await response.write(data)
        if not self.on("no [DONE]"):
            await response.write(b"data: [DONE]\n\n")
        return response

    def delta(self, piece: Piece, turn: Turn, named: set[int]) -> dict[str, Any]:
        if piece.channel == "reasoning" and not self.on("no thinking in the stream"):
            return {self.field: piece.text}
        if piece.channel == "content":
            text = re.sub(r"\d", "7", piece.text) if self.on("the stream differs") else piece.text
            return {"content": text}
        if piece.channel != "call":
            return {}
        call = turn.calls[piece.call]
        function: dict[str, Any] = {"arguments": piece.text}
        row: dict[str, Any] = {"index": piece.call, "function": function}
        if piece.call not in named or self.on("the name comes with each piece"):
            function["name"] = call.name
            row |= {"type": "function"} | ({} if self.on("no id in the stream") else {"id": self.call_id(call)})
            named.add(piece.call)
        if self.on("the stream loses a piece of the arguments") and piece.text == ":":
            function["arguments"] = ""
        if self.on("all calls have index 0 in the stream"):
            row["index"] = 0
        return {"tool_calls": [row]}


@asynccontextmanager
async def serve(endpoint: BrokenEndpoint) -> AsyncIterator[Endpoint]:
    """On a free port of 127.0.0.1, as long as the block lasts."""
    runner = web.AppRunner(endpoint.app(), shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield Endpoint(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", endpoint.model)
    finally:
        await runner.cleanup()
