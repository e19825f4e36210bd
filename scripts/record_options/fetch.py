"""Fetches one release of a package from PyPI and keeps its Python files. Nothing of it is installed or run.

python fetch.py PACKAGE VERSION DIRECTORY
"""

from __future__ import annotations

import html
import io
import re
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

INDEX = "https://pypi.org/simple"


def read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=600) as answer:  # noqa: S310 - both URLs are https
        return bytes(answer.read())


def release_url(package: str, version: str) -> tuple[str, str]:
    """File name and URL of the release: the source distribution if there is one, else any wheel of it."""
    page = read(f"{INDEX}/{package}/").decode()
    files = [(html.unescape(name).strip(), url) for url, name in re.findall(r'href="([^"]+)"[^>]*>([^<]+)<', page)]
    name = re.sub(r"[-_.]+", "[-_.]", re.escape(package).replace(r"\-", "-"))
    sources = [file for file in files if re.fullmatch(rf"{name}-{re.escape(version)}\.tar\.gz", file[0])]
    wheels = [file for file in files if re.fullmatch(rf"{name}-{re.escape(version)}-.+\.whl", file[0])]
    if not sources + wheels:
        raise SystemExit(f"{package} {version} is not on {INDEX}")
    return (sources + sorted(wheels))[0]


def python_files(name: str, packed: bytes) -> Iterator[tuple[PurePosixPath, bytes]]:
    if name.endswith(".whl"):
        with zipfile.ZipFile(io.BytesIO(packed)) as wheel:
            for entry in wheel.namelist():
                if entry.endswith(".py"):
                    yield PurePosixPath(entry), wheel.read(entry)
        return
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() and member.name.endswith(".py") else None
            if content is not None:
                yield PurePosixPath(member.name).relative_to(PurePosixPath(member.name).parts[0]), content.read()


def main() -> None:
    package, version, directory = sys.argv[1:]
    name, url = release_url(package, version)
    for path, content in python_files(name, read(url.partition("#")[0])):
        if path.is_absolute() or ".." in path.parts:
            raise SystemExit(f"{name} holds the path {path}")
        target = Path(directory) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    print(name)


if __name__ == "__main__":
    main()
