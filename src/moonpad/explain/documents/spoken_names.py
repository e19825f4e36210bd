"""Names of models in prose, with the owner of a repository or without."""

from __future__ import annotations

import re
from typing import Final

NAME: Final = re.compile(
    r"(?<![\w./-])(?![\w./-]{1,140}\.(?:md|log|txt|ya?ml|json|toml|sh|py)(?![\w-]))"
    r"(?:[a-z0-9][\w.-]{1,40}/)?[a-z][\w.-]{3,80}[a-z0-9]",
    re.IGNORECASE | re.ASCII,
)
"""Not that of a file which is called after one."""
