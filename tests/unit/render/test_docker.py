"""The scripts of the docker target: a fake client says what it was started with, and shellcheck reads them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moonpad.render.docker_run import render_docker
from tests.unit.render.deployments import SPECS, contained, of_argv

TELL = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ)]))"
SHELLCHECK = Path(sys.executable).with_name("shellcheck")


def started(tmp_path: Path, script: str, **env: str) -> tuple[list[str], dict[str, str]]:
    """What the client was told, and its environment."""
    client = tmp_path / "bin" / "docker"
    client.parent.mkdir()
    client.write_text(f'#!/bin/sh\nexec \'{sys.executable}\' -I -S -c "{TELL}" "$@"\n')
    client.chmod(0o755)
    path = tmp_path / "run.sh"
    path.write_text(script)
    whole = {"PATH": f"{client.parent}:/usr/bin:/bin", **env}
    done = subprocess.run(("bash", str(path)), env=whole, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr
    argv, environment = json.loads(done.stdout)
    return argv, environment


def after(argv: list[str], flag: str) -> list[str]:
    return [argv[at + 1] for at, word in enumerate(argv) if word == flag]


def test_one_node_with_a_key(tmp_path: Path) -> None:
    folder = "/models/a, b $(touch pwned)"
    text = render_docker(contained("keyed"))["node-0/run.sh"].text
    argv, env = started(tmp_path, text, MOONPAD_CHECKPOINT=folder, MOONPAD_API_KEY="s3 'cret", MOONPAD_PORT_API="9000")
    assert after(argv, "--publish") == ["127.0.0.1:9000:9000"]
    assert after(argv, "--mount") == [f'type=bind,"src={folder}",dst=/checkpoint,readonly']
    assert after(argv, "--gpus") == ["8"]
    assert after(argv, "--port") == ["9000"]
    assert env["VLLM_API_KEY"] == "s3 'cret"
    assert "VLLM_API_KEY" in after(argv, "--env")
    assert not any("cret" in word for word in argv)
    assert not (tmp_path / "pwned").exists()


def test_two_nodes_share_the_networks_of_their_hosts(tmp_path: Path) -> None:
    files = render_docker(contained("two-nodes"))
    assert list(files) == ["node-0/run.sh", "node-1/run.sh"]
    hosts = {"MOONPAD_HOST_NODE_0": "10.0.0.1", "MOONPAD_HOST_NODE_1": "10.0.0.2"}
    argv, _ = started(tmp_path, files["node-1/run.sh"].text, MOONPAD_CHECKPOINT="/k2", **hosts)
    assert after(argv, "--network") == ["host"]
    assert not after(argv, "--publish")
    assert after(argv, "--master-addr") == ["10.0.0.1"]
    assert after(argv, "--node-rank") == ["1"]
    assert "VLLM_HOST_IP=10.0.0.2" in after(argv, "--env")


def test_words_arrive_as_they_are(tmp_path: Path) -> None:
    """Fault 51, in the shell; docker's own parser is asked in tests/faults/test_quoting.py."""
    words = ("$(touch pwned)", "`id`", "it's", '"', "a b", "\\", "--privileged", "", "*", "${HOME}", "line 1\nline 2")
    text = render_docker(of_argv(contained("keyed"), *words, A="$HOME"))["node-0/run.sh"].text
    argv, _ = started(tmp_path, text, MOONPAD_CHECKPOINT="/k2")
    assert tuple(argv[-len(words) :]) == words
    assert "A=$HOME" in after(argv, "--env")


@pytest.mark.parametrize("name", SPECS)
def test_shellcheck(name: str) -> None:
    for path, file in render_docker(contained(name)).items():
        assert file.mode == 0o755
        command: tuple[Any, ...] = (SHELLCHECK, "--shell=bash", "-")
        done = subprocess.run(
            command, input=file.text, env=dict(os.environ), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{path}: {done.stdout}"
        assert "--privileged" not in file.text
