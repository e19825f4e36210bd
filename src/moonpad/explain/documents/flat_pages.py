"""Pages whose blocks of code were copied as one line each: `# Install it: pip install vllm # Start the server: vllm …`.

They are broken where they were, in a text of the same length, so that places hold.
"""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.text_signs import SERVER_STARTS

_LONGEST: Final = 4000
_COMMAND: Final = rf"(?:pip install|python3? -m|docker run|curl|{'|'.join(SERVER_STARTS)}) "
_TITLED: Final = re.compile(rf"(#[ ][A-Z][^:#\n]{{0,100}}:)[ ](?={_COMMAND})")
"""A comment with the command behind its colon."""
_FLAT: Final = re.compile(rf"# [A-Z][^:#\n]{{0,100}}: {_COMMAND}.* # [A-Z][^:#\n]{{0,100}}: {_COMMAND}")
_COMMENT: Final = re.compile(rf"[ ](?=#[ ][A-Z][^:#\n]{{0,100}}:[ \n]{_COMMAND})")
_CONTINUED: Final = re.compile(r"(?<= )\\[ ](?=\S)")


def with_breaks(text: str) -> str:
    """The text as it is where no line has two commands behind their comments."""
    if not any(_FLAT.match(line[:_LONGEST]) for line in text.split("\n") if line.startswith("# ")):
        return text
    return "\n".join(map(_broken, text.split("\n")))


def _broken(line: str) -> str:
    if len(line) > _LONGEST or not re.search(_COMMAND, line):
        return line
    line = _COMMENT.sub("\n", line)
    return _CONTINUED.sub("\\\\\n", _TITLED.sub(r"\1\n", line))
