"""Images in folders of registries that are open to their owner's people alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_IMAGE: Final = re.compile(
    r"(?<![\w./-])(?P<image>(?P<folder>nvcr\.io/(?:nvstaging|nvidian)|gitlab-master\.nvidia\.com(?::\d+)?|urm\.nvidia\.com)"
    r"/[\w./-]+[:@][\w.:-]+)"
)
_PUBLIC: Final = "nvcr.io/nvidia"


def image_of_insiders(case: Case) -> Iterator[Remark]:
    """Told once, with the first server of the text."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    for number, text in numbered(script, 1, len(script.lines)):
        match = _IMAGE.search(text)
        if match is None or text.lstrip().startswith(("#", "//")):
            continue
        message = (
            f"{script.where(number)}: {shortened(match['image'], 90)} lies where {match['folder']} lets its owner's "
        )
        message += "people in alone: for everybody else the image is not pulled (access denied)"
        remedy = f"take the public image of the same release, of {_PUBLIC}"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "image", message, remedy)
        yield Remark(remark.finding, command=None)
        return
