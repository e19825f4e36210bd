"""What an environment holds, by the metadata of its packages; no package is imported."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package. `record` lists its files; pip writes it last."""

    name: str
    version: str
    folder: Path

    @property
    def record(self) -> Path:
        return self.folder / "RECORD"


def normal_name(name: str) -> str:
    """https://packaging.python.org/en/latest/specifications/name-normalization/"""
    return re.sub(r"[-_.]+", "-", name).lower()


def packages(site_packages: Path) -> Iterator[Package]:
    for folder in sorted(site_packages.glob("*.dist-info")):
        name, _, version = folder.name.removesuffix(".dist-info").partition("-")
        yield Package(normal_name(name), version, folder)


def drop_damaged(site_packages: Path) -> tuple[str, ...]:
    """Forgets every package whose files are not all there, so that pip installs it again; their names.

    pip takes a package for installed when its metadata is there. One that was killed halfway through (SIGKILL, power,
    disk full) leaves that without all of the files.
    """
    damaged = [package for package in packages(site_packages) if not _whole(package, site_packages)]
    for package in damaged:
        shutil.rmtree(package.folder)
    for leftover in site_packages.glob("~*"):  # what pip renames while it replaces a package
        if leftover.is_dir() and not leftover.is_symlink():
            shutil.rmtree(leftover)
        else:
            leftover.unlink()
    return tuple(package.name for package in damaged)


def _whole(package: Package, site_packages: Path) -> bool:
    """Every file of RECORD has the size that stands there. Rows without a hash (byte code) may come and go."""
    try:
        with package.record.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.reader(file) if len(row) == 3 and row[1]]
        return bool(rows) and all((site_packages / path).stat().st_size == int(size) for path, _, size in rows if size)
    except (OSError, ValueError, csv.Error):
        return False


def write_alias(site_packages: Path, name: str, version: str) -> None:
    """Metadata that answers for `name`, because the engine asks for itself under another name than its package's."""
    folder = site_packages / f"{name}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    digest = base64.urlsafe_b64encode(hashlib.sha256(metadata).digest()).rstrip(b"=").decode()
    (folder / "METADATA").write_bytes(metadata)
    (folder / "INSTALLER").write_text("moonpad\n", encoding="utf-8")
    rows = (f"METADATA,sha256={digest},{len(metadata)}", "INSTALLER,,", "RECORD,,")
    (folder / "RECORD").write_text("".join(f"{folder.name}/{row}\n" for row in rows), encoding="utf-8")


def folder_bytes(folder: Path) -> int:
    """The sizes of all files below, links not followed; 0 where there is nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            total += (Path(parent) / name).lstat().st_size
    return total
