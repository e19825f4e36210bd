"""Memory that is bound to a node inside of a container."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVER = "python3 -m sglang.launch_server --model-path org/m --tp 8"
RUN = "docker run --gpus all{} lmsysorg/sglang:v0.5.6 numactl {} " + SERVER
SHELL = """\
docker run --gpus all{} --name sg -itd lmsysorg/sglang:v0.5.6
docker exec -it sg /bin/bash
numactl {} python3 -m sglang.launch_server --model-path org/m --tp 8
"""


def said(text: str) -> list[str]:
    return [each.where for judged in ask(text) for each in judged.findings if "binds memory inside" in each.message]


@pytest.mark.parametrize("text", [RUN, SHELL])
@pytest.mark.parametrize("option", ["-m 0", "--membind=0", "--interleave=all", "-N 0 -i all"])
def test_docker_keeps_it_from_the_process(text: str, option: str) -> None:
    assert len(said(text.format("", option))) == 1


@pytest.mark.parametrize(
    "text",
    [
        RUN.format(" --privileged", "-m 0"),
        RUN.format(" --cap-add SYS_NICE", "-m 0"),
        RUN.format(" --cap-add=CAP_SYS_NICE", "-i all"),
        RUN.format(" --security-opt seccomp=unconfined", "-m 0"),
        RUN.format("", "-N 0"),
        SHELL.format(" --privileged", "-m 0"),
        SHELL.format("", "-C 0-31"),
        "numactl -m 0 docker run --gpus all lmsysorg/sglang:v0.5.6 python3 -m sglang.launch_server --model-path org/m",
        "numactl -m 0 python3 -m sglang.launch_server --model-path org/m --tp 8",
    ],
)
def test_what_has_the_right_or_binds_no_memory(text: str) -> None:
    assert not said(text)
