"""Scripts that are named behind an image: `docker run IMAGE /app/start.sh`, `CMD ["/app/start.sh"]`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Word, Wrapper, WrapperOption

SCRIPT: Final = "container script"
"""The wrapper of what such a script starts; its one option has the first word behind the image."""
_FILE: Final = re.compile(r"[\w./${}-]*[\w}]\.(?:sh|bash|py)", re.ASCII)


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
