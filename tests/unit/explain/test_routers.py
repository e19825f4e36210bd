"""Routers are programs of their own: neither an engine, nor judged by the engine's versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from moonpad.engines.router_programs import ROUTERS
from moonpad.spec.loader import load_spec
from tests.conftest import Moonpad

SPEC = """\
name = "k2"
model = "moonshotai/Kimi-K2-Instruct"
engine = "{engine}"
[hardware]
cluster = "{cluster}"
[layout]
tp = 8
[router]
name = "{router}"
replicas = {replicas}
image = "example/router@sha256:{digest}"
"""
CASES = [("compose", "8xH200", 1), ("kubernetes", "2x8xH200", 2)]


@pytest.mark.parametrize("router", ROUTERS)
@pytest.mark.parametrize(("target", "cluster", "replicas"), CASES)
def test_rendered_files_are_read_back(
    moonpad: Moonpad, tmp_path: Path, router: str, target: str, cluster: str, replicas: int
) -> None:
    engine = "sglang" if router == "sglang-router" else "vllm"
    spec = tmp_path / "k2.toml"
    spec.write_text(SPEC.format(engine=engine, router=router, cluster=cluster, replicas=replicas, digest="0" * 64))
    rendered = moonpad("render", str(spec), "--to", target, "--out", str(tmp_path / "out"), "--json")
    assert rendered.code == 0, rendered.stderr
    path = next(file["path"] for file in json.loads(rendered.stdout)["files"] if file["path"].endswith(".yaml"))
    explained = moonpad("explain", "--file", path, "--on", "8xH200", "--json")
    deployments = explained.json["deployments"]
    commands = [tuple(argv[0] for argv in deployment["commands"]) for deployment in deployments]
    routers = [each for each in deployments if any(ROUTERS[router].module in argv for argv in each["commands"])]
    assert len(routers) == 1, commands
    assert len(commands) == 1 + replicas, commands
    errors = [
        finding for deployment in deployments for finding in deployment["findings"] if finding["severity"] == "error"
    ]
    assert not errors, errors
    assert load_spec(spec).spec.router is not None
