"""An endpoint that answers GSM8K and other questions as it is told, in a thread or a process of its own.

What it answers depends on the question alone, so that it answers the same in both APIs, in any order, and twice. It
counts each request with its body, and can answer slowly.

    python -m tests.unit.evaluate.answering_server FOLDER_OF_GSM8K PORT LOG DELAY_S
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from moonpad.values.endpoint import Endpoint

MODEL = "kimi-answers"


@dataclass
class Answer:
    """`status` other than 200 is an error with `content` as its text. `raw` is the whole body, whatever it is."""

    content: str | None
    finish: str = "stop"
    reasoning: str = ""
    status: int = 200
    calls: list[dict[str, Any]] = field(default_factory=list)
    raw: str | None = None


@dataclass
class Answering:
    answer: Callable[[str, int], Answer]
    """Of a question, and how often it was asked before."""
    delay_s: float = 0.0
    context: int = 8192
    thinks: bool = False
    paths: tuple[str, ...] = ("/completions", "/chat/completions")
    log: Path | None = None
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    most_at_once: int = 0
    at_once: int = 0

    def app(self) -> web.Application:
        app = web.Application(client_max_size=1 << 24)
        app.router.add_get("/v1/models", self.models)
        for path in self.paths:
            app.router.add_post(f"/v1{path}", self.complete)
        return app

    async def models(self, request: web.Request) -> web.StreamResponse:
        card = {"id": MODEL, "root": "/models/none", "owned_by": "vllm", "max_model_len": self.context}
        return web.json_response({"data": [card]})

    async def complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        path = request.path.removeprefix("/v1")
        question = question_of(body)
        trial = body["max_tokens"] == 1 or question == "What is 12 + 30?"
        before = 0
        if not trial:
            before = self.counts.get(question, 0)
            self.counts[question] = before + 1
            self.asked.append((path, body))
            if self.log is not None:
                with self.log.open("a") as file:
                    file.write(json.dumps({"question": question, "body": body}) + "\n")
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0 if trial else self.delay_s)
        finally:
            self.at_once -= 1
        answer = Answer("42", reasoning="6 × 7" if self.thinks else "") if trial else self.answer(question, before)
        if answer.raw is not None:
            return web.Response(status=answer.status, text=answer.raw)
        if answer.status != 200:
            return web.json_response({"error": {"message": answer.content}}, status=answer.status)
        tokens = max(1, len(answer.content or "") // 4)
        usage = {"prompt_tokens": 900, "completion_tokens": tokens, "total_tokens": 900 + tokens}
        choice: dict[str, Any] = {"index": 0, "finish_reason": answer.finish}
        if path == "/completions":
            choice["text"] = answer.content
        else:
            message: dict[str, Any] = {"role": "assistant", "content": answer.content}
            choice["message"] = {**message, "reasoning": answer.reasoning, "tool_calls": answer.calls or None}
        return web.json_response({"choices": [choice], "usage": usage, "model": MODEL})

    @asynccontextmanager
    async def serving(self, port: int = 0) -> AsyncIterator[Endpoint]:
        runner = web.AppRunner(self.app())
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        assert site._server is not None
        bound = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        try:
            yield Endpoint(f"http://127.0.0.1:{bound}/v1", MODEL)
        finally:
            await runner.cleanup()


def question_of(body: dict[str, Any]) -> str:
    """The last question of a prompt, whichever the API."""
    text = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
    return text.rpartition("Question: ")[2].removesuffix("\nAnswer:").strip()


def gsm8k_answers(folder: Path) -> Callable[[str, int], Answer]:
    """Of a hundred questions about: 60 right with ####, 12 right without it, 12 wrong, 8 cut, 8 empty."""
    rows = [json.loads(line) for line in (folder / "test.jsonl").read_text().splitlines()]
    answers = {row["question"].strip(): row["answer"] for row in rows}

    def answer(question: str, before: int) -> Answer:
        whole = answers[question]
        final = whole.rpartition("#### ")[2]
        draw = int(hashlib.sha256(question.encode()).hexdigest(), 16) % 100
        if draw < 60:
            return Answer(f" {whole}")
        if draw < 72:
            return Answer(f" Let me see. The answer is ${final}.")
        if draw < 84:
            return Answer(f" It is {int(final.replace(',', '')) + 1}, I think.\n#### {int(final.replace(',', '')) + 1}")
        if draw < 92:
            return Answer(f" {whole[: len(whole) // 2]}", finish="length")
        return Answer("", reasoning="and on and on", finish="length" if draw < 96 else "stop")

    return answer


async def _main(folder: Path, port: int, log: Path, delay_s: float) -> None:
    server = Answering(gsm8k_answers(folder), delay_s=delay_s, log=log)
    async with server.serving(port):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4])))
