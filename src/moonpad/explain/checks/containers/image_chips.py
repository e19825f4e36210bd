"""An image that was built for another generation of the devices that the text names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from moonpad.catalog.image_devices import image_devices
from moonpad.engines.image_names import LAYERS_ON_DEVICES, PROCESSOR_ALONE, PULLED_FOR_CUDA
from moonpad.engines.surrounding_names import IMAGES_OF, PLAIN_ASCEND
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import fields_of, inner, own_container
from moonpad.explain.checks.memory.shared_memory import shell_around
from moonpad.explain.commands import Word
from moonpad.explain.documents.device_generations import BUILT_FOR, IN_TAGS, LONGEST
from moonpad.explain.documents.device_mentions import capability_of, mentions, platform_of
from moonpad.explain.documents.spoken_capabilities import other_maker
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform

_TAG: Final = re.compile(r":[^:/@\s]*(?:cann|ascend|npu)?[^:/@\s]*-(910b|a2|a3|310p)(?![a-z0-9])", re.IGNORECASE)
_OF_ASCEND: Final = re.compile(r"cann\d|ascend|npu", re.IGNORECASE)
_CHIPS: Final[Mapping[str, str]] = {"910b": "A2", "a2": "A2", "a3": "A3", "310p": "310P"}
"""The end of a tag → the devices as the catalogue calls them."""
_NAMES: Final[Mapping[str, str]] = {"A2": "910b", "A3": "a3"}
_BUILDS: Final[Mapping[str, str]] = {"nvidia": "CUDA", "amd": "ROCm"}
_AMD_RESOURCE: Final = "amd.com/gpu"
_NVIDIA_RESOURCE: Final = "nvidia.com/gpu"
_SPEAKS_OF_NVIDIA: Final = re.compile(r"\bnvidia\b(?!\.com)|英伟达|\bcuda\b", re.IGNORECASE)
_OF_MAKER: Final[Mapping[str, str]] = {Platform.ROCM: "nvidia", Platform.CUDA: "amd"}
"""The platform of the devices → the row of images that are not for it."""


def image_of_other_chip(case: Case) -> Iterator[Remark]:
    """Kernels of one generation do not run on the other."""
    if not is_first(case.commands, case.script):
        return
    images = _images(case)
    tags = [(image, _TAG.search(image.text)) for image in images if _OF_ASCEND.search(image.text)]
    found = next(((image, tag[1].casefold()) for image, tag in tags if tag is not None), None)
    if found is None:
        found = next(((image, "a2") for image in images if PLAIN_ASCEND.search(image.text)), None)
    if found is None:
        yield from _image_of_other_generation(case, images)
        return
    image, tag = found
    kinds = _kinds(case)
    if len(kinds) != 1 or (kind := next(iter(kinds))) not in _NAMES or kind == _CHIPS[tag]:
        return
    message = f"{shortened(image.text, 60)} is built for {_CHIPS[tag]}, and the text names {kind}: its kernels do not "
    message += "run there"
    plain = image.text.replace(f"-{tag}", "", 1)
    remedy = f"take the image whose tag ends in -{_NAMES[kind]}"
    if kind == "A2" and PLAIN_ASCEND.search(plain):
        remedy = f"take {shortened(plain, 60)}"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, image.text, message, remedy, word=image)
    yield Remark(remark.finding, command=0, word=image)


def image_of_processor(case: Case) -> Iterator[Remark]:
    """`llama.cpp:server` where layers are to lie on devices: the build in it has no backend for any."""
    image = next((each for each in _images(case) if PROCESSOR_ALONE.fullmatch(each.text)), None)
    layers = case.option(*LAYERS_ON_DEVICES)
    if image is None or layers is None or layers.value in ("0", None) or image.unresolved:
        return
    kind = next(match["kind"] for match in [PROCESSOR_ALONE.fullmatch(image.text)] if match is not None)
    message = f"{shortened(image.text, 60)} computes on the processor alone: {layers.written} is taken and does nothing"
    remedy = f"take the image {kind}-cuda for NVIDIA, {kind}-rocm for AMD, or {kind}-vulkan"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, image.text, message, remedy, word=image)
    yield Remark(remark.finding, command=0, word=image)


def _image_of_other_generation(case: Case, images: Sequence[Word]) -> Iterator[Remark]:
    """AMD's: the image of the container, else the only one that the text names."""
    named = [(image.text, match) for image in images for match in IN_TAGS.finditer(image.text)]
    if not images:
        case.script.budget.once("images of a generation", case.script.steps_to_scan, "the text around its commands")
        named = [
            (_word_at(line, match), match) for line in case.script.lines for match in IN_TAGS.finditer(line[:LONGEST])
        ]
    tags = {match[1].casefold() for _, match in named}
    devices = {(kind, capability_of(kind)) for kind in _kinds(case) if platform_of(kind) is Platform.ROCM}
    if len(tags) != 1 or len({capability for _, capability in devices}) != 1:
        return
    text, tag = named[0][0], next(iter(tags))
    kind, capability = min(devices)
    right = next((each for each, generation in BUILT_FOR.items() if generation == capability), None)
    if right is None or right == tag:
        return
    message = f"{shortened(text, 70)} is built for {BUILT_FOR[tag]}, and the text names {kind}, which is {capability}: "
    message += "kernels of the one do not run on the other"
    word = images[0] if images else None
    remark = make_remark(
        Severity.WARNING, Code.CONFLICT, text, message, f"take the image with {right} in its tag", word=word
    )
    yield Remark(remark.finding, command=0, word=word)


