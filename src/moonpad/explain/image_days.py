"""Builds of a day instead of a release: images whose tag names it, `lmsysorg/sglang:nightly-dev-cu13-20260710-1a2b3c4`,
and those that the text speaks of, `vLLM main of 2025-12-07`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

from moonpad.catalog.image_releases import REFERENCE
from moonpad.catalog.release_days import release_days, releases_around
from moonpad.engines import ENGINES
from moonpad.engines.program_words import TAGS_OF_ARGUMENTS
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.own_parts import of_own_part
from moonpad.explain.documents.spoken_days import day_of_build, day_of_main, first_day, last_day
from moonpad.explain.engine_builds import engines_started
from moonpad.explain.programs import named_by_image, served_by_image

_DAY: Final = re.compile(
    r"(?<!\d)(?P<year>20(?:2[3-9]|3\d))(?P<between>[-_.]?)(?P<month>0[1-9]|1[0-2]|(?<=[-_.])[1-9](?=[-_.]))"
    r"(?P=between)(?P<day>0[1-9]|[12]\d|3[01]|(?<=[-_.])[1-9])(?!\d)",
    re.ASCII,
)
_MONTH_FIRST: Final = re.compile(
    r"(?<!\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?P<year>20(?:2[3-9]|3\d))(?!\d)", re.ASCII
)
"""As American publishers write it, `rocm/vllm-dev:open-mi300-08052025`."""
_APART: Final = timedelta(days=2)
"""Between a release and a build that is surely another one."""
_COMMIT: Final = re.compile(r":nightly-[0-9a-f]{40}(?![\w.-])", re.ASCII)
_DAY_BESIDE: Final = re.compile(
    r"(?<=:)(?P<tag>nightly-[0-9a-f]{40})[`*\"')]{0,3},?[ ][(\[]?(?:(?:of|from|built|dated|build)[ ](?:on[ ])?)?"
    r"(?P<day>20(?:2[3-9]|3\d)-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?![\dT]|[ ]\d\d:)",
    re.ASCII,
)
"""`:nightly-<40 digits> (2026-05-25)`, as people note when they took it."""
_LONGEST: Final = 400
_LINE_OF_SOURCE: Final = re.compile(r"\.(?:py|pyx|rs|go|c|cc|cpp|cu|cuh|h|hpp):\d+$", re.ASCII)
"""`sglang/srt/utils.py:558` of a log, which has the form of an image with its tag."""


def release_of_its_day(engine: str, command: Command, script: Script) -> tuple[str, str, str] | None:
    """The release that was out on the day of the command's image, the next one, and a sentence about it. Of a month
    without a day, the one at its beginning and the next one at its end."""
    day, what = build_day(engine, command, script)
    begin = releases_around(engine, first_day(day)) if day else None
    if begin is None:
        return None
    _, behind = releases_around(engine, last_day(day)) or begin
    when = "when" if first_day(day) == day else "at whose beginning"
    return begin[0], behind, f"{what} of {day}, {when} {begin[0]} was the newest"


def next_of_its_day(engine: str, release: str, image: str) -> str:
    """Of a tag with a release and a day, `sglang-rocm:v0.5.17-rocm724-mi35x-20260820`, the next release where the day
    is some days after that one came out, and before the next: a build of main, which calls itself by the release that
    is behind it. "" for others."""
    day = day_of(image)
    recorded = release_days().get(engine)
    published = recorded.releases.get(release, "") if recorded is not None else ""
    around = releases_around(engine, day) if day and published else None
    if around is None or around[0] != release:
        return ""
    later = date.fromisoformat(day) - date.fromisoformat(published)
    return around[1] if later >= _APART else ""


def next_of_named_image(engine: str, release: str, command: Command, script: Script) -> str:
    """The same of a command without a container, where the images of that release in the text are of one day."""
    if command.container is not None:
        return ""
    script.budget.once("images with a day", len(script.lines), "the text around its engine commands")
    images = [image for image in _images_of(engine, script.lines) if f"v{release}-" in image]
    return next_of_its_day(engine, release, images[0]) if len({day_of(image) for image in images}) == 1 else ""


def build_day(engine: str, command: Command, script: Script) -> tuple[str, str]:
    """The day of the build that a command starts and what says so, or a month. The image is its container's; without
    one all images of the engine in the text have to be of one day, or those of the command's own part of it. Where none
    has one, that of the only build which the text speaks of."""
    container = command.container.image if command.container is not None else None
    script.budget.once("images with a day", len(script.lines), "the text around its engine commands")
    images = (container.text,) if container is not None else _images_of(engine, script.lines)
    days = {day_of(image) for image in images}
    if len(days) > 1 and container is None:
        images = of_own_part(command.line, _placed(images, script.lines), script.lines)
        days = {day_of(image) for image in images}
    if len(days) == 1 and (day := days.pop() or _day_beside(images, script.lines)):
        return day, "its image is"
    names = dict.fromkeys((engine, ENGINES[engine].facts.title))
    day = _day_of_tree(script.lines) or day_of_build(names, tuple(script.lines))
    if not day and len(engines_started(script)) == 1:
        day = day_of_main(script.lines)
    return day, "the text speaks of a build"


def _placed(images: Sequence[str], lines: Sequence[str]) -> list[tuple[int, str]]:
    """Each with each line that it stands in, from 1."""
    known = set(images)
    named = ((number, match[0]) for number, line in enumerate(lines, 1) for match in REFERENCE.finditer(_plain(line)))
    return [(number, image) for number, image in named if image in known]


def _day_beside(images: Sequence[str], lines: Sequence[str]) -> str:
    """The day that the text writes behind the image of a commit; "" where it writes none, or several."""
    if not any(_COMMIT.search(image[:_LONGEST]) for image in images):
        return ""
    noted = (match for line in lines if ":nightly-" in line for match in _DAY_BESIDE.finditer(line[:_LONGEST]))
    days = {match["day"] for match in noted if any(match["tag"] in image for image in images)}
    return days.pop() if len(days) == 1 else ""


_OF_TREE: Final = re.compile(
    r"(?<![\w.])0\.\d{1,3}(?:\.\d{1,3}){0,2}(?:rc\d+)?\.?dev\d{1,6}\+g[0-9a-f]{7,12}\.d"
    r"(?P<year>20\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>[0-2]\d|3[01])(?!\d)",
    re.ASCII,
)
"""What a build from a tree with changes calls itself (https://setuptools-scm.readthedocs.io): the day it was built."""


def _day_of_tree(lines: Sequence[str]) -> str:
    """`2026-07-27` of `0.1.dev19253+g5f76ae224.d20260727`; "" where the text names none, or several."""
    found = {
        f"{match['year']}-{match['month']}-{match['day']}"
        for line in lines
        if ".dev" in line
        for match in _OF_TREE.finditer(line[:_LONGEST])
    }
    return found.pop() if len(found) == 1 else ""


def is_of_changed_tree(lines: Sequence[str]) -> bool:
    """Whether the build that a text names calls itself so."""
    return bool(_day_of_tree(lines))


def day_of(image: str) -> str:
    """`2026-07-10`; "" where its tag has none."""
    tag = image[:_LONGEST].partition("@")[0].rpartition(":")[2]
    match = _DAY.search(tag) or _MONTH_FIRST.search(tag)
    return f"{match['year']}-{match['month']:0>2}-{match['day']:0>2}" if match else ""


def is_of_commit(engine: str, command: Command, script: Script) -> bool:
    """Whether the image is that of one commit of the main branch, `vllm-openai:nightly-<40 digits>`, whose release is
    not recorded. Without a container, all images of the engine in the text have to be such."""
    container = command.container.image if command.container is not None else None
    script.budget.once("images of commits", len(script.lines), "the text around its engine commands")
    images = [container.text] if container is not None else _of_engine(engine, script.lines, (_COMMIT,))
    return bool(images) and all(_COMMIT.search(image[:_LONGEST]) for image in images)


def _of_build_arguments(engine: str, lines: Sequence[str]) -> tuple[str, ...]:
    found = (match for line in lines if "IMAGE_TAG" in line for match in TAGS_OF_ARGUMENTS.finditer(line[:_LONGEST]))
    tags = [match["tag"] for match in found if match["engine"].casefold() == engine]
    return tuple(f"{engine}:{tag}" for tag in tags if day_of(f"{engine}:{tag}"))


@lru_cache(maxsize=4)  # each deployment of a text asks
def _images_of(engine: str, lines: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the text that are of the engine, where one of them has a day."""
    return _of_engine(engine, lines, (_DAY, _MONTH_FIRST)) or _of_build_arguments(engine, lines)


def _of_engine(engine: str, lines: Sequence[str], tags: Sequence[re.Pattern[str]]) -> tuple[str, ...]:
    """Those of the engine, where a line has one of these in it."""
    if not any(":" in line and any(tag.search(line[:_LONGEST]) for tag in tags) for line in lines):
        return ()
    images = (match[0] for line in lines if ":" in line for match in REFERENCE.finditer(_plain(line)))
    program = ENGINES[engine].program
    images = (image for image in images if not _LINE_OF_SOURCE.search(image))
    return tuple(image for image in images if (served_by_image(image) or named_by_image(image)) == program)


def _plain(line: str) -> str:
    """Without the `docker:` that some schedulers write in front of an image."""
    return line[:_LONGEST].replace("docker:", "")
