"""An image that was built for another generation of the devices that the text names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.engines.surrounding_names import PLAIN_ASCEND
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.shared_memory import shell_around
from moonpad.explain.documents.device_mentions import mentions
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity

_TAG: Final = re.compile(r":[^:/@\s]*(?:cann|ascend|npu)?[^:/@\s]*-(910b|a2|a3|310p)(?![a-z0-9])", re.IGNORECASE)
_OF_ASCEND: Final = re.compile(r"cann\d|ascend|npu", re.IGNORECASE)
_CHIPS: Final[Mapping[str, str]] = {"910b": "A2", "a2": "A2", "a3": "A3", "310p": "310P"}
"""The end of a tag → the devices as the catalogue calls them."""
_NAMES: Final[Mapping[str, str]] = {"A2": "910b", "A3": "a3"}


def image_of_other_chip(case: Case) -> Iterator[Remark]:
    """Kernels of one generation do not run on the other."""
    if not is_first(case.commands, case.script):
        return
    images = [wrapper.image for command in case.commands for wrapper in command.wrappers if wrapper.image is not None]
    if not images and (shell := shell_around(case)) is not None and shell.container is not None:
        images = [shell.container.image] if shell.container.image is not None else []
    tags = [(image, _TAG.search(image.text)) for image in images if _OF_ASCEND.search(image.text)]
    found = next(((image, tag[1].casefold()) for image, tag in tags if tag is not None), None)
    if found is None:
        found = next(((image, "a2") for image in images if PLAIN_ASCEND.search(image.text)), None)
    if found is None:
        return
    image, tag = found
    case.script.budget.work(case.script.steps_to_scan, "the text around its engine commands")
    kinds = {each.kind for each in mentions(case.script.lines, case.script.placed_hints) if each.known}
    if case.cluster is not None and case.devices_asked:
        kinds = {case.cluster.name.rpartition("x")[2]}
    if len(kinds) != 1 or (kind := next(iter(kinds))) not in _NAMES or kind == _CHIPS[tag]:
        return
    message = f"{shortened(image.text, 60)} is built for {_CHIPS[tag]}, and the text names {kind}: its kernels do not "
    message += "run there"
    remedy = f"take the image whose tag ends in -{_NAMES[kind]}"
    remark = make_remark(Severity.WARNING, Code.CONFLICT, image.text, message, remedy, word=image)
    yield Remark(remark.finding, command=0, word=image)
