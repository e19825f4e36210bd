"""Keeps what `re.compile` made of the patterns in moonpad's modules: `$XDG_CACHE_HOME/moonpad/patterns-….msgpack`.

`explain` looks for some 3,000 patterns, and to compile them once more takes longer than to judge a short command. The
interpreter's release alone decides what a pattern is compiled to, so the file is named by it; one that is missing, torn
or not ours is as good as none. Patterns of modules and of the catalogue's names are kept, never one that was made of
what a user passed.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

import msgspec

from moonpad.store.atomic_files import replace_as_is
from moonpad.store.own_files import cache_folder, read_own

_MOST_BYTES: Final = 24 << 20
_MOST_PATTERNS: Final = 20_000
"""All texts together need some 6,000. Those of former versions stay in the file until there are so many; then it is
emptied, so there has to be room: with less than the texts need, each run compiles hundreds of them."""
_WORD: Final = "I"
"""Of `array`: as large as a word of such a code, four bytes (CPython, Modules/_sre/sre.h)."""
_OPTIMIZED: Final = 1
"""`inspect.CO_OPTIMIZED`: functions have it, the bodies of modules and classes have not."""

_CALLED: Final = 2
"""Functions between the body of a module and the pattern: one that it calls, and a comprehension in that."""
_OF_CATALOGUE: Final = frozenset({
    *("moonpad.catalog.cloud_machines", "moonpad.catalog.former_options", "moonpad.catalog.model_features"),
    *("moonpad.catalog.other_models", "moonpad.catalog.publishers", "moonpad.catalog.reasoning_parsers"),
    *("moonpad.catalog.toml_rows", "moonpad.engines.log_grammar", "moonpad.explain.checks.command_checks"),
    *("moonpad.explain.checks.containers.container_slips", "moonpad.explain.checks.releases.known_reports"),
    *("moonpad.explain.checks.memory.devices_of_makers", "moonpad.explain.checks.options.slow_settings"),
    *("moonpad.explain.checks.releases.run_images", "moonpad.explain.checks.releases.start_refusals"),
    *("moonpad.explain.checks.shell.file_slips", "moonpad.explain.checks.shell.variable_values"),
    *("moonpad.explain.documents.tags_of_products", "moonpad.explain.programs"),
    *("moonpad.explain.documents.device_patterns", "moonpad.explain.documents.spoken_bounds"),
    *("moonpad.explain.documents.spoken_days", "moonpad.explain.documents.text_hints"),
    *("moonpad.explain.shell.command_slips", "moonpad.explain.shell.forks"),
})  # fmt: skip
"""Modules whose functions make patterns of the catalogue's names alone."""


class Arguments(NamedTuple):
    """What `_sre.compile` makes a pattern of (CPython, Lib/re/_compiler.py: compile)."""

    pattern: str
    flags: int
    code: bytes
    """Words of the machine's own order and size, which takes a tenth of the time that numbers take to read."""
    groups: int
    group_index: dict[str, int]
    index_group: tuple[str | None, ...]


class Kept(msgspec.Struct, array_like=True):
    """A pattern with the flags that it was asked for, and what it was compiled to."""

    asked: int
    arguments: Arguments


