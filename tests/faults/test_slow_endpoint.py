"""`moonpad doctor --endpoint` at the fake engine: a sound one, one whose requests wait, and a proxy that buffers."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.cli import doctor_measure
from moonpad.cli.doctor_measure import measure_slowness
from moonpad.doctor.slow_causes import Verdict, explain_slowness
from moonpad.values.endpoint import Endpoint
from tests.conftest import Moonpad
from tests.faults.helpers import streams

pytestmark = pytest.mark.usefixtures("clean_world")


def verdicts_at(port: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, Verdict]:
    monkeypatch.setattr(doctor_measure, "WATCHED_S", 0.6)
    monkeypatch.setattr(doctor_measure, "LOOK_S", 0.2)
    endpoint = Endpoint(f"http://127.0.0.1:{port}/v1", "kimi-k2-tiny")
    facts = measure_slowness(endpoint, marks=(), held_back=lambda: ())
    return {verdict.reason: verdict for verdict in explain_slowness(facts)}


def test_a_sound_one_and_one_whose_requests_wait(
    moonpad: Moonpad, fake_spec: Path, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert moonpad("up", str(fake_spec), FAKE_SLOTS="4", FAKE_TOKEN_S="0.004").code == 0
    sound = verdicts_at(free_port, monkeypatch)
    assert sound["queueing"].standing == "no"
    assert sound["low batch"].standing == "cause", "one stream on an engine that answers four as quickly"
    assert sound["long prompts"].standing == "unknown", "nobody has asked it anything yet"
    users = streams(free_port, 10, 1_200, timeout_s=120.0)
    users.await_answered()
    waiting = verdicts_at(free_port, monkeypatch)
    assert waiting["queueing"].standing == "cause"
    assert "6 wait now while 4 run" in waiting["queueing"].message
    assert waiting["low batch"].standing == "no"
    users.wait()
    assert moonpad("down", "fake").code == 0


@pytest.mark.slow
def test_the_command(moonpad: Moonpad, fake_spec: Path, free_port: int) -> None:
    assert moonpad("up", str(fake_spec)).code == 0
    done = moonpad("doctor", str(fake_spec), "--endpoint", "--json")
    assert done.code == 0, done.stderr
    reasons = {row["reason"]: row for row in done.json["reasons"]}
    assert reasons["backend"]["standing"] == "no", "its log was read"
    shown = moonpad("doctor", "--url", f"http://127.0.0.1:{free_port}")
    assert "one stream: first token after" in shown.stdout
    assert "  backend: no log of it is at hand: --log FILE" in shown.stdout
    assert moonpad("down", "fake").code == 0
    gone = moonpad("doctor", "--url", f"http://127.0.0.1:{free_port}")
    assert gone.code == 6
    assert "Traceback" not in gone.stderr
