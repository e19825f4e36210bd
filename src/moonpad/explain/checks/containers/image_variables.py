"""A shell or Python behind an image that a variable names, where the only images of the text start a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.programs import served_by_image
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_RUN: Final = re.compile(
    r"(?:\bdocker|\bpodman|\$\{?\w*(?:DOCKER|PODMAN)\w*\}?)[ \t]+run\b(?P<options>.*?)[ \t]"
    r"(?P<image>['\"]?\\?\$\{?\w*IMAGE\w*\}?['\"]?)[ \t]+(?P<program>(?:/bin/|/usr/bin/)?(?:bash|sh|python3?))[ \t]"
)
_IMAGE: Final = re.compile(
    r"^[ \t>-]*(?:export[ \t]+)?\w*image[\"']?[ \t]*[:=][ \t]*[\"']?(?P<image>[\w./-]+:[\w.-]+)", re.IGNORECASE
)
_LONGEST: Final = 6000


def behind_variable(case: Case) -> Iterator[Remark]:
    """`docker run … $IMAGE bash script` for an image whose entrypoint is a server."""
    script = case.script
    if not is_first(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    images = {match["image"] for _, text in lines if (match := _IMAGE.match(text))}
    if not images or not all(served_by_image(image) for image in images):
        return
    first, held = 0, ""
    for number, text in lines:
        first = first or number
        part = text.rstrip()
        held += part.rstrip("\\") + " "
        if part.endswith("\\") and len(held) < _LONGEST:
            continue
        found = _RUN.search(held)
        if found is not None and "--entrypoint" not in held:
            program = found["program"]
            message = f"{script.where(first)}: the image {shortened(min(images), 60)} starts its server by itself, and "
            message += f"{program} with all behind it would be arguments of it: it refuses them"
            name = program.rpartition("/")[2]
            remedy = f"name {name} as the entrypoint before the image, and leave {program} out behind it"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, program, message, remedy)
            yield Remark(remark.finding, command=None)
            return
        first, held = 0, ""
