"""vLLM over two nodes by Ray: both `ray start`, and the engine behind the first. A fake Ray tells what it was told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from moonpad.engines.base import installed_runtime
from moonpad.engines.vllm import VLLM
from moonpad.values.binding import Bindings, bind
from moonpad.values.deployment import Image
from moonpad.values.errors import PreflightRefused
from moonpad.values.plan import Layout, Plan, Platform, Serving, Settings
from moonpad.values.records import replace
from moonpad.values.references import PortRef

PLAN = Plan(
    "k2", "vllm", Platform.CUDA, Layout(tp=8, pp=2), Settings(executor="ray"), Serving("kimi"), 1, nodes=2,
    engine_version="0.33.0",
)  # fmt: skip
TELL = "import json, os, sys; print(json.dumps([sys.argv[1:], os.environ.get('RAY_ADDRESS')]))"


def test_what_is_started_on_each_node(tmp_path: Path) -> None:
    for name in ("ray", "vllm"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec \'{sys.executable}\' -I -S -c "{TELL}" {name} "$@"\n')
        program.chmod(0o755)
    bindings = Bindings(
        hosts={"node-0": "10.0.0.1", "node-1": "$(touch pwned)"},
        ports={PortRef("engine", "api"): 8000, PortRef("engine", "ray"): 6400},
        paths={"engine": str(tmp_path), "checkpoint": "/k2"},
    )
    head, worker = bind(VLLM.processes(PLAN, installed_runtime("vllm")), bindings)
    done = subprocess.run(head.argv, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True)
    ray, engine = (json.loads(line) for line in done.stdout.splitlines())
    assert ray[0][:2] == ["ray", "start"]
    assert {"--head", "--node-ip-address=10.0.0.1", "--port=6400", "--num-gpus=8"} <= set(ray[0])
    assert ray[1] is None, "it is no client of a cluster that is not there yet"
    assert engine[0][:3] == ["vllm", "serve", "/k2"]
    assert engine[0][engine[0].index("--distributed-executor-backend") + 1] == "ray"
    assert "--nnodes" not in engine[0]
    assert engine[1] == "10.0.0.1:6400"
    assert worker.argv == (
        *(f"{tmp_path}/bin/ray", "start", "--address", "10.0.0.1:6400", "--node-ip-address", "$(touch pwned)"),
        *("--num-gpus", "8", "--disable-usage-stats", "--block"),
    )


def test_in_an_image() -> None:
    head, worker = VLLM.processes(PLAN, Image("vllm@sha256:0", ("vllm",), own_network=False)).processes
    assert isinstance(head.runtime, Image)
    assert isinstance(worker.runtime, Image)
    assert head.runtime.entrypoint[0] == "sh"
    assert head.runtime.entrypoint[-1] == "vllm"
    assert worker.runtime.entrypoint == ("ray",)


def test_it_is_read_back() -> None:
    (head, _) = VLLM.processes(PLAN, installed_runtime("vllm")).processes
    reading = VLLM.read([word if isinstance(word, str) else "x" for word in head.argv], {})
    assert (reading.settings.executor, reading.layout) == ("ray", PLAN.layout)


def test_replicas_of_attention_are_not_written_yet() -> None:
    with pytest.raises(PreflightRefused) as caught:
        VLLM.processes(replace(PLAN, layout=Layout(dp=16)), installed_runtime("vllm"))
    assert caught.value.findings[0].where == "dp"
