"""Containers that are started by hand without the devices that the server in them is for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.image_devices import image_devices
from moonpad.engines.surrounding_names import ONE_PROCESS_A_NODE
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.shared_memory import by_hand, shell_around
from moonpad.explain.checks.own_platform import platform_told
from moonpad.explain.commands import Word, Wrapper
from moonpad.explain.programs import base_name
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace

_BARE: Final = re.compile(r"\$\{?\w+\}?|\$\(.*|\{.*")
"""A word that a variable gives as a whole: it may be any option."""
_QUIET: Final = frozenset(
    {"--volume", "--env", "--name", "--publish", "--network", "--shm-size", "--env-file", "--user"}
)
"""Options whose values say nothing of devices."""
_ADDED: Final = re.compile(r"add ((?:--?[\w-]+(?:[ =][^\s()-][^\s()]*)?(?: |$))+)(?:\(Podman[^)]*\))?")
"""A remedy that is nothing but options."""
_OTHER_MAKERS: Final = re.compile(r"/dev/(?:kfd|davinci)")
"""Devices of other makers than NVIDIA, whose runtime --gpus asks for: without that Docker ends the start."""
_DOCKER: Final = "docker"
_LONGEST: Final = 4000
_PROCESSORS: Final = ("cpu", "none")
_OF_FILES: Final = ("apptainer", "singularity")
_DRIVERS: Final = {str(Platform.CUDA): "--nv", str(Platform.ROCM): "--rocm"}
_INSTANCE: Final = "instance://"
_GIVES_DRIVER: Final = frozenset({"--nv", "--nvccli", "--rocm"})
_GIVEN_BY_VARIABLE: Final = re.compile(r"\b(?:APPTAINER|SINGULARITY)_(?:NV|NVCCLI|ROCM)=")


def container_devices(case: Case) -> Iterator[Remark]:
    """The first that lacks: others come with it."""
    command = case.commands[0]
    container = command.container
    if container is None and (shell := shell_around(case)) is not None:
        command, container = shell, shell.container
    image = container.image if container is not None else None
    if container is None or image is None or image.unresolved or container.kind != "docker run":
        return
    if _is_open(container) or not by_hand(case, command) or case.text("--device") in _PROCESSORS:
        return
    words = " ".join(word.text for word in container.words if word is not image)[:_LONGEST]
    served = " ".join(word.text for word in case.commands[0].argv)[:_LONGEST]
    for row in image_devices().values():
        if row.command and not re.search(row.command, served):
            continue
        if not re.search(row.image, image.text, re.IGNORECASE) or case.platform in row.not_on:
            continue
        if (row.given and not re.search(row.given, words)) or re.search(row.needs, words, re.IGNORECASE):
            continue
        remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, row.missing, row.message, row.remedy, word=image)
        added = _ADDED.fullmatch(row.remedy) if base_name(container.words[0]) == _DOCKER else None
        edits: tuple[tuple[Word, tuple[str, ...]], ...] = (
            ((image, (*added[1].split(), image.text)),) if added is not None else ()
        )
        if edits and _OTHER_MAKERS.search(row.remedy):
            edits += tuple((word, ()) for option in container.given("--gpus") for word in option.words)
        yield replace(remark, around=edits) if edits else remark
        return


def image_file_devices(case: Case) -> Iterator[Remark]:
    """`apptainer exec IMAGE.sif vllm serve …` without `--nv`: the host's driver is not taken into the container. An
    administrator may have it so for all (`always use nv`), hence a warning."""
    holder = next((each for each in reversed(case.commands[0].wrappers) if each.kind in _OF_FILES), None)
    if holder is None or holder.image is None or case.text("--device") in _PROCESSORS or _is_open(holder):
        return
    texts = {word.text for word in holder.words}
    if texts & _GIVES_DRIVER or _GIVEN_BY_VARIABLE.search("\n".join(case.script.lines)):
        return
    if holder.image.text.startswith(_INSTANCE):
        return  # it was started before, with options of its own
    platform = platform_told(case) or (str(Platform.CUDA) if case.base in ONE_PROCESS_A_NODE else "")
    option = _DRIVERS.get(platform, "")
    if not option or not {*map(str, case.engine.platforms)} & {*_DRIVERS}:
        return
    message = f"{holder.kind} takes the host's driver into the container only where it is told to: no device is found "
    message += "in it (Failed to infer device type, or no CUDA device)"
    remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, option, message, f"add {option}", word=holder.image)
    yield replace(remark, around=((holder.image, (option, holder.image.text)),))


def _is_open(container: Wrapper) -> bool:
    """Whether words that cannot be read may hold the devices."""
    quiet = {id(word) for option in container.options if option.name in _QUIET for word in option.words}
    return any(_BARE.fullmatch(word.text) and id(word) not in quiet for word in container.words)
