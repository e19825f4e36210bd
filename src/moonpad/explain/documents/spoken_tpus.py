"""Whether a text, or one of its commands, is for TPUs, of which the catalogue has none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from moonpad.engines.text_signs import GPUS_USED, USED_ON_TPUS
from moonpad.explain.commands import Command, Script

_LONGEST: Final = 2000
_MOST_WORDS: Final = 400
_LONGEST_COMMAND: Final = 20_000
TPUS: Final = "Google TPUs"
_SEVERAL: Final = 3
_NAMED: Final = re.compile(r"\bTPUs?(?: ?v[4-7][ep]?\b|\b)|\btpu ?(?:v[4-7][ex]?|7x)(?:-\d+)?\b")


def is_for_tpus(script: Script, commands: Sequence[Command]) -> bool:
    """By the commands' own image, variables and words, or what stands around them alone: a GPU that the same text
    names beside them is another's (the publisher's own machines, a comparison)."""
    script.budget.once("tpus", len(script.lines), "the text around its engine commands")
    if any(map(_is_for_them, commands)) or uses_tpus_alone(tuple(script.lines)):
        return True
    about = tuple(script.lines_about(commands[0].line)) if len(script.objects) > 1 else ()
    return bool(about) and uses_tpus_alone(about)


@lru_cache(maxsize=4)
def uses_tpus_alone(lines: tuple[str, ...]) -> bool:
    """Whether nothing there starts on GPUs, and its title is about TPUs, or several lines start on them: one line may
    be said in passing."""
    texts = [line[:_LONGEST] for line in lines]
    if any(map(GPUS_USED.search, texts)):
        return False
    title = next((text for text in texts if text.strip()), "")
    titled = title.startswith("#") and _NAMED.search(title) is not None
    return titled or sum(USED_ON_TPUS.search(text) is not None for text in texts) >= _SEVERAL


def _is_for_them(command: Command) -> bool:
    image = command.container.image if command.container is not None else None
    variables = (f"{name}={word.text.rpartition('=')[2]}" for name, word in command.env.items())
    words = " ".join(word.text[:_LONGEST] for word in command.argv[:_MOST_WORDS])
    texts = (image.text if image is not None else "", *variables, words)
    return any(USED_ON_TPUS.search(text, 0, _LONGEST_COMMAND) for text in texts)
