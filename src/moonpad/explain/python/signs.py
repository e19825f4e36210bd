"""Whether a text looks like a program in Python, before anything is read of it."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.foreign_names import PYTHON_CLASSES

_PYTHON: Final = re.compile(
    r"^(?:import \w|from [\w.]+ import |def \w+\(|class \w+|if __name__ ==|subprocess\."
    rf"|(?:\w+ = )?(?:\w+\.)*(?:{'|'.join(PYTHON_CLASSES)})\()",
    re.MULTILINE,
)


def is_python(text: str) -> bool:
    first = text.lstrip("\0\n\t ").partition("\n")[0]
    shell = first.startswith("#!") and "python" not in first
    return not shell and bool(_PYTHON.search(text))
