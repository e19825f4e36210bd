"""`moonpad chat` through a pipe, against the fake endpoint."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from moonpad.cli import chat as chat_module
from moonpad.cli.chat import chat
from moonpad.cli.endpoint import EndpointOptions
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, ContactLost
from tests.unit.verify.fake_endpoint import ANSWER, THINKING, Fake, served


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    """Pipes a text into `chat` and gives what it printed."""

    def run(fake: Fake, text: str | bytes, **options: Any) -> tuple[str, str]:
        data = text.encode() if isinstance(text, str) else text
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        with served(fake) as url:
            chat(at=EndpointOptions(url=url), **options)
        captured = capsys.readouterr()
        return captured.out, captured.err

    return run


Talk = Callable[..., tuple[str, str]]


def test_each_line_is_answered_and_the_end_of_the_input_ends_it(talk: Talk) -> None:
    fake = Fake()
    out, err = talk(fake, "What is 84 * 3 / 2?\n\nAnd now?\n")
    assert out == f"{ANSWER}\n" * 2
    assert err.count(THINKING) == 2
    assert "20 prompt + 30 completion tokens" in err
    assert [message["content"] for message in fake.requests[1]["messages"]] == [
        "What is 84 * 3 / 2?",
        ANSWER,
        "And now?",
    ]


@pytest.mark.parametrize("reasoning_field", ["reasoning", "reasoning_content"])
def test_the_history_keeps_reasoning_under_the_servers_name(talk: Talk, reasoning_field: str) -> None:
    fake = Fake(reasoning_field=reasoning_field)
    talk(fake, "one\ntwo\n")
    assert fake.requests[1]["messages"][1] == {"role": "assistant", "content": ANSWER, reasoning_field: THINKING}


def test_reset_and_quit(talk: Talk) -> None:
    fake = Fake()
    out, err = talk(fake, "one\n/reset\n/help\n/nonsense\ntwo\n/quit\nthree\n", system="Be brief.")
    assert len(fake.requests) == 2
    assert [message["role"] for message in fake.requests[1]["messages"]] == ["system", "user"]
    assert out == f"{ANSWER}\n" * 2
    assert "/nonsense is not a command" in err


def test_options_reach_the_request(talk: Talk) -> None:
    fake = Fake()
    talk(fake, "", once="hello", temperature=0.5, max_tokens=7, system="Be brief.")
    (request,) = fake.requests
    assert (request["temperature"], request["max_tokens"], request["model"]) == (0.5, 7, "kimi-k2")
    assert request["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]


def test_a_tool_call_is_shown_and_its_result_goes_back(talk: Talk) -> None:
    fake = Fake()
    out, err = talk(fake, "What is the weather in Paris?\n", demo_tool=True)
    assert out == "It is sunny in Paris.\n"
    assert '[tool call] get_weather({"city": "Paris"})  id functions.get_weather:0' in err
    assert "[tool result, made up] sunny, 21 C" in err
    _, called, result = fake.requests[1]["messages"]
    assert called["tool_calls"][0]["function"] == {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    assert result == {"role": "tool", "tool_call_id": "functions.get_weather:0", "content": "sunny, 21 C"}


def test_no_escape_of_the_model_reaches_the_terminal(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.unit.verify.fake_endpoint.ANSWER", "\x1b]52;c;cHduZWQ=\x07[link=x]:warning:\x9b")
    out, _ = talk(Fake(), "hi\n")
    assert out == r"\x1b]52;c;cHduZWQ=\x07[link=x]:warning:\x9b" + "\n"


def test_bytes_that_are_no_text_are_asked_all_the_same(talk: Talk) -> None:
    fake = Fake()
    talk(fake, b"caf\xe9\n")
    assert fake.requests[0]["messages"][0]["content"] == "caf\ufffd"


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("error 500", "the endpoint answers HTTP 500: EngineCore encountered an issue"),
        ("stream cut", "the answer was cut off: the connection was cut"),
        ("error in stream", "the answer was cut off: an error inside the stream: CUDA error"),
    ],
)
def test_errors_are_one_sentence_and_counted(
    talk: Talk, capsys: pytest.CaptureFixture[str], fault: str, message: str
) -> None:
    fake = Fake(faults=frozenset({fault}))
    with pytest.raises(CheckFailed, match="2 of 2 messages got no answer"):
        talk(fake, "one\ntwo\n")
    assert capsys.readouterr().err.count(message) == 2
    assert [len(request["messages"]) for request in fake.requests] == [1, 1]  # a failed turn leaves no trace


def test_an_endpoint_that_is_gone_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Endpoint("http://127.0.0.1:1/v1", "kimi-k2")
    monkeypatch.setattr(chat_module, "resolve_endpoint", lambda spec, options: gone)
    monkeypatch.setattr("sys.stdin", io.StringIO("one\ntwo\n"))
    with pytest.raises(ContactLost, match=r"127\.0\.0\.1:1"):
        chat()


def test_ctrl_c_stops_the_answer_and_forgets_the_turn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At a terminal: the first answer is interrupted while it stalls, the second message is answered."""
    fake = Fake(faults=frozenset({"stalls in the stream"}))
    typed = iter(["one", "two"])

    def typing(prompt: str) -> str:
        if len(fake.requests) == 1:
            fake.faults = frozenset()
        try:
            return next(typed)
        except StopIteration:
            raise KeyboardInterrupt from None

    class Interrupted(chat_module.Screen):
        def show(self, delta: Any) -> None:
            super().show(delta)
            if fake.faults:
                os.kill(os.getpid(), signal.SIGINT)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(chat_module, "Screen", Interrupted)
    monkeypatch.setattr("builtins.input", typing)
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with served(fake) as url:
        chat(at=EndpointOptions(url=url))
    assert "stopped; this turn is dropped" in capsys.readouterr().err
    assert [message["content"] for message in fake.requests[1]["messages"]] == ["two"]
