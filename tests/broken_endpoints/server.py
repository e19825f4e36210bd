"""An OpenAI endpoint of the scripted Kimi: sound, but for the faults that are switched on.

Written from shared facts about failing endpoints and the API's documentation; `faults.py` lists the switches.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from moonpad.values.endpoint import Endpoint
from tests.broken_endpoints.answers import Answers, Piece, logprob_at
from tests.broken_endpoints.kimi import SPECIAL, answer, rendered, sampled, tokens_of

MODEL = "moonshotai/Kimi-K2-Thinking"
TOKEN_S = 0.002
CONTEXT = 32_768
BODY_BYTES = 1 << 26
OF_THE_MODEL = {"tools are not in the prompt", "the model's calls have no section", "the model's calls are no JSON"}


def error(status: int, message: str) -> web.Response:
    body = {"error": {"message": message, "type": "BadRequestError", "param": None, "code": status}}
    return web.json_response(body, status=status)


def numbers_of(tokens: list[str]) -> list[int]:
    return [SPECIAL.get(token, zlib.crc32(token.encode()) % 100_000) for token in tokens]


@dataclass
class BrokenEndpoint(Answers):
    """`faults` are switches of `faults.py`; none of them is a sound server."""

    key: str = ""
    model: str = MODEL
    context: int = CONTEXT
    running: int = 0
    dead: bool = False
    tokenized: dict[tuple[int, ...], dict[str, Any]] = field(default_factory=dict)
    """The conversations whose tokens were asked for, by those tokens."""
    dies_after: int | None = None
    """Answers; from then on every connection is cut."""
    spoil: Callable[[bytes], bytes] = bytes
    """What becomes of each body, or of each event of a stream."""
    requests: int = 0

    @property
    def id(self) -> str:
        return f"chatcmpl-{self.request_count}"

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
            opened = body.get("add_generation_prompt", True)
            tokens = tokens_of(rendered(body["messages"], body.get("tools") or (), opened=opened))
        else:
            tokens = tokens_of(body["prompt"])
        numbers = numbers_of(tokens)
        if "messages" in body:
            self.tokenized[tuple(numbers)] = body
        return web.json_response({"tokens": numbers, "count": len(numbers), "max_model_len": self.context})

    def lets_in(self, request: web.Request) -> bool:
        if not self.key or self.on("any key"):
            return True
        return request.headers.get("Authorization") == f"Bearer {self.key}"

    # - requests -

    async def read(self, request: web.Request) -> dict[str, Any] | web.Response:
        if not self.lets_in(request):
            return error(401, "Unauthorized")
        if "busy" in self.faults:  # no fault of it
            await asyncio.sleep(0.12)
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
        if any(not isinstance(message, dict) or not isinstance(message.get("role"), str) for message in messages):
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
        if self.request_count == self.dies_after:
            assert request.transport is not None
            request.transport.abort()
        self.running += 1
        self.request_count += 1
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
        if isinstance(body["prompt"], list) and (chat := self.tokenized.get(tuple(body["prompt"]))):
            return web.json_response(self.own_text({**body, **chat}))
        count = body["max_tokens"] * (3 if self.on("completions run over") else 1)
        usage = {"prompt_tokens": len(prompt), "completion_tokens": count, "total_tokens": len(prompt) + count}
        text = sampled(body, str(self.requests)) if body.get("temperature", 1.0) > 0 else " four" * count
        if body.get("echo"):
            text = f"{body['prompt']}{text}"
        if body.get("stream"):
            rows = [{"choices": [{"index": 0, "text": token, "finish_reason": None}]} for token in tokens_of(text)]
            events = "".join(f"data: {json.dumps(row)}\n\n" for row in rows)
            return web.Response(text=f"{events}data: [DONE]\n\n", content_type="text/event-stream")
        choice = {"index": 0, "text": text, "finish_reason": "length", "logprobs": None}
        return web.json_response({"object": "text_completion", "choices": [choice], "usage": usage})

    def own_text(self, body: dict[str, Any]) -> dict[str, Any]:
        """What the model writes after a conversation, with its special tokens. Faults of the server do not reach it."""
        turn = answer({**body, "tool_choice": "auto"})
        if turn.calls and self.faults & OF_THE_MODEL:
            turn = self.raw(turn)
        pieces, finish = Answers().pieces(turn, body)
        tokens = [piece.text for piece in pieces if piece.text]
        text = "".join(tokens).removesuffix("<|im_end|>")
        rows = [{token: logprob_at(place), "x": -9.0} for place, token in enumerate(tokens)]
        logprobs = {"tokens": tokens, "top_logprobs": rows}
        end = "length" if finish == "length" else "stop"
        usage = Answers().usage(len(body["prompt"]), pieces)
        choice = {"index": 0, "text": text, "finish_reason": end, "logprobs": logprobs}
        if body.get("return_token_ids"):
            choice["prompt_token_ids"] = body["prompt"]
        return {"object": "text_completion", "choices": [choice], "usage": usage}

    # - sent -

    async def whole(self, body: dict[str, Any], prompt: int) -> web.Response:
        choices, id_ = [], self.id
        count = 1 if self.on("n is ignored") else body.get("n") or 1
        pieces: list[Piece] = []
        for index in range(count):
            seed = body.get("seed")
            turn = self.turn(body if seed is None else {**body, "seed": seed + index})
            pieces, finish = self.pieces(turn, body)
            message = self.message(turn, pieces)
            choices.append(
                {"index": index, "message": message, "finish_reason": finish}
                | ({"logprobs": logprobs} if (logprobs := self.logprobs(pieces, body)) else {})
            )
        await asyncio.sleep(TOKEN_S * min(len(pieces), 20) / 4)
        document = {"id": id_, "object": "chat.completion", "choices": choices, "usage": self.usage(prompt, pieces)}
        if body.get("return_token_ids"):
            document["prompt_token_ids"] = numbers_of(tokens_of(self.prompt(body)))
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

        def chunk(delta: dict[str, Any], ended: str | None = None, **more: object) -> dict[str, Any]:
            return {"id": id_, "choices": [{"index": 0, "delta": delta, "finish_reason": ended, **more}]}

        id_ = self.id
        await send(chunk({"role": "assistant", "content": ""}))
        named: set[int] = set()
        place = -1
        for number, piece in enumerate(pieces):
            place += bool(piece.text)
            delta = self.delta(piece, turn, named)
            if body.get("logprobs") and piece.text:
                await send(chunk(delta, logprobs={"content": [self.logprob(piece, place)]}))
            elif delta:
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
            await send({"id": id_, "choices": [], "usage": self.usage(prompt, pieces)})
        for data in held:
            await response.write(data)
        if not self.on("no [DONE]"):
            await response.write(b"data: [DONE]\n\n")
        return response


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
