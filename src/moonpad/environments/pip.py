"""pip's command lines, and the meaning of its output. Pure: nothing is run here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from moonpad.environments.paths import EnvironmentFolder

# These would send the packages somewhere else than into the environment. Everything else that the user set for pip
# (indexes, proxies, certificates, caches) goes through untouched.
ELSEWHERE: Final = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_DRY_RUN", "PIP_REPORT")
# These would mix modules of another environment into it.
MIXING: Final = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")

# Of a user's configuration, what says how an index is reached and not which one.
REACH: Final = ("cert", "client-cert", "proxy", "trusted-host", "timeout", "default-timeout", "retries", "cache-dir")

# --only-binary: nothing is built and no setup.py of others runs. -I: neither PYTHONPATH nor the user's own packages.
INSTALL: Final = ("-I", "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off")
# --require-virtualenv: an environment that lost its pyvenv.cfg runs as the Python that it was made from, whose packages
# are not ours to change.
INTO_THE_ENVIRONMENT: Final = (*INSTALL, "--require-virtualenv", "--no-deps", "--only-binary", ":all:")


def make_environment(base_python: Path, folder: Path) -> tuple[str, ...]:
    return (str(base_python), "-I", "-m", "venv", "--clear", str(folder))


def install_locked(place: EnvironmentFolder, lock_file: Path) -> tuple[str, ...]:
    return (str(place.python), *INTO_THE_ENVIRONMENT, "--require-hashes", "--requirement", str(lock_file))


def install_unlocked(place: EnvironmentFolder, packages: Sequence[str], index: str | None = None) -> tuple[str, ...]:
    """From the user's own pip configuration, or with `index` in place of the index in it."""
    return (str(place.python), *INTO_THE_ENVIRONMENT, *(("--index-url", index) if index else ()), *packages)


def report(
    python: Path, file: Path, requirements: Sequence[str], options: Sequence[str], other_python: Sequence[str]
) -> tuple[str, ...]:
    """What would be installed, as pip's report in `file`; nothing is installed. `other_python`: see there."""
    dry_run = ("--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report", str(file))
    return (str(python), *INSTALL, *dry_run, *other_python, *options, *requirements)


def for_other_python(python: tuple[int, int], glibc: tuple[int, int], target: Path) -> tuple[str, ...]:
    """Wheels for that version of Python on x86-64 Linux, whatever runs pip. Without `--target` pip refuses."""
    tags = [f"manylinux_{glibc[0]}_{minor}_x86_64" for minor in range(glibc[1], 4, -1)]
    platforms = (*tags, "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64")
    version = ("--python-version", f"{python[0]}.{python[1]}", "--implementation", "cp")
    return (*version, *(word for tag in platforms for word in ("--platform", tag)), "--target", str(target))


def one_index_environment(environ: Mapping[str, str], configuration: str) -> dict[str, str]:
    """The variables with which pip asks the one index that its command names: of the user's variables and files
    (`configuration`, as `pip config list` prints them) what says how to reach an index holds, and nothing else."""
    kept = {f"PIP_{name.upper().replace('-', '_')}": value for name, value in _settings(configuration) if name in REACH}
    others = {name: value for name, value in clean_environment(environ).items() if not name.startswith("PIP_")}
    # With pip's five retries it takes a minute to find that an index is out of reach.
    return {**others, "PIP_RETRIES": "2", **kept, "PIP_CONFIG_FILE": os.devnull}


def _settings(configuration: str) -> Iterator[tuple[str, str]]:
    for line in configuration.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            yield key.rpartition(".")[2], value.strip("'\"").replace("\\n", " ").strip()


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
