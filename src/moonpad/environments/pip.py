"""pip's command lines, and the meaning of its output. Pure: nothing is run here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from moonpad.environments.paths import EnvironmentFolder

# These would send the packages somewhere else than into the environment. Everything else that the user set for pip
# (indexes, proxies, certificates, caches) goes through untouched.
ELSEWHERE: Final = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_DRY_RUN", "PIP_REPORT")
# These would mix modules of another environment into it.
MIXING: Final = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")

# --only-binary: nothing is built and no setup.py of others runs. -I: neither PYTHONPATH nor the user's own packages.
INSTALL: Final = ("-I", "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off")
AS_THEY_ARE: Final = ("--no-deps", "--only-binary", ":all:")


def make_environment(base_python: Path, folder: Path) -> tuple[str, ...]:
    return (str(base_python), "-I", "-m", "venv", "--clear", str(folder))


def install_locked(place: EnvironmentFolder, lock_file: Path) -> tuple[str, ...]:
    return (str(place.python), *INSTALL, *AS_THEY_ARE, "--require-hashes", "--requirement", str(lock_file))


def install_unlocked(place: EnvironmentFolder, packages: Sequence[str], index: str | None = None) -> tuple[str, ...]:
    """From the user's own pip configuration, or with `index` in place of the index in it."""
    return (str(place.python), *INSTALL, *AS_THEY_ARE, *(("--index-url", index) if index else ()), *packages)


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name not in (*ELSEWHERE, *MIXING)}


def package_begun(line: str) -> str | None:
    """The package that pip begins with at this line."""
    match = re.match(r"(?:Collecting|Requirement already satisfied:) (\S+)", line)
    return match[1] if match else None


def file_begun(line: str) -> str | None:
    """`torch-2.13.0….whl (191.8 MB)`: what is being downloaded."""
    match = re.match(r"\s+Downloading (\S+) (\([^)]*\))", line)
    return f"{match[1].rpartition('/')[2]} {match[2]}" if match else None


def installing(line: str) -> bool:
    return line.startswith("Installing collected packages:")


def lacks_package(lines: Sequence[str]) -> bool:
    """pip's sources do not have the package, or could not be reached."""
    return any("No matching distribution found for" in line for line in lines)


def first_error(lines: Sequence[str]) -> str:
    """What went wrong, in one sentence: pip's first error, not its last, and its cause where that stands before it."""
    text = "\n".join(lines)
    for pattern, sentence in ERRORS:
        if match := re.search(pattern, text, re.MULTILINE):
            return sentence.format(*match.groups())
    # Of a chain of tracebacks the first is the cause.
    errors = [line for line in lines if re.match(r"(?i)error\b|[\w.]*(Error|Exception)\b:", line.strip())]
    printed = [line for line in lines if line.strip()]
    return (errors[:1] or printed[-1:] or ["it printed nothing"])[0].strip()


ERRORS: Final = (
    (
        r"DO NOT MATCH THE HASHES[^\n]*\n\s+(\S+) [^\n]*\n\s+Expected (?:or )?sha256 (\w+)(?:\n.*?)*?\n\s+Got\s+(\w+)",
        "{0} is not the locked file: its sha256 is {2}",
    ),
    (
        r"Hashes are required in --require-hashes mode",
        "the user's pip configuration asks for hashes of packages that have none in the recipe (PIP_REQUIRE_HASHES)",
    ),
    (r"(\[Errno 28\][^\n]*)", "the disk is full: {0}"),
    (
        r"Retrying [^\n]*(Failed to establish a new connection[^\n'\")]*)[\s\S]*No matching distribution found for "
        r"(\S+)",
        "no package index could be reached for {1}: {0}",
    ),
    (r"No matching distribution found for (\S+)", "none of pip's sources has {0} for this Python and system"),
    (r"^ERROR: (?:Exception:\s*)?(Could not install packages due to[^\n]*)", "{0}"),
    (r"(No module named (?:pip|ensurepip|venv)|ensurepip is not\s+available)", "{0}"),
)
"""(pattern, sentence): the first match counts."""
