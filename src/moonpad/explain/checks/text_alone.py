"""What is wrong in a text that is about an engine and starts none: an image that is built, containers of other
programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.explain.checks.containers.compose_health import compose_health_in
from moonpad.explain.checks.containers.compose_words import refused_by_compose
from moonpad.explain.checks.containers.container_slips import shells_of_containers
from moonpad.explain.checks.containers.dockerfile_slips import slips_of_dockerfile
from moonpad.explain.checks.installs.install_options import unknown_to_installers
from moonpad.explain.checks.installs.package_sources import not_installable_in
from moonpad.explain.checks.installs.shallow_clones import commits_of_shallow
from moonpad.explain.checks.options.module_names import misspelt_modules
from moonpad.explain.checks.shell.line_slips import slips_in_lines
from moonpad.explain.checks.shell.script_slips import markers_of_conflict
from moonpad.explain.commands import Script
from moonpad.explain.results import Judged, Remark
from moonpad.explain.spoken_reports import engines_named

_ALONE: Final[tuple[Callable[[Script], Iterator[Remark]], ...]] = (
    unknown_to_installers,
    commits_of_shallow,
    refused_by_compose,
    shells_of_containers,
    not_installable_in,
    slips_in_lines,
    slips_of_dockerfile,
    compose_health_in,
    markers_of_conflict,
    misspelt_modules,
)


def slips_alone(script: Script) -> Iterator[Remark]:
    """Those that need no command of an engine to be seen."""
    for check in _ALONE:
        yield from check(script)


def judged_alone(script: Script) -> Judged | None:
    """The text by itself, with the engine that it names; None where it names none, or nothing is found."""
    script.budget.work(20 * len(script.lines), "the text")
    named = engines_named(script)
    remarks = tuple(slips_alone(script)) if named else ()
    return Judged(named[0], "", "the text starts nothing", remarks, kind="report") if remarks else None
