"""KTransformers' commands, put to the parser of the kt-kernel and sglang-kt that are installed here."""

from __future__ import annotations

import pytest

from moonpad.engines import ENGINES
from moonpad.environments.installed import find
from moonpad.spec.loader import parse_spec
from moonpad.values.binding import Bindings, bind_process
from moonpad.values.deployment import Executable
from moonpad.values.references import PortRef
from tests.configurations import make_plan
from tests.engines.commands import judged

pytestmark = pytest.mark.slow

SPEC = """
model = "moonshotai/{model}"
engine = "ktransformers"

[hardware]
cluster = "{devices}xRTX4090-48G"

[layout]
tp = {devices}

[settings]
max_model_len = 32768
gpu_experts = {experts}
"""
# The numbers of experts on the devices are those of KTransformers' guide for Kimi-K2-Thinking.
CASES = {
    "one device": ("Kimi-K2-Thinking", 1, 0, "int4"),
    "eight devices": ("Kimi-K2-Thinking", 8, 80, "int4"),
    "FP8": ("Kimi-K2-Instruct", 2, 8, "fp8"),
}


def command(model: str, devices: int, experts: int, scheme: str) -> tuple[str, ...]:
    plan = make_plan(parse_spec(SPEC.format(model=model, devices=devices, experts=experts), name="k2"), 0, scheme)
    engine = ENGINES["ktransformers"]
    (process,) = engine.processes(plan, Executable((engine.command,))).processes
    ports = {PortRef(process.name, port.name): port.preferred for port in process.ports}
    paths = {"checkpoint": "/m", "run": "/r", "engine": "/e"}
    bound = bind_process(process, Bindings(hosts={process.node: "10.0.0.1"}, ports=ports, paths=paths))
    return bound.argv[bound.argv.index("sglang.launch_server") + 1 :]


def test_the_parser_takes_every_command() -> None:
    engine = find("ktransformers")
    if engine is None:
        pytest.skip("no engine here: moonpad engine install ktransformers")
    lines = {name: command(*case) for name, case in CASES.items()}
    assert "--kt-method" in lines["one device"]
    lines["control"] = (*lines["one device"], "--kt-speed", "9")
    verdicts = judged("ktransformers_judge.py", engine.python, lines)
    assert verdicts.pop("control").startswith("parser: ")
    assert verdicts == dict.fromkeys(CASES, "")
