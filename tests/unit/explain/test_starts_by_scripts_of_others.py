"""A text without a command of an engine that calls a script, or a program which starts engines by itself."""

from __future__ import annotations

import pytest

from moonpad.explain.missing_engine import missing_engine
from moonpad.explain.script import read_script

XINFERENCE = "xinference launch --model-engine {} --model-name moonlight-16b-a3b-instruct --model-format pytorch"


def said(text: str) -> str:
    return " => ".join(missing_engine(read_script(text)))


@pytest.mark.parametrize(
    ("line", "script"),
    [
        ("QUANT=int4 bash scripts/serve_docker_vllm.sh", "scripts/serve_docker_vllm.sh"),
        ("exec /app/entrypoint.sh", "/app/entrypoint.sh"),
        ("./launch-kimi.sh", "./launch-kimi.sh"),
        ("sudo sh run_server.sh", "run_server.sh"),
    ],
)
def test_the_script_to_give_is_named(line: str, script: str) -> None:
    told = said(f"#!/bin/bash\nexport HOME_OF=us\n{line}\n")
    assert f"line 3 runs {script}" in told
    assert "--file" in told
    assert "no engine" not in told


def test_several_scripts() -> None:
    text = "# Kimi\n\n```sh\nbash build_image.sh\nbash serve_vllm.sh\nbash serve_sglang.sh\nbash serve_vllm.sh\n```\n"
    assert "line 5 runs serve_vllm.sh and serve_sglang.sh, which are not at hand" in said(text)


@pytest.mark.parametrize("line", ["bash scripts/install.sh", "./verify.sh", "bash stop_server.sh", "ls serve.sh"])
def test_scripts_that_start_nothing(line: str) -> None:
    assert "it starts no engine" in said(f"#!/bin/bash\n{line}\n")


def test_xinference() -> None:
    told = said(XINFERENCE.format("vllm"))
    assert "lets Xinference start moonlight-16b-a3b-instruct by vLLM (format pytorch)" in told
    assert "by" not in said(XINFERENCE.format("'$engine'")).partition(":")[0].split()
    assert "Xinference" in said("xinference launch --model-name m")


def test_another_program_of_that_name() -> None:
    assert "it starts no engine" in said("xinference-local --host 0.0.0.0")
