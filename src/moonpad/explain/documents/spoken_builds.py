"""Whether a text is about a build of an engine for devices of its own, where its command does not show it."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines import ENGINES
from moonpad.engines.text_signs import ALSO_OF_GAUDI, LOADED_ON_NPUS
from moonpad.explain.commands import Script
from moonpad.explain.documents.device_mentions import mentions, platform_of
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.spoken_capabilities import other_maker
from moonpad.values.platform import Platform
from moonpad.values.versions import release_of

_LONGEST: Final = 2000
"""A longer line is data, not prose."""
_OF_OTHERS: Final = re.compile(r"NVIDIA|CUDA_|nvidia\.com/gpu|\bCUDA[ ]?1[1-4]\b|-cu1[23][0-9]\b")


def is_spoken_of(name: str, script: Script) -> bool:
    """By its name, its variables or its devices, where none of others are named."""
    line = ENGINES[name].command_line
    if line.build is None or line.build.platform is not Platform.ASCEND:
        return False
    script.budget.once(f"words of {name}", len(script.lines) // 2, "the text around its engine commands")
    if is_in_lines(_OF_OTHERS, script.lines, _LONGEST):
        return False
    shared = ALSO_OF_GAUDI if other_maker(script) else ()
    marks = re.compile(
        "|".join(
            (
                *line.names,
                *(name.replace("-", "_") for name in line.names),
                LOADED_ON_NPUS,
                *(rf"\b{prefix}[A-Z_]+" for prefix in line.build.environment if prefix not in shared),
            )
        )
    )
    if is_in_lines(marks, script.lines, _LONGEST):
        return True
    spoken = re.compile(line.build.spoken) if line.build.spoken and not shared else None
    if spoken is None or not is_in_lines(spoken, script.lines, _LONGEST):
        return False
    kinds = [each.kind for each in mentions(script.lines, script.placed_hints)]
    return all(not _is_gpu(kind) for kind in kinds)


def is_logged(name: str, script: Script) -> bool:
    """Whether the build says in a log that it is the one that runs."""
    build = ENGINES[name].command_line.build
    return (
        build is not None
        and build.platform is Platform.ASCEND
        and is_in_lines(re.compile(LOADED_ON_NPUS), script.lines, _LONGEST)
    )


def is_paired(name: str, base: str, script: Script) -> bool:
    """Whether a text without devices of others names the release of the build and that of the engine beneath it, which
    is the same one: `vllm 0.18.0` in a list of packages beside `vllm_ascend 0.18.0rc1`, or `vllm 0.10.1.1` beside
    `vllm_ascend 0.10.1rc1`."""
    own, beneath = script.versions.get(name), script.versions.get(base)
    if not own or not beneath or _number(own) != _number(beneath) or not is_spoken_of(name, script):
        return False
    return not any(_is_gpu(each.kind) for each in mentions(script.lines, script.placed_hints))


def is_on_its_devices(name: str, script: Script) -> bool:
    """Whether a text without devices of others names its devices: the engine alone does not run there, whatever the
    text calls it."""
    if not is_spoken_of(name, script):
        return False
    kinds = [each.kind for each in mentions(script.lines, script.placed_hints)]
    return any(platform_of(kind) is Platform.ASCEND for kind in kinds) and not any(map(_is_gpu, kinds))


def _number(release: str) -> list[str]:
    """The three parts that a repaired release has in common with the one before it."""
    return release_of(release).split(".")[:3]


def _is_gpu(kind: str) -> bool:
    """Whether it is surely a device of another maker: of those that the catalogue does not have, by its name."""
    platform = platform_of(kind)
    return platform is not Platform.ASCEND if platform is not None else not re.match(r"910|310|950", kind)
