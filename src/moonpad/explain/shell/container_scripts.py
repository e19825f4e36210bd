"""Scripts that are named behind an image: `docker run IMAGE /app/start.sh`, `CMD ["/app/start.sh"]`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Word, Wrapper, WrapperOption

SCRIPT: Final = "container script"
"""The wrapper of what such a script starts; its one option has the first word behind the image."""
_FILE: Final = re.compile(r"[\w./${}-]*[\w}]\.(?:sh|bash|py)", re.ASCII)

_MODEL: Final = re.compile(r"(?:/[\w.-]{1,60}){1,6}|[A-Za-z][\w.-]{1,60}/[\w.-]{1,90}", re.ASCII)
_OF_A_PROGRAM: Final = re.compile(r"/s?bin/|(?:run|start|serve|server|launch|entry|entrypoint|main)\Z", re.IGNORECASE)
_FEWEST: Final = 3
"""Options behind what may be a model, or a program that this table does not know."""


def has_only_options(behind: Sequence[Word]) -> bool:
    """Whether the words behind an image are options, or a model with several, `/data/GLM-5 --tensor-parallel-size 8`:
    then the image's entrypoint is the server that its name tells."""
    first = behind[0].text
    if first.startswith("-"):
        return len(behind) > 1
    options = sum(word.text.startswith("--") for word in behind)
    return options >= _FEWEST and _MODEL.fullmatch(first) is not None and _OF_A_PROGRAM.search(first) is None


def is_script(word: Word) -> bool:
    """Whether it is the path of a script, which is not a model."""
    return _FILE.fullmatch(word.text) is not None


def script_wrapper(wrappers: Sequence[Wrapper], rest: Sequence[Word]) -> tuple[Wrapper, ...]:
    """Around the commands of a script that a container without an entrypoint of its own is given."""
    outer = wrappers[-1] if wrappers else None
    if outer is None or outer.kind != "docker run" or outer.has("--entrypoint"):
        return ()
    return (Wrapper(SCRIPT, (), (WrapperOption("script", rest[0].text, (rest[0],)),)),)


def script_behind(wrapper: Wrapper) -> Word | None:
    """The first word behind the image, where a script stands there."""
    return wrapper.options[0].words[0] if wrapper.kind == SCRIPT else None
