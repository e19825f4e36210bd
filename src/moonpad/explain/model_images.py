"""Images of an engine's makers whose tag names a model in the place of a release, `vllm/vllm-openai:kimi-k3`: they were
built before the first release that has it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.catalog.options import versions
from moonpad.catalog.other_models import other_model
from moonpad.engines import ENGINES
from moonpad.engines.image_names import MAKERS_IN_TEXT, OF_MAKERS
from moonpad.explain.commands import Command
from moonpad.explain.folder_names import usual_name
from moonpad.values.versions import since

_PLATFORM: Final = re.compile(
    r"[-_.](?:cu\d+|cuda[\d.]*|rocm[\w.]*|x86_64|amd64|arm64|aarch64|blackwell|hopper|grace|[bh]\d00|gb\d00|mi\d+x?"
    r"|ubuntu[\d.]*|dev|preview|runtime)(?=[-_.]|$)"
)
_RELEASE: Final = re.compile(r"\d+\.\d+\.\d+|nightly|latest|main|20\d{6}")
_LONGEST_LINE: Final = 2000
_SHORTEST: Final = 5
_LONGEST: Final = 200


def release_before_its_model(
    engine: str, command: Command, written: str, lines: Sequence[str] = ()
) -> tuple[str, str, str] | None:
    """The release before the first one that has the model of the image's tag, that one, and a sentence about it. Of a
    command without an image the only one that the lines name counts."""
    image = command.container.image.text if command.container and command.container.image else ""
    match = OF_MAKERS.search(image or (_named_alone(lines) if command.container is None else ""))
    if match is None or _RELEASE.search(match["tag"]):
        return None
    title, first = first_with(engine, written[:_LONGEST])
    tag, plain = _plain(_PLATFORM.sub("", match["tag"])), _plain(title)
    if not first or len(tag) < _SHORTEST or not plain.startswith(tag):
        return None
    earlier = [release for release in versions(ENGINES[engine].program) if not since(release, first)]
    if not earlier or first not in versions(ENGINES[engine].program):
        return None
    return earlier[-1], first, f"its image is a build for {title}, from before {first}, the first release that has it"


def _named_alone(lines: Sequence[str]) -> str:
    named = {match.group() for line in lines for match in MAKERS_IN_TEXT.finditer(line[:_LONGEST_LINE])}
    return named.pop() if len(named) == 1 else ""


def first_with(engine: str, written: str) -> tuple[str, str]:
    """The model's name, and the first release of the engine that has it; "" where that is not known."""
    if (model := find_model(written) or find_model(usual_name(written))) is not None:
        kind = model.architecture.model_type if model.architecture is not None else ""
        return model.id.rpartition("/")[2], ENGINES[engine].facts.first_versions.get(kind, "")
    other = other_model(written)
    return (other.title, other.first.get(engine, "")) if other is not None else ("", "")


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.casefold())
