"""The user's home folder. Standard library only: the keeper takes this file to other hosts."""

from __future__ import annotations

import errno
import os
import pwd
from pathlib import Path


def home_folder() -> Path:
    """$HOME where it is a whole path, else that of the user database. Raises OSError where neither has one."""
    named = os.environ.get("HOME", "")
    if named.startswith("/"):
        return Path(named)
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a container that runs under a number
        raise FileNotFoundError(errno.ENOENT, "there is no home folder; set HOME", "~") from None
