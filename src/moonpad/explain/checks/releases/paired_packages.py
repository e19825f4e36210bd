"""Packages that put a server of their own into the engine's program: catalog/paired_packages.py."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.catalog.paired_packages import packages_together, paired_packages
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_LONGEST: Final = 1000
_NUMBERED: Final = re.compile(r"==|\bgit[ ]clone\b")
_MINOR: Final = re.compile(r"\d+\.\d+")


def paired_package(case: Case) -> Iterator[Remark]:
    """Another minor number than the engine's, or none beside an engine that is pinned."""
    for pair in paired_packages():
        at = next((at for at, word in enumerate(case.commands[0].argv) if word.text == pair.option), None)
        if pair.engine != case.engine.name or at is None or not case.version:
            continue
        lines = [line[:_LONGEST] for line in case.script.lines]
        case.script.budget.work(len(lines), "the packages of its text")
        named = _named(lines, pair.package)
        ours = _MINOR.match(case.version)
        if ours is None:
            continue
        if len(named) == 1 and (theirs := _MINOR.match(named[0])) is not None and theirs[0] != ours[0]:
            message = (
                f"{pair.package} {named[0]} beside {case.engine.facts.title} {case.version}: it fits the release of"
            )
            message += (
                f" its own minor number alone, and with another {pair.option} is not known or its import ends the"
            )
            message += " start"
            remedy = f"install {pair.package} {ours[0]}.x, or {case.engine.name} {theirs[0]}.x in front of it"
        elif not named and _unpinned(lines, pair.package) and _pinned(lines, pair.engine):
            message = (
                f"{case.engine.name} is pinned to {case.version} and {pair.package} is not: the newest is installed,"
            )
            message += " which fits the release of its own minor number alone"
            remedy = f"write {pair.package}=={ours[0]}.*"
        else:
            continue
        yield make_remark(Severity.WARNING, Code.CONFLICT, pair.option, message, remedy, at=at)


def image_without_entrypoint(case: Case) -> Iterator[Remark]:
    """Options alone behind an image that starts nothing by itself."""
    for number, command in enumerate(case.commands):
        container = command.container
        image = container.image if container is not None else None
        if container is None or image is None or container.kind != "docker run" or container.has("--entrypoint"):
            continue
        before = sum(len(each.words) for each in command.wrappers)
        if command.prefix[before:] or not command.argv or container is not command.wrappers[-1]:
            continue
        for pair in paired_packages():
            if re.fullmatch(pair.bare_images, image.text, re.IGNORECASE):
                first, name = command.argv[0], shortened(image.text, 60)
                message = (
                    f"{name} has no entrypoint: {shortened(first.text, 40)} would be the program, which is not found"
                )
                remedy = f"write {pair.program} behind the image"
                remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy, word=first)
                yield replace(remark, command=number)


def _named(lines: list[str], package: str) -> list[str]:
    """The releases of it that a text names: `name==0.14.0`, and `name   0.14.0` as pip lists it."""
    pattern = re.compile(
        rf"(?<![\w/.-]){re.escape(package)}(?:[ ]?==[ ]?|[ ]?[:=][ ]?|[ \t]+)[\"']?v?(\d+\.\d+(?:\.\d+)?\w*)",
        re.IGNORECASE,
    )
    return sorted({match[1] for line in lines for match in pattern.finditer(line)})


def _unpinned(lines: list[str], package: str) -> bool:
    pattern = re.compile(rf"\bpip3?[ ]+install\b[^#\n]*[ ]{re.escape(package)}(?:[ ]|$)", re.IGNORECASE)
    return any(pattern.search(line) for line in lines)


def _pinned(lines: list[str], engine: str) -> bool:
    pattern = re.compile(rf"\bpip3?[ ]+install\b[^#\n]*(?<![\w-]){re.escape(engine)}==", re.IGNORECASE)
    return any(pattern.search(line) for line in lines)


def packages_of_two_numbers(case: Case) -> Iterator[Remark]:
    """`pip install torch==2.8.0 torch_npu==2.7.1`: of each the text names one minor number, and the two differ."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    script.budget.work(len(script.lines), "the packages of its text")
    lines = [(number, line[:_LONGEST]) for number, line in enumerate(script.lines, 1) if _NUMBERED.search(line)]
    lines = [(number, line) for number, line in lines if not line.lstrip().startswith("#")]
    for pair in packages_together() if lines else ():
        ours, theirs = _installed(pair.one, lines), _installed(pair.other, lines)
        if len({*ours.values()}) != 1 or len({*theirs.values()}) != 1:
            continue
        number, mine = next(iter(ours.items()))
        other = next(iter(theirs.values()))
        if mine == other:
            continue
        message = f"{script.where(number)}: {pair.one} {mine} and {pair.other} {other}: releases of one minor number "
        message += f"belong together, and without that {pair.without}"
        remedy = f"install {pair.one} {other}.x, or {pair.other} {mine}.x"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, pair.other, message, remedy)
        yield replace(remark, command=None)
        return


def _installed(package: str, lines: Sequence[tuple[int, str]]) -> dict[int, str]:
    """Lines that install it → the minor number: `name==2.8.0`, and a branch of its repository."""
    name = re.escape(package).replace(r"\-", "[-_]")
    pattern = re.compile(
        rf"(?<![\w./-]){name}(?:\[[\w,-]{{1,40}}\])?[ ]?==[ ]?v?(\d+\.\d+)(?=[.\s\"'rp;,]|$)"
        rf"|--?b(?:ranch)?[ =]v(\d+\.\d+)\S{{0,20}}[ ](?:\S{{1,40}}[ ]){{0,3}}https://github\.com/[\w-]+/{name}(?:\.git)?(?![\w-])",
        re.IGNORECASE,
    )
    return {number: match[1] or match[2] for number, line in lines for match in pattern.finditer(line)}


PACKAGE_CHECKS: Final = (paired_package, image_without_entrypoint, packages_of_two_numbers)
