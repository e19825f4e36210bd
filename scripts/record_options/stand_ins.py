"""Empty modules in place of the packages that an engine's source imports and this environment lacks.

Run inside an engine's environment only. To build its argument parser, an engine imports half of itself, and with that
packages which have no part in the parser (a grammar library, a GPU kernel). Those are replaced here; what the parser
is made of is the engine's own code. A stand-in answers only the source tree that is asked, never an installed package:
those look for optional packages and must go on not finding them.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any


class Nothing(type):
    """A class whose attributes, calls and items are such classes too; as a decorator it hands the function back."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return nothing(name)

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        return args[0] if len(args) == 1 and not keywords and callable(args[0]) else nothing("called")

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __getitem__(cls, key: Any) -> Any:
        return cls

    def __or__(cls, other: Any) -> Any:
        return cls

    __ror__ = __or__


def nothing(name: str) -> Nothing:
    return Nothing(name, (), {})


class StandIn(types.ModuleType):
    __path__: list[str] = []  # noqa: RUF012 - a module's attribute

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return nothing(name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """First in line, for imports that the source tree makes of the modules named (and of what is below them)."""

    def __init__(self, source: str, names: Sequence[str]) -> None:
        self.source, self.names = source, tuple(names)

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if not any(name == stood or name.startswith(stood + ".") for stood in self.names):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if self._source_imports() else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass

    def _source_imports(self) -> bool:
        """Whether the nearest frame outside the import system is of the source. Asking for a spec is no import."""
        frame: types.FrameType | None = sys._getframe(2)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            if frame.f_code.co_filename.endswith("util.py"):
                return False
            frame = frame.f_back
        return frame is not None and frame.f_code.co_filename.startswith(self.source)


def install(source: str, names: Sequence[str]) -> None:
    """Import the engine from `source` from now on, with stand-ins for the modules named."""
    sys.path.insert(0, source)
    sys.meta_path.insert(0, Finder(source, names))
