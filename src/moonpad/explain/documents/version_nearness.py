"""Which of the versions that a document names is that of one command: the one of its own part."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines import ENGINES
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.device_nearness import sections
from moonpad.explain.documents.text_hints import VersionMention, version_mentions

_ROCM: Final = re.compile(r"\b(?:rocm|amd|mi3[0-9]{2}x?)\b|[_-]rocm", re.IGNORECASE)
_MEASURED: Final = re.compile(
    r"benchmark|accuracy|evaluation|performance|\bresults?\b|性能|精度|评测|测试", re.IGNORECASE
)
"""Headings of what was measured, perhaps with another release than the guide is for."""
_OF_ROCM: Final = re.compile(r"rocm|mi3[0-9]", re.IGNORECASE)
_OF_ROCM_ENV: Final = ("HIP_", "HSA_", "ROCR_", "AITER_")


def nearest_version(engine: str, script: Script, command: Command) -> str | None:
    """The version that stands under the innermost heading above the command which has any; images for other devices,
    and those beside the command's own, which names no release, are none of it. None where the text has no headings."""
    if not script.markdown:
        return None
    script.budget.work(script.steps_to_scan // 4, "the text around its engine commands")
    chains = sections(script.lines)
    own = chains[min(command.line, len(chains)) - 1] if chains else ()
    if not own:
        return None
    titles = [script.lines[line - 1] for line in own]
    rocm = _speaks_of_rocm(command, titles, (*_OF_ROCM_ENV, *ENGINES[engine].command_line.rocm_env))
    has_image = command.container is not None and command.container.image is not None
    fitting = [
        each
        for each in version_mentions(script.lines)
        if each.engine == engine
        and not each.least
        and not _is_of_others(each, script, rocm=rocm, has_image=has_image)
        and (
            each.exact
            or not any(_MEASURED.search(script.lines[at - 1]) for at in chains[each.line - 1] if at not in own)
        )
    ]
    for depth in range(len(own), -1, -1):
        for each in fitting:
            if chains[each.line - 1][:depth] == own[:depth]:
                return each.version
    return ""


def _speaks_of_rocm(command: Command, titles: list[str], variables: tuple[str, ...]) -> bool:
    image = command.container.image if command.container is not None else None
    texts = [*titles, *command.comments, image.text if image is not None else ""]
    return any(name.startswith(variables) for name in command.env) or any(_ROCM.search(text) for text in texts)


def _is_of_others(each: VersionMention, script: Script, *, rocm: bool, has_image: bool) -> bool:
    if not each.image:
        return False
    return has_image or (rocm and not _OF_ROCM.search(script.lines[each.line - 1]))