class Compiler:
    """Takes the place of the interpreter's compiler of patterns: what is known need not be compiled.

    Raises ImportError and AttributeError where this interpreter has another one.
    """

    def __init__(self, kept: list[Kept]) -> None:
        self._module: Any = import_module("re._compiler")
        self._engine: Any = import_module("_sre")
        self._own: Any = self._module.compile
        self._parse: Any = self._module._parser.parse
        self._code: Any = self._module._code
        self._kept = {(each.arguments.pattern, each.asked): each for each in kept}
        self.has_more = False

    @property
    def kept(self) -> list[Kept]:
        return list(self._kept.values())

    def at_once(self, compile_: Callable[..., Any]) -> Callable[..., Any]:
        """`re.compile` that makes what is known without asking the module's own cache, whose flags are an enum."""
        made: dict[tuple[str, int], Any] = {}

        def compile_known(pattern: Any, flags: int = 0) -> Any:
            if not isinstance(pattern, str):
                return compile_(pattern, flags)
            asked = (pattern, int(flags))
            if asked not in made and asked in self._kept:
                with suppress(RuntimeError, ValueError):
                    made[asked] = self._made(self._kept[asked].arguments)
            return made[asked] if asked in made else compile_(pattern, flags)

        return compile_known

    def compile(self, pattern: Any, flags: int = 0) -> Any:
        """As the interpreter's own."""
        if not isinstance(pattern, str) or flags & re.DEBUG:
            return self._own(pattern, flags)
        known = self._kept.get((pattern, int(flags)))
        if known is not None:
            with suppress(RuntimeError, ValueError):  # the engine checks the code that it is given
                return self._made(known.arguments)
        if known is not None or not _is_ours(sys._getframe(1), pattern):
            return self._own(pattern, flags)
        arguments = self._compiled(pattern, flags)
        if pattern.isascii() or _can_be_written(pattern):
            self._kept[pattern, int(flags)] = Kept(int(flags), arguments)
            self.has_more = True
        return self._made(arguments)

    def _made(self, known: Arguments) -> Any:
        code = array(_WORD, known.code).tolist()
        return self._engine.compile(known.pattern, known.flags, code, *known[3:])

    def _compiled(self, pattern: str, flags: int) -> Arguments:
        parsed = self._parse(pattern, flags)
        code = self._code(parsed, flags)
        state = parsed.state
        names: list[str | None] = [None] * state.groups
        for name, number in state.groupdict.items():
            names[number] = name
        words = array(_WORD, map(int, code)).tobytes()
        return Arguments(pattern, int(flags | state.flags), words, state.groups - 1, state.groupdict, tuple(names))


def patterns_file() -> Path:
    """Raises OSError where there is no home folder."""
    name = f"patterns-{sys.implementation.cache_tag}-{sys.hexversion:x}.msgpack"
    return cache_folder() / name


@contextmanager
def patterns_kept() -> Iterator[None]:
    """Within, patterns are taken from the file; those that it lacks are in it afterwards, where it can be written."""
    module: Any = re
    try:
        path = patterns_file()
        compiler = Compiler(_read(path))
        own, module._compiler.compile = module._compiler.compile, compiler.compile
        first, module.compile = module.compile, compiler.at_once(module.compile)
    except (OSError, ImportError, AttributeError):
        yield
        return
    try:
        yield
    finally:
        module._compiler.compile, module.compile = own, first
        if compiler.has_more:
            with suppress(OSError):
                replace_as_is(path, msgspec.msgpack.encode(compiler.kept))


def _read(path: Path) -> list[Kept]:
    """The patterns in the file; none where another user may have written it."""
    try:
        kept = msgspec.msgpack.decode(read_own(path, _MOST_BYTES), type=list[Kept])
        return kept if len(kept) <= _MOST_PATTERNS else []
    except (OSError, msgspec.MsgspecError):
        return []


def _is_ours(frame: FrameType | None, pattern: str) -> bool:
    """Whether a pattern is made by the body of a module or a class, or of what the catalogue holds, or is written in a
    function as it is."""
    while frame is not None and frame.f_globals.get("__name__") in ("re", __name__):
        frame = frame.f_back
    if frame is not None and frame.f_globals.get("__name__") in _OF_CATALOGUE:
        return True
    if frame is not None and pattern in frame.f_code.co_consts and _is_imported(frame):
        return True
    for _ in range(_CALLED):
        if frame is None or not frame.f_code.co_flags & _OPTIMIZED:
            break
        frame = frame.f_back
    return frame is not None and not frame.f_code.co_flags & _OPTIMIZED and _is_imported(frame)


def _is_imported(frame: FrameType) -> bool:
    """Not the program that runs, below whose body everything is called."""
    return frame.f_globals.get("__name__") != "__main__"


def _can_be_written(text: str) -> bool:
    """UTF-8 has no halves of a pair of surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
