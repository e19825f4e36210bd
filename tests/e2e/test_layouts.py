"""The layouts that vLLM has on a processor, each brought up by `moonpad up`: the answers are those of one rank."""

from __future__ import annotations

import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from moonpad.environments.installed import InstalledEngine
from tests.conftest import Moonpad
from tests.e2e.conftest import Served, command_in, write_spec
from tests.faults.two_hosts import open_hosts

COUNTRIES = ("Italy", "France", "Japan", "Egypt", "Norway", "Spain", "Kenya", "Greece")
LAYOUTS = {"tp2": "tp = 2", "pp2": "pp = 2", "dp2": "dp = 2"}


def answers(base_url: str, model: str, moonpad: Moonpad | None = None) -> list[str]:
    def ask(country: str) -> str:
        body = {"model": model, "prompt": f"The capital of {country} is", "temperature": 0, "max_tokens": 8}
        request = urllib.request.Request(
            f"{base_url}/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=120) as response:
            return str(json.load(response)["choices"][0]["text"])

    with ThreadPoolExecutor(len(COUNTRIES)) as pool:
        return list(pool.map(ask, COUNTRIES))


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout(served: Served, engine: InstalledEngine, tmp_path: Path, layout: str) -> None:
    """Healthy is not enough: several of the layouts that vLLM refuses here answer /health, and die at a request."""
    moonpad = command_in(tmp_path)
    spec, port = write_spec(tmp_path, layout, f"[layout]\n{LAYOUTS[layout]}\n")
    up = moonpad("up", str(spec), "--json", timeout_s=400.0)
    assert up.code == 0, up.stderr
    try:
        assert answers(up.json["base_url"], served.model) == answers(served.base_url, served.model)
        if layout == "dp2":
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as response:
                lines = response.read().decode().splitlines()
            done = [line for line in lines if line.startswith("vllm:generation_tokens_total")]
            assert len(done) == 2
            assert all(float(line.rsplit(" ", 1)[1]) > 0 for line in done), "both replicas have worked"
    finally:
        down = moonpad("down", layout)
    assert down.code == 0, down.stderr


HOSTS = {"tp2": "tp = 2", "dp2": "dp = 2"}


@pytest.mark.slow
@pytest.mark.parametrize("layout", HOSTS)
def test_two_hosts(served: Served, engine: InstalledEngine, tmp_path: Path, layout: str) -> None:
    try_two_hosts(tmp_path, engine, f"[layout]\n{HOSTS[layout]}\n", served.model, "--numerics")


def try_two_hosts(folder: Path, engine: InstalledEngine, settings: str, model: str, *options: str) -> None:
    """One engine over two hosts: a process on each, a real sshd between them; verified with those options."""
    text = f'model = "kimi-k2-tiny"\nengine = "{engine.name}"\nserved_name = "{model}"\n\n{settings}'
    with open_hosts(command_in(folder), text, engine.path, own_shm=True) as hosts:
        # SGLang compiles kernels while it warms up: minutes, where nothing is cached and the processors are shared.
        up = hosts.moonpad("up", str(hosts.spec), "--json", timeout_s=900.0)
        assert up.code == 0, up.stderr
        try:
            assert hosts.processes("b")
            verification = hosts.moonpad("verify", str(hosts.spec), *options, timeout_s=200.0)
            assert verification.code == 0, verification.stdout + verification.stderr
        finally:
            down = hosts.moonpad("down", "two", timeout_s=200.0)
        assert down.code == 0, down.stderr
        assert hosts.processes("a") == {}
        assert hosts.processes("b") == {}
