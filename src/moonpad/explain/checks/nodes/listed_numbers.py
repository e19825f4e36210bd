"""How many devices a variable names at the most, `0,1,2,3`, whichever of its lists a condition takes."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.commands import Word

CUDA: Final = "CUDA_VISIBLE_DEVICES"
_LIST: Final = re.compile(r"(?<![\w.,:-])\d{1,2}(?:,[ ]?\d{1,2}){1,63}(?![\w.,:-])")
_LONGEST: Final = 400


def most_listed(word: Word | None) -> int:
    """Of `0,1,2,3`, or of `$([[ $SIZE == big ]] && echo 0,1,2,3,4,5 || echo 0,1,2,3)`; 0 where nothing is listed, or
    one device alone."""
    if word is None:
        return 0
    lists = _LIST.findall(word.text.partition("=")[2][:_LONGEST] or word.text[:_LONGEST])
    return max((len(set(each.replace(" ", "").split(","))) for each in lists), default=0)
