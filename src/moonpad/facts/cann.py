"""Huawei's CANN on this machine, by the files that it installs.

`ASCEND_HOME_PATH`, which its own set_env.sh sets, names the toolkit; without it the usual place is looked at. The file
with its version is the one that vLLM-Ascend's collect_env.py prints (0.23.0).
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moonpad.facts.probe import Unknown

ROOT: Final = Path("/usr/local/Ascend")


@dataclass(frozen=True, slots=True)
class Cann:
    """`scripts` set the variables that building and running need, in this order."""

    version: str
    scripts: tuple[Path, ...]


def environment_scripts(root: Path = ROOT) -> tuple[Path, Path]:
    """Where CANN and NNAL have them."""
    return root / "ascend-toolkit" / "set_env.sh", root / "nnal" / "atb" / "set_env.sh"


def cann(root: Path = ROOT, environ: Mapping[str, str] = os.environ) -> Cann | Unknown:
    """Unknown, with the file that is missing, where it is not complete."""
    toolkit = Path(environ.get("ASCEND_HOME_PATH") or root / "ascend-toolkit" / "latest")
    info = toolkit / f"{platform.machine()}-linux" / "ascend_toolkit_install.info"
    scripts = environment_scripts(root)
    try:
        version = parse_install_info(info.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        return Unknown(f"{info}: {error.strerror or error}")
    except ValueError as error:
        return Unknown(f"{info}: {error}")
    for script in scripts:
        if not script.is_file():
            return Unknown(f"{script} does not exist")
    return Cann(version, scripts)


def parse_install_info(text: str) -> str:
    """`9.1.0` of a line `version=9.1.0`. Raises ValueError where there is none."""
    match = re.search(r"^version=(\S+)", text, re.MULTILINE)
    if match is None:
        raise ValueError("no line begins with version=")
    return match[1]
