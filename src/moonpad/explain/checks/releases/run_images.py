"""Whether a command runs an image that a report is about."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import LONGEST
from moonpad.explain.documents.former_releases import was_well
from moonpad.explain.programs import is_server

_REST: Final = re.compile(r"[\w.-]*")


def of_image(pattern: str, case: Case) -> bool:
    """Whether the command's image is one of these; without a container, whether the text names one, otherwise than as
    one with which all is well."""
    if not pattern:
        return True
    container = case.commands[0].container
    image = container.image if container is not None else None
    if image is not None:
        return re.search(pattern, image.text[:LONGEST], re.IGNORECASE) is not None
    if _is_of_another_start(pattern, case):
        return False
    case.script.budget.once(f"images like {pattern}", len(case.script.lines), "its known reports")
    return _is_named(pattern, case.script.lines)


def _is_of_another_start(pattern: str, case: Case) -> bool:
    """Whether another server of the text runs in such an image: this one, which has none, runs without it."""
    if len(case.script.commands) == len(case.commands):
        return False
    case.script.budget.work(len(case.script.commands), "its known reports")
    held = (each.container.image for each in case.script.commands if each.container and is_server(each.program))
    return any(image is not None and re.search(pattern, image.text[:LONGEST], re.IGNORECASE) for image in held)


@lru_cache(maxsize=128)
def _is_named(pattern: str, lines: tuple[str, ...]) -> bool:
    named = re.compile(pattern, re.IGNORECASE)
    places = ((line, match) for line in {line[:LONGEST] for line in lines} for match in named.finditer(line))
    return any(not was_well(line, match.start(), _whole(line, match.end())) for line, match in places)


def _whole(line: str, end: int) -> int:
    """Where the tag ends that a pattern is the beginning of."""
    rest = _REST.match(line, end)
    return rest.end() if rest is not None else end
