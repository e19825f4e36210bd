"""Variables with the engine's own beginning that a published image is given and no recorded release reads."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from moonpad.catalog.known_variables import library_variables
from moonpad.catalog.options import ever_known_environment
from moonpad.engines.foreign_names import ALL_DECLARED, OWN_VARIABLES
from moonpad.engines.forks import OWNERS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.programs import program_table
from moonpad.explain.results import Remark, shortened
from moonpad.values.finding import Code, Finding, Severity

_NEAR: Final = 0.93
"""So near to a name that is known it is a slip, of which another check speaks."""
_MOST: Final = 4


def variables_of_no_release(case: Case) -> Iterator[Remark]:
    """What an image of somebody's own may read is left alone, as is what a script of the container's may use. Of an
    engine that declares all of its variables another check speaks, in a container or not."""
    if case.engine.name in ALL_DECLARED:
        return
    unread = [(number, name) for number, command in enumerate(case.commands) for name in _unread(command, case)]
    if not unread:
        return
    number, first = unread[0]
    names = list(dict.fromkeys(name for _, name in unread))
    told = ", ".join(shortened(name, 60) for name in names[:_MOST]) + (" and others" if len(names) > _MOST else "")
    message = (
        f"no release of {case.engine.facts.title} that is recorded reads {told}: only a build of another branch may"
    )
    remedy = "leave it out where the image is that of a release"
    finding = Finding(Severity.NOTE, Code.DEAD_ENV, first, message, remedy)
    yield Remark(finding, number, variable=first)


def _unread(command: Command, case: Case) -> Sequence[str]:
    container = command.container
    if container is None or container.image is None or command.fork or command.wrappers[-1] is not container:
        return ()
    owners = container.image.text.partition("@")[0].casefold().split("/")[:-1]
    if not OWNERS & {*owners} or program_table().engines.get(command.program, "") != case.engine.name:
        return ()
    given = [value.partition("=")[0] for value in container.values("--env")]
    given = [name for name in dict.fromkeys(given) if name.startswith(OWN_VARIABLES) and name in command.env]
    if not given:
        return ()
    used = {name for word in command.words for name in word.unresolved}
    known = _known(case.engine.program)
    case.script.budget.work(40 * len(given), "its variables")
    return [name for name in given if known and name not in known | used and not _is_near(name, known)]


@lru_cache(maxsize=4)
def _known(program: str) -> frozenset[str]:
    return library_variables() | ever_known_environment(program)


@lru_cache(maxsize=64)
def _is_near(name: str, known: frozenset[str]) -> bool:
    beginning = name.partition("_")[0]
    return bool(difflib.get_close_matches(name, [each for each in known if each.startswith(beginning)], 1, _NEAR))
