"""Images whose entry point asks for a program first, and images in a place that their project has left."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.engines.image_names import CHOOSES_PROGRAM, LEFT_PLACES, PROGRAMS_OF_SCRIPT
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.containers.image_programs import is_of_another_tool
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace


def program_of_image(case: Case) -> Iterator[Remark]:
    """`docker run ghcr.io/ggml-org/llama.cpp:full-cuda -m FILE`: the script in it takes its first argument as the name
    of a program, and ends where that is none."""
    for number, command in enumerate(case.commands):
        wrapper = command.wrappers[-1] if command.wrappers else None
        if wrapper is None or wrapper.kind != "docker run" or wrapper.image is None or wrapper.has("--entrypoint"):
            continue
        if not CHOOSES_PROGRAM.fullmatch(wrapper.image.text) or wrapper.image.unresolved or command.custom:
            continue
        before = sum(len(each.words) for each in command.wrappers)
        first = next(iter((*command.prefix[before:], *command.argv)), None)
        if first is None or first.unresolved or not first.text.startswith("-") or first.text in PROGRAMS_OF_SCRIPT:
            continue
        if is_of_another_tool(wrapper, first, case.script):
            continue
        message = f"the entry point of {shortened(wrapper.image.text, 60)} takes its first argument as the name of a "
        message += f"program, and {first.text} is none (Unknown command): the container ends"
        remedy = f"write --server (or --run for a chat in the terminal) in front of {first.text}"
        remark = make_remark(Severity.ERROR, Code.INVALID_VALUE, first.text, message, remedy, word=first)
        yield Remark(remark.finding, command=number, word=first)


def left_image(case: Case) -> Iterator[Remark]:
    """An image of a registry's place that its project has left: what may be there still is as old as that day."""
    for number, command in enumerate(case.commands):
        container = command.container
        image = container.image if container is not None else None
        if image is None or image.unresolved:
            continue
        place = next((each for each in LEFT_PLACES if image.text.startswith((f"{each}:", f"{each}@"))), None)
        if place is None:
            continue
        now, day = LEFT_PLACES[place]
        written = now + image.text[len(place) :]
        message = f"{place} was left in {day}: by reports its images are not found, and any that is there is as old"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, image.text, message, f"take {written}", word=image)
        remark = Remark(remark.finding, command=number, word=image)
        yield replace(remark, around=((image, (written,)),))
        return
