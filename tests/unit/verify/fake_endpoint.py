"""An OpenAI endpoint in the test's own process. It answers right, except for the faults that are switched on.

Written from the API's documentation and shared facts about what vLLM sends, not from the probes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from moonpad.values.endpoint import Endpoint
from moonpad.verify.probes import PROBES
from tests.threaded import threaded

BASIC = tuple(
    probe
    for probe in PROBES
    if probe.id in ("health", "models", "chat", "streaming", "reasoning", "tool_call", "wrong_model")
)
"""What this endpoint is able to answer; tests/broken_endpoints has one for every probe."""

THINKING = "84 * 3 = 252. 252 / 2 = 126."
ANSWER = "84 * 3 / 2 = 126. Größe: 126 \N{WHITE SMILING FACE}"
THOUGHT_OF_TOOL = "I look up the weather in Paris."
TOOL_ANSWER = "It is sunny in Paris."


@dataclass
class Fake:
    """What the endpoint does. The defaults are a sound server of an able, thinking model."""

    model: str = "kimi-k2"
    served: tuple[str, ...] = ("kimi-k2",)
    root: str = "/models/Kimi-K2-Thinking"
    owner: str = "vllm"
    key: str = ""
    reasoning_field: str = "reasoning"
    thinks: bool = True
    faults: frozenset[str] = frozenset()
    """Switches: each is named where it acts."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of the chat requests, in order."""
    completions: int = 0

    def on(self, fault: str) -> bool:
        return fault in self.faults

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/health", self.health)
        app.router.add_get("/v1/models", self.models)
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_post("/v1/completions", self.complete)
        return app

    async def health(self, request: web.Request) -> web.StreamResponse:
        if self.on("hang everywhere"):
            await asyncio.Event().wait()
        if self.on("no health path"):
            return web.Response(status=404)
        return web.Response(status=503 if self.on("unhealthy") else 200)

    async def models(self, request: web.Request) -> web.StreamResponse:
        if not self._authorised(request):
            return error(401, "Unauthorized")
        if self.on("models are html"):
            return web.Response(text="<html>It works!</html>", content_type="text/html")
        if self.on("dies of a wrong model") and any(body["model"] not in self.served for body in self.requests):
            return error(500, "engine is dead")
        return web.json_response(
            {"data": [{"id": name, "root": self.root, "owned_by": self.owner} for name in self.served]}
        )

    async def chat(self, request: web.Request) -> web.StreamResponse:
        if not self._authorised(request):
            return error(401, "Unauthorized")
        body = await request.json()
        self.requests.append(body)
        if self.on("hang") or (self.on("hang in streams") and body.get("stream")):
            await asyncio.Event().wait()
        if self.on("error 500"):
            return error(500, "EngineCore encountered an issue")
        if body["model"] not in self.served and not self.on("any model"):
            if self.on("404 without words"):
                return web.Response(status=404, text="404 page not found")
            return error(
                400 if self.on("400 for a wrong model") else 404, f"The model `{body['model']}` does not exist."
            )
        if body.get("tools") and self.on("tools refused"):
            return error(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')
        message, finish = self.message(body)
        return await self.streamed(request, message, finish) if body.get("stream") else self.whole(message, finish)

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """The legacy API with `echo`: tokens are words, each is the likeliest, with a log-probability of -0.5."""
        body = await request.json()
        if not body.get("echo"):
            return error(404, "Not Found")
        self.completions += 1
        tokens = [*body["prompt"].split(), "more"]
        # Later answers come in other batches, as those to many requests at once do.
        noise = 0.8 if self.on("noisy logprobs") and self.completions > 10 else 0.0
        logprobs = [None, *(-0.5 - noise * (place % 8 == 0) for place in range(len(tokens) - 1))]
        tops = [None, *({token: -0.5} for token in tokens[1:])]
        scores = {"tokens": tokens, "token_logprobs": logprobs, "top_logprobs": tops}
        choice = {"index": 0, "text": "", "logprobs": None if self.on("no echo") else scores, "finish_reason": "length"}
        return web.json_response({"choices": [choice], "usage": {"prompt_tokens": len(tokens) - 1}})

    def message(self, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        tooled = bool(body.get("tools")) and body["messages"][-1]["role"] == "user"
        if tooled and not self.on("answers in words"):
            message, finish = self.tool_message()
        else:
            answer = TOOL_ANSWER if body["messages"][-1]["role"] == "tool" else ANSWER
            message, finish = {"role": "assistant", "content": answer}, "stop"
        if self.thinks:
            self.think(message, THOUGHT_OF_TOOL if tooled else THINKING)
        if self.on("empty content") and not tooled:
            message["content"] = ""
        if self.on("all in reasoning") and not tooled:
            message[self.reasoning_field] += message["content"]
            message["content"] = None
        if self.on("end token visible"):
            message["content"] = f"{message['content']}<|im_end|>"
        if self.on("never ends"):
            finish = "length"
        if self.on("no finish"):
            finish = ""
        if self.on("varies"):
            message["content"] = f"{message['content']} ({len(self.requests)})"
        return message, finish

    def think(self, message: dict[str, Any], thinking: str) -> None:
        if self.on("reasoning in content"):
            message["content"] = f"<think>{thinking}</think>{message['content'] or ''}"
        elif self.on("closing tag in content"):
            message["content"] = f"{thinking}</think>{message['content'] or ''}"
        elif not self.on("reasoning dropped"):
            message[self.reasoning_field] = thinking
        if self.on("second thought in content"):
            message["content"] = f"<think>{message['content']}"

    def tool_message(self) -> tuple[dict[str, Any], str]:
        name = "get_time" if self.on("tool not offered") else "get_weather"
        arguments = '{"city": "Paris"}'
        if self.on("arguments cut"):
            arguments = arguments[:-2]
        if self.on("arguments break the schema"):
            arguments = '{"town": "Paris"}'
        id_ = "call_00003" if self.on("foreign id") else f"functions.{name}:{7 if self.on('id counts on') else 0}"
        raw = f"functions.{name}:0<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"
        if self.on("no tool parser"):
            return {
                "content": f"<|tool_calls_section_begin|><|tool_call_begin|>{raw}<|tool_calls_section_end|>"
            }, "stop"
        if self.on("no tool parser, tokens stripped"):
            return {"content": f"functions.{name}:0{arguments}"}, "stop"
        if self.on("call lost"):
            return {"content": ""}, "tool_calls"
        given: object = json.loads(arguments) if self.on("arguments as object") else arguments
        call = {"id": id_, "type": "function", "function": {"name": name, "arguments": given}}
        content = "<|tool_calls_section_end|>" if self.on("tokens beside the call") else None
        finish = "stop" if self.on("call ends with stop") else "tool_calls"
        return {"content": content, "tool_calls": [call] * (2 if self.on("call twice") else 1)}, finish

    def usage(self) -> dict[str, Any] | None:
        usage = {"prompt_tokens": 20, "completion_tokens": 30, "total_tokens": 50}
        if self.on("reasoning dropped"):
            usage |= {"completion_tokens": 90, "total_tokens": 110}
        if self.on("usage does not add up"):
            usage["total_tokens"] = 20
        if self.on("usage counts nothing"):
            usage |= {"completion_tokens": 0, "total_tokens": 20}
        if self.on("more tokens than asked for"):
            usage |= {"completion_tokens": 5000, "total_tokens": 5020}
        if self.on("more reasoning than tokens"):
            return {**usage, "completion_tokens_details": {"reasoning_tokens": 31}}
        return None if self.on("no usage") else usage

    def whole(self, message: dict[str, Any], finish: str) -> web.StreamResponse:
        if self.on("answer is html"):
            return web.Response(text="<html>Welcome!</html>", content_type="text/html")
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish or None}
        return web.json_response({"choices": [choice], "usage": self.usage()})

    async def streamed(self, request: web.Request, message: dict[str, Any], finish: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for delta in self.deltas(message):
            await send(response, {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
            if self.on("stalls in the stream"):
                await asyncio.Event().wait()
            if self.on("stream cut"):
                assert request.transport is not None
                request.transport.abort()
                return response
        if self.on("error in stream"):
            await send(response, {"error": {"message": "CUDA error: an illegal memory access", "code": 500}})
        if self.on("no json in stream"):
            await response.write(b"data: {oops\n\n")
        if not self.on("no finish in stream"):
            await send(response, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        if usage := self.usage():
            if self.on("stream counts more"):
                usage = {**usage, "completion_tokens": 31, "total_tokens": 51}
            if not self.on("no usage in stream"):
                await send(response, {"choices": [], "usage": usage})
        if not self.on("no DONE"):
            await response.write(b"data: [DONE]\n\n")
        return response

    def deltas(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        """The message in pieces of three characters, as an engine sends it token by token."""
        message = dict(message)
        if self.on("stream differs"):
            message["content"] = message["content"].replace("126", "125")
        if self.on("stream loses reasoning"):
            message.pop(self.reasoning_field, None)
        if self.on("stream loses content"):
            message["content"] = ""
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        for part in (self.reasoning_field, "content"):
            deltas += [{part: piece} for piece in pieces(message.get(part) or "")]
        for index, call in enumerate(message.get("tool_calls", ())):
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            first = {"index": index, "id": call["id"], "type": "function", "function": {"name": name, "arguments": ""}}
            deltas.append({"tool_calls": [first]})
            deltas += [
                {"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in pieces(arguments)
            ]
        return deltas

    def _authorised(self, request: web.Request) -> bool:
        return not self.key or request.headers.get("Authorization") == f"Bearer {self.key}"


def pieces(text: str) -> list[str]:
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def error(status: int, message: str) -> web.Response:
    """An error as vLLM writes it."""
    return web.json_response(
        {"error": {"message": message, "type": "Error", "param": None, "code": status}}, status=status
    )


async def send(response: web.StreamResponse, document: dict[str, Any]) -> None:
    await response.write(b"data: " + json.dumps(document, ensure_ascii=False).encode() + b"\n\n")


@asynccontextmanager
async def serve(fake: Fake) -> AsyncIterator[Endpoint]:
    """The endpoint on a free port of 127.0.0.1, as long as the block lasts."""
    runner = web.AppRunner(fake.app(), shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        port = runner.addresses[0][1]
        yield Endpoint(f"http://127.0.0.1:{port}/v1", fake.model)
    finally:
        await runner.cleanup()


def served(fake: Fake) -> AbstractContextManager[str]:
    """The fake's address, served by a thread."""
    return threaded(serve(fake))