def _word_at(line: str, match: re.Match[str]) -> str:
    """The whole reference of an image, of which a part matches."""
    return line[line.rfind(" ", 0, match.start()) + 1 :].split(maxsplit=1)[0].strip("`'\"(),;:*")


def _images(case: Case) -> list[Word]:
    images = [wrapper.image for command in case.commands for wrapper in command.wrappers if wrapper.image is not None]
    if not images and (shell := shell_around(case)) is not None and shell.container is not None:
        images = [shell.container.image] if shell.container.image is not None else []
    return images


def _kinds(case: Case) -> set[str]:
    """The devices that are asked for, else those that the text names."""
    if case.cluster is not None and case.devices_asked:
        return {case.cluster.name.rpartition("x")[2]}
    case.script.budget.work(case.script.steps_to_scan, "the text around its engine commands")
    return {each.kind for each in mentions(case.script.lines, case.script.placed_hints) if each.known}


def image_of_other_maker(case: Case) -> Iterator[Remark]:
    """An image for CUDA where all devices of the text are AMD's, or the other way round, or those of a third maker."""
    by_resource = list(_image_of_resource(case))
    yield from by_resource
    if by_resource:
        return
    if case.cluster is None and is_first(case.commands, case.script):
        yield from _image_of_cuda(case)
    if case.cluster is None or case.platform not in _OF_MAKER or not is_first(case.commands, case.script):
        return
    built = _OF_MAKER[case.platform]
    row = image_devices()[built]
    of_guide = case.script.markdown and not any(each.image is not None for each in case.commands[0].wrappers)
    images = [] if of_guide else _images(case)  # a guide may start its container under another heading
    image = next((each for each in images if re.search(row.image, each.text, re.IGNORECASE)), None)
    if image is None or image.unresolved:
        return
    if any(platform_of(kind) != case.platform for kind in _kinds(case)):
        return
    message = f"{shortened(image.text, 60)} is built for {_BUILDS[built]}, and the devices are "
    message += f"{case.cluster.device.product}: it finds none of them"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, image.text, message, IMAGES_OF[case.platform], word=image)
    yield Remark(remark.finding, command=0, word=image)


def _image_of_resource(case: Case) -> Iterator[Remark]:
    """A pod that asks its node for AMD's devices, and an image that is built for CUDA. The other way round is
    `devices_of_another_maker`."""
    found = own_container(case)
    image = next(iter(_images(case)), None) if found is not None else None
    if found is None or image is None or image.unresolved or found[0].templated:
        return
    limits = {
        **fields_of(inner(found[1], "resources", "requests")),
        **fields_of(inner(found[1], "resources", "limits")),
    }
    if _AMD_RESOURCE not in limits or not PULLED_FOR_CUDA.match(f"{image.text}:"):
        return
    if re.search(image_devices()["amd"].image, image.text, re.IGNORECASE):
        return
    line = case.script.where(found[0].offset + limits[_AMD_RESOURCE].start_mark.line)
    message = f"{shortened(image.text, 60)} is built for CUDA, and {line} asks for {_AMD_RESOURCE}: "
    message += "it finds none of the devices that it is given"
    remedy = IMAGES_OF[Platform.ROCM]
    remark = make_remark(Severity.WARNING, Code.CONFLICT, image.text, message, remedy, word=image)
    yield Remark(remark.finding, command=0, word=image, stops=True)


def _image_of_cuda(case: Case) -> Iterator[Remark]:
    """The engine's own image for CUDA, in a text about devices of a maker that has builds of its own."""
    maker = other_maker(case.script)
    image = next((each for each in _images(case) if PULLED_FOR_CUDA.match(f"{each.text}:")), None)
    if not maker or image is None or image.unresolved:
        return
    if any(_SPEAKS_OF_NVIDIA.search(line.replace(image.text, "")) for line in case.script.lines):
        return  # it may name the other maker in passing
    message = f"{shortened(image.text, 60)} is built for CUDA, and the text is about {maker}: it finds none of them"
    if any(_NVIDIA_RESOURCE in line for line in case.script.lines):
        message += f"; their nodes do not offer {_NVIDIA_RESOURCE} either, so that a pod stays pending"
    remedy = "take the image that the maker builds, and the resource of its device plugin"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, image.text, message, remedy, word=image)
    yield Remark(remark.finding, command=0, word=image, stops=True)
