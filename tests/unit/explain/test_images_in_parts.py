"""A chart's container whose image is given in parts, and the release in the tag of an image of a person's own."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

RELEASE = """\
apiVersion: {api}
kind: {kind}
metadata:
  name: chat
spec:
  values:
    controllers:
      chat:
        containers:
          app:
            image:
              repository: ghcr.io/somebody/vllm-spark
              tag: {tag}
            {command}args: ["{first}", "--max-model-len", "32768"]
            resources:
              limits:
                nvidia.com/gpu: 1
"""
FLUX = {"api": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease"}


@pytest.mark.parametrize("tag", ["v0.25.1-cu13.2-gb10.3@sha256:" + "a" * 64, "0.25.1-sm121-2", "v0.25.1"])
def test_a_program_and_its_arguments_are_whole(tag: str) -> None:
    judged = ask_one(
        RELEASE.format(**FLUX, tag=tag, first="Qwen/Qwen3-8B", command='command: ["vllm", "serve"]\n            '),
        on="",
    )
    assert judged.version == "0.25.1"
    assert judged.layout is not None
    assert not judged.unknown & {"tp", "pp", "dp"}


def test_without_a_program_the_chart_may_add_to_the_arguments() -> None:
    judged = ask_one(RELEASE.format(**FLUX, tag="v0.25.1", first="--model=Qwen/Qwen3-8B", command=""), on="")
    assert judged.unknown & {"tp"}


def test_another_controller_may_add_to_a_program_of_its_own() -> None:
    command = 'command: ["vllm", "serve"]\n            '
    judged = ask_one(
        RELEASE.format(
            api="serving.example.dev/v1", kind="Server", tag="v0.25.1", first="Qwen/Qwen3-8B", command=command
        ),
        on="",
    )
    assert judged.unknown & {"tp"}
