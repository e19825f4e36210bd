"""Images of an engine's makers whose tag names a model in the place of a release, `vllm/vllm-openai:kimi-k3`, and
branches of its source that are called so: they were built before the first release that has it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.catalog.options import versions
from moonpad.catalog.other_models import other_model
from moonpad.engines import ENGINES
from moonpad.engines.base import Engine
from moonpad.engines.image_names import MAKERS_IN_TEXT, OF_MAKERS
from moonpad.explain.commands import Command
from moonpad.explain.folder_names import usual_name
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.versions import release_of, since

_PLATFORM: Final = re.compile(
    r"[-_.](?:cu\d+|cuda[\d.]*|rocm[\w.]*|x86_64|amd64|arm64|aarch64|blackwell|hopper|grace|[bh]\d00|gb\d00|mi\d+x?"
    r"|ubuntu[\d.]*|dev|preview|runtime)(?=[-_.]|$)"
)
_RELEASE: Final = re.compile(r"\d+\.\d+\.\d+|nightly|latest|main|20\d{6}")
_BRANCH: Final = re.compile(
    r"[`'\"](?P<quoted>[A-Za-z][\w.-]{4,60})[`'\"][ ]branch\b|(?<![\w/.-])(?P<bare>[A-Za-z]+-[\w.-]{1,60})[ ]branch\b"
    r"|\bbranch[ ](?:of[ ])?[`'\"]?(?P<behind>[A-Za-z][\w.-]{4,60})"
    r"|[ ](?:-b|--branch)[ =](?P<cloned>[A-Za-z][\w.-]{4,60})"
)
"""``the `kimi-k3` branch``, `branch kimi-k3`, `git clone -b kimi-k3`."""
OF_MODEL: Final = ", from before "
"""What is said of such a build, before the first release that has the model."""
_OF_COMMIT: Final = re.compile(r"-(?=[a-f]*\d)[0-9a-f]{7,40}$")
"""Behind the name of a folder, the revision that it holds."""
_LONGEST_LINE: Final = 2000
_SHORTEST: Final = 5
_SHORTEST_NUMBERED: Final = 4
"""`glm5`: with a number a name says more."""
_LONGEST: Final = 200


def release_before_its_model(
    engine: str, command: Command, written: str, lines: Sequence[str] = ()
) -> tuple[str, str, str] | None:
    """The release before the first one that has the model of the image's tag, that one, and a sentence about it. Of a
    command without an image the only one that the lines name counts."""
    image = command.container.image.text if command.container and command.container.image else ""
    match = OF_MAKERS.search(image or (_named_alone(lines) if command.container is None else ""))
    tags = {"its image is a build": match["tag"]} if match is not None else {}
    if command.container is None and match is None:
        tags = {f"the text runs the branch {branch}": branch for branch in _branches(lines)}
    title, has_it = first_with(engine, written[:_LONGEST])
    has_it = has_it or _first_of_plugin(engine, written[:_LONGEST])
    first = _asked(engine, written[:_LONGEST]) or has_it
    plain = _plain(title)
    for named, tag in tags.items():
        short = _plain(_PLATFORM.sub("", tag))
        if _RELEASE.search(tag) or not first or not _is_name(short) or not plain.startswith(short):
            continue
        earlier = [release for release in versions(ENGINES[engine].program) if not since(release, first)]
        if earlier and first in versions(ENGINES[engine].program):
            why = "the first release that has it" if first == has_it else "which its guide asks for"
            return earlier[-1], first, f"{named} for {title}{OF_MODEL}{first}, {why}"
    return None


def _asked(engine: str, written: str) -> str:
    """The release that a guide to the model asks for: an image named after the model has it or a newer one."""
    other = other_model(written) if find_model(written) is None else None
    return other.asked.get(engine, "") if other is not None else ""


def _is_name(short: str) -> bool:
    return len(short) >= (_SHORTEST_NUMBERED if any(map(str.isdigit, short)) else _SHORTEST)


def _first_of_plugin(engine: str, written: str) -> str:
    """The plugin's first recorded release for the release of its base that first has the model; "" for no plugin."""
    build = ENGINES[engine].command_line.build
    first = first_with(build.of, written)[1] if build is not None and not build.own_releases else ""
    recorded = versions(ENGINES[engine].program) if first else ()
    return next((release for release in recorded if since(release_of(release), first)), "")


def _named_alone(lines: Sequence[str]) -> str:
    named = {match.group() for line in lines for match in MAKERS_IN_TEXT.finditer(line[:_LONGEST_LINE])}
    return named.pop() if len(named) == 1 else ""


def _branches(lines: Sequence[str]) -> list[str]:
    """The names of branches, each once."""
    near = (line[:_LONGEST_LINE] for line in lines if "branch" in line or " -b " in line)
    matches = (match for line in near for match in _BRANCH.finditer(line))
    return list(dict.fromkeys(next(name for name in match.groups() if name) for match in matches))


def first_with(engine: str, written: str) -> tuple[str, str]:
    """The model's name, and the first release of the engine that has it; "" where that is not known."""
    whole = _OF_COMMIT.sub("", written.rstrip("/"))
    if (model := find_model(written) or find_model(usual_name(whole))) is not None:
        kind = model.architecture.model_type if model.architecture is not None else ""
        return model.id.rpartition("/")[2], ENGINES[engine].facts.first_versions.get(kind, "")
    other = other_model(written)
    return (other.title, other.first.get(engine, "")) if other is not None else ("", "")


def first_to_serve(engine: Engine, checkpoint: Checkpoint | None, named: str) -> str:
    """The first release of the engine that has the model, of the catalogue or as it is named; "" where that is not
    known."""
    if checkpoint is not None:
        return engine.facts.first_versions.get(checkpoint.architecture.model_type, "")
    return first_with(engine.name, named)[1] if named else ""


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.casefold())
