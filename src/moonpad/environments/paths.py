"""Where engines are installed: `$XDG_CACHE_HOME/moonpad/engines`, by default `~/.cache/moonpad/engines`.

NAME-VERSION-py3.11/                  the environment; scripts name it by its path, so it is made where it stays
NAME-VERSION-py3.11/moonpad-env.json  its receipt, written last: without it the environment is unfinished
NAME-VERSION-py3.11.log               what pip said in full
.NAME-VERSION-py3.11.lock             held while a process works on the environment
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from moonpad.engines.install_recipe import Recipe
from moonpad.spec.home import base_folder


@dataclass(frozen=True, slots=True)
class EnvironmentFolder:
    """Everything that belongs to one environment."""

    folder: Path

    @property
    def receipt(self) -> Path:
        return self.folder / "moonpad-env.json"

    @property
    def log(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.log")

    @property
    def lock(self) -> Path:
        return self.folder.with_name(f".{self.folder.name}.lock")

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """`lib/python3.11/site-packages`, by the version that stands in the folder's name."""
        return self.folder / "lib" / f"python{self.folder.name.rpartition('-py')[2]}" / "site-packages"

    def program(self, command: str) -> Path:
        return self.folder / "bin" / command


def cache_home() -> Path:
    return base_folder("XDG_CACHE_HOME", ".cache")


def engines_home() -> Path:
    return cache_home() / "moonpad" / "engines"


def folder_of(recipe: Recipe, python: tuple[int, int], home: Path) -> EnvironmentFolder:
    return EnvironmentFolder(home / f"{recipe.name}-{recipe.version}-py{python[0]}.{python[1]}")


def places(home: Path, name: str = r".+") -> Iterator[EnvironmentFolder]:
    """Every environment, finished or not, in the order of their names; only of the engine `name` where it is given."""
    pattern = re.compile(rf"(?:{name})-\d[^-]*-py\d+\.\d+")
    if home.is_dir():
        yield from (
            EnvironmentFolder(entry)
            for entry in sorted(home.iterdir())
            if pattern.fullmatch(entry.name) and entry.is_dir()
        )
