"""A shell that something unknown runs, and that reads a heredoc: `on_node "$host" bash -s <<'EOF'`."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.programs import base_name
from moonpad.explain.shell.wrappers import SPEAKS_OF, Peeled

_SHELL: Final = re.compile(r"(?:sudo[ ])?(?:\S*/)?(?:ba|z|da|k)?sh((?:[ ]-[a-z]+|[ ]--)*)")
_FARTHEST: Final = 60


def reads_heredoc(peeled: Peeled) -> bool:
    """Whether a shell without a script is the last of the words, behind a program that is not known."""
    rest = peeled.rest
    if peeled.program != "other" or peeled.nested is not None or not 1 < len(rest) <= _FARTHEST:
        return False
    if base_name(rest[0]) in SPEAKS_OF:
        return False
    for at in range(1, len(rest)):
        shell = _SHELL.fullmatch(" ".join(word.text for word in rest[at:]))
        if shell is not None and "c" not in shell[1]:
            return peeled.wrap(base_name(rest[0]), peeled.position + at)
    return False
