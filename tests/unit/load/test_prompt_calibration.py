"""Who counts a prompt, and what becomes of it; the server is a tokenizer of a few odd words."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from moonpad.load.endpoint_url import Target, target_of
from moonpad.load.json_request import JsonResponse
from moonpad.load.prompt_calibration import MOST_COUNTS, PromptCalibration, calibrate
from moonpad.load.prompts import WORDS
from moonpad.load.request_builder import RequestBuilder
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed

ASKER = RequestBuilder(target_of(Endpoint("http://127.0.0.1:8000/v1", "m")), "m")
TEMPLATE = 7


@dataclass
class Server:
    """Counts words: an odd one is so many tokens, and `joined` times a pair of words is one token."""

    odd: Mapping[str, int]
    has_tokenize: bool
    at_once: int = 1000
    joined: float = 0.0
    requests: int = 0
    running: int = 0
    texts: list[str] = field(default_factory=list)

    def tokens_of(self, text: str) -> int:
        words = text.split(" ")
        return TEMPLATE + sum(self.odd.get(word, 1) for word in words) - int(self.joined * (len(words) // 50))

    async def fetch(self, target: Target, wire: bytes, *, timeout_s: float) -> JsonResponse:
        head, _, body = wire.partition(b"\r\n\r\n")
        self.requests += 1
        self.running += 1
        await asyncio.sleep(0)
        busy, self.running = self.running > self.at_once, self.running - 1
        if b"/tokenize " in head and not self.has_tokenize:
            return JsonResponse(404, None, "")
        if busy:
            return JsonResponse(429, None, "one at a time")
        count = self.tokens_of(orjson.loads(body)["messages"][0]["content"])
        document: dict[str, Any] = {"count": count} if b"/tokenize " in head else {"usage": {"prompt_tokens": count}}
        return JsonResponse(200, document, "")


def calibrated(
    monkeypatch: pytest.MonkeyPatch, server: Server, before: PromptCalibration | None = None
) -> PromptCalibration:
    monkeypatch.setattr("moonpad.load.prompt_calibration.fetch", server.fetch)
    return asyncio.run(calibrate(ASKER, input_tokens=300, seed=4, before=before))


def lengths(server: Server, calibration: PromptCalibration) -> set[int]:
    return {server.tokens_of(calibration.prompt(4, index, 300)) for index in range(40)}


@pytest.mark.parametrize("has_tokenize", [True, False])
def test_prompts_are_exact_by_either_count(monkeypatch: pytest.MonkeyPatch, has_tokenize: bool) -> None:
    server = Server({"jewel": 2, "fowl": 3, "kettle": 2}, has_tokenize)
    calibration = calibrated(monkeypatch, server)
    assert calibration.judge == ("/tokenize" if has_tokenize else "usage")
    assert lengths(server, calibration) == {300}


def test_where_each_count_is_a_request_there_are_not_many(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(dict.fromkeys(WORDS[::3], 2), has_tokenize=False)
    calibration = calibrated(monkeypatch, server)
    assert server.requests <= MOST_COUNTS + 12
    assert calibration.weights == ()
    assert max(abs(length - 300) for length in lengths(server, calibration)) < 40


def test_a_server_that_refuses_several_at_a_time_is_asked_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    calibration = calibrated(monkeypatch, Server({}, has_tokenize=False, at_once=1))
    assert (calibration.weights, calibration.judge) == ((), "usage")


@pytest.mark.parametrize("has_tokenize", [True, False])
def test_a_tokenizer_that_joins_words_has_no_weights(monkeypatch: pytest.MonkeyPatch, has_tokenize: bool) -> None:
    """Groups of 32 words do not show it; the prompt that is counted whole does."""
    assert calibrated(monkeypatch, Server({}, has_tokenize, joined=1.0)).weights == ()


def test_words_are_weighed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server({"jewel": 2}, has_tokenize=True)
    first = calibrated(monkeypatch, server)
    requests_before = server.requests
    again = calibrated(monkeypatch, server, before=first)
    assert (again.weights, again.alone) == (first.weights, first.alone)
    assert server.requests - requests_before <= 8


def test_a_refusal_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CheckFailed, match="429"):
        calibrated(monkeypatch, Server({}, has_tokenize=False, at_once=0))
