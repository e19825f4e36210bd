"""The machine below a container: its processor, and a Mac, which hands on no device."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_ARM: Final = ("GH200", "GB200", "GB300", "GB10")
"""Devices beside a processor of Arm (Grace)."""
_X86: Final = ("linux/amd64", "linux/x86_64")
_MAC: Final = re.compile(
    r"\b(?:MacBook|Mac[ ](?:Studio|mini|Pro)|M[1-5][ ](?:Ultra|Max|Pro)|Apple[ -]Silicon)\b", re.IGNORECASE
)
_ANOTHER_MACHINE: Final = re.compile(
    r"\b(?:ssh|remote\w*|servers?|VMs?|cloud|cluster|nodes?|instances?|linux|ubuntu|nvidia|cuda|RTX|eGPU)\b",
    re.IGNORECASE,
)
_LONGEST: Final = 1000


def image_of_other_processor(case: Case) -> Iterator[Remark]:
    """`docker run --platform linux/amd64` on GH200: a Grace processor runs no code for x86-64."""
    container, cluster = case.commands[0].container, case.cluster
    if container is None or cluster is None or container.kind != "docker run":
        return
    kind = cluster.name.rpartition("x")[2]
    option = next((each for each in container.given("--platform") if (each.value or "").strip("'\"") in _X86), None)
    if option is None or not kind.startswith(_ARM):
        return
    message = f"{kind} stands beside a processor of Arm (Grace), and this takes the image for x86-64: exec format error"
    remedy = "write --platform linux/arm64, or leave it out, with an image that is made for both"
    word = option.words[-1]
    yield make_remark(Severity.WARNING, Code.CONFLICT, "--platform", message, remedy, word=word)


def container_on_mac(case: Case) -> Iterator[Remark]:
    """`docker run --gpus all` in a text about a Mac and no other machine: Docker's machine there has no GPU."""
    container, script = case.commands[0].container, case.script
    if container is None or container.kind != "docker run" or case.cluster is not None or script.objects:
        return
    option = next(iter(container.given("--gpus")), None)
    if option is None or not is_first_server(case.commands, script):
        return
    script.budget.work(2 * len(script.lines), "the machine that it names")
    own = {word.line for word in container.words} | {word.line for word in case.commands[0].argv}
    lines = [text[:_LONGEST] for number, text in numbered(script, 1, len(script.lines)) if number not in own]
    mac = next((match[0] for text in lines if (match := _MAC.search(text)) is not None), "")
    if not mac or any(_ANOTHER_MACHINE.search(text) for text in lines):
        return
    message = f"a container on a Mac ({mac}) gets no GPU: Docker runs it in a machine of its own, without CUDA or Metal"
    remedy = "install the engine on the Mac itself, or take a machine with NVIDIA's devices"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, "--gpus", message, remedy, word=option.words[-1])
    yield replace(remark, stops=True)


HOST_CHECKS: Final = (image_of_other_processor, container_on_mac)
