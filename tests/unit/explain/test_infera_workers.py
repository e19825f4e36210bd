"""Workers of Infera: a wrapper's words, and options of its own beside the engine's."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: v1
kind: Pod
metadata: {{name: worker}}
spec:
  containers:
  - name: main
    image: {image}
    command: ["/overlay/bin/infera-exec", "python3", "-m", "infera.engine.{engine}", "{model}", "zai-org/GLM-4.7",
              "{tp}", "8", "--kv-event-transport", "zmq", "--request-transport", "http", "--nats-server", "a:1"{more}]
"""


def pod(engine: str, more: str = "") -> str:
    sglang = engine == "sglang"
    image = "lmsysorg/sglang:v0.5.15.post1" if sglang else "vllm/vllm-openai:v0.25.0"
    model, tp = ("--model-path", "--tp-size") if sglang else ("--model", "--tensor-parallel-size")
    return POD.format(image=image, engine=engine, model=model, tp=tp, more=more)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_it_is_a_server_of_the_engine(engine: str) -> None:
    (one,) = ask(pod(engine))
    assert one.engine == engine
    assert one.layout is not None
    assert one.layout.tp == 8
    assert not [each for each in one.findings if each.where.startswith(("--kv-event", "--request", "--nats"))]


def test_what_neither_has_is_told() -> None:
    found = [each.where for one in ask(pod("sglang", ', "--no-such-option"')) for each in one.findings]
    assert "--no-such-option" in found


@pytest.mark.parametrize("option", ["--enable-kv-events", "--no-enable-kv-events", "--kv-events"])
@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_its_switches_are_its_own(engine: str, option: str) -> None:
    found = [each.where for one in ask(pod(engine, f', "{option}"')) for each in one.findings]
    assert option not in found
