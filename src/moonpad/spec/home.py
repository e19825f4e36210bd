"""The user's home folder, and those that programs keep their files in.

Standard library only: the keeper takes this file to other hosts.
"""

from __future__ import annotations

import errno
import os
import pwd
from pathlib import Path
from typing import Final

LONGEST: Final = 3800
"""Bytes of a path that leave room for the names below it, of the 4096 that Linux takes."""


def home_folder() -> Path:
    """$HOME where it is a whole path, else that of the user database. Raises OSError where neither has one."""
    named = os.environ.get("HOME", "")
    if named.startswith("/"):
        return Path(named)
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a container that runs under a number
        raise FileNotFoundError(errno.ENOENT, "there is no home folder; set HOME", "~") from None


def base_folder(variable: str, below_home: str) -> Path:
    """The folder of an XDG variable; the specification says that a relative one is to be ignored. Raises OSError."""
    named = os.environ.get(variable, "")
    folder = Path(named) if named.startswith("/") else home_folder() / below_home
    if len(os.fsencode(folder)) > LONGEST:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), f"{variable} or HOME")
    return folder
