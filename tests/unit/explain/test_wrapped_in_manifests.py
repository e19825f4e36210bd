"""What a manifest sets stands before the command, whatever wraps that; of `docker run` it stands before the image."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: v1
kind: Pod
metadata: {{name: worker}}
spec:
  containers:
  - name: main
    image: vllm/vllm-openai:v0.14.1
    command: [{wrapper}vllm, serve, openai/gpt-oss-120b, --tensor-parallel-size, "8"]
    env:
    - {{name: VLLM_USE_AITER_UNIFIED_ATTENTION, value: "1"}}
    - {{name: VLLM_ROCM_USE_AITER, value: "1"}}
"""
SET = {"VLLM_ROCM_USE_AITER": "1", "VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION": "1"}


@pytest.mark.parametrize("wrapper", ["", "nohup, ", "/overlay/bin/infera-exec, ", "numactl, -N, '0', "])
def test_of_a_manifest(wrapper: str) -> None:
    (one,) = ask(POD.format(wrapper=wrapper))
    (line,) = one.corrected or ()
    assert dict(line.env) == SET
    assert "-e" not in line.argv
    assert line.argv[line.argv.index("vllm") :][:3] == ("vllm", "serve", "openai/gpt-oss-120b")


def test_of_a_container_that_is_run() -> None:
    given = "docker run --gpus all -e VLLM_USE_AITER_UNIFIED_ATTENTION=1 vllm/vllm-openai:v0.14.1"
    (one,) = ask(f"{given} --model openai/gpt-oss-120b --tensor-parallel-size 8")
    (line,) = one.corrected or ()
    image = line.argv.index("vllm/vllm-openai:v0.14.1")
    assert "VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION=1" in line.argv[:image]
    assert not line.env
