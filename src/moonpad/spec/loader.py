"""Reads `moonpad.toml`. Whatever the file holds, the only exception is SpecError."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from moonpad.spec.input_file import read_regular
from moonpad.spec.key_lines import key_lines, line_of, statements
from moonpad.spec.messages import problem
from moonpad.spec.schema import Spec
from moonpad.values.errors import SpecError
from moonpad.values.redaction import TooManyKeys, remember_labelled

MAX_SPEC_BYTES: Final = 100_000
MAX_PROBLEMS: Final = 20

# tomllib takes time and memory that grow with the square of a dotted key's parts: 8000 parts take over a second.
# Searched from the beginnings of words only: from each letter of a long word it would take the square of its length.
_LONG_KEY: Final = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""")
_AT: Final = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, slots=True)
class LoadedSpec:
    """A spec, the text that it was read from, and where."""

    spec: Spec
    text: str
    path: Path

    def resolve(self, written: str) -> Path:
        """A path of the spec: relative to the spec's own folder, with `~`. Raises SpecError for an unknown `~user`."""
        try:
            # `./~x` is a folder of that name, and Path forgets the `./`.
            path = Path(written).expanduser() if written.startswith("~") else Path(written)
            return self.path.absolute().parent / path
        except RuntimeError:
            raise SpecError(
                f'{self.path}: there is no home folder for "{written}"', remedy="write the whole path"
            ) from None


def load_spec(path: Path) -> LoadedSpec:
    """The spec in the file.

    Raises:
        SpecError: there is none, or it is wrong; the message lists every problem with its line.
    """
    text = _read(path)
    return LoadedSpec(parse_spec(text, name=_name_for(path), where=str(path)), text, path)


def parse_spec(text: str, *, name: str, where: str = "moonpad.toml") -> Spec:
    """The spec in the text; `name` is the default name, `where` precedes each line number."""
    document = _parse(text, where)
    try:
        return Spec.model_validate({"name": name, **document})
    except ValidationError as error:
        raise _refusal(error, text, where) from None


def _read(path: Path) -> str:
    try:
        raw = read_regular(path, MAX_SPEC_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        raise SpecError(
            f"there is no {path}", remedy="write one (examples/tiny.toml is the smallest), or name another file"
        ) from None
    except OSError as error:
        remedy = "a spec is a file of a few lines: is it the right one?"
        raise SpecError(f"cannot read {path}: {error.strerror}", remedy=remedy) from None
    try:
        text = raw.decode("utf-8")
        remember_labelled(text)
        return text
    except TooManyKeys as error:
        raise SpecError(f"{path}: {error}", remedy="is it the right file?") from None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SpecError(f"{path}:{line}: not UTF-8: byte 0x{raw[error.start]:02x}", line=line) from None


def _parse(text: str, where: str) -> dict[str, Any]:
    if match := _LONG_KEY.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise SpecError(f"{where}:{line}: a key of more than 16 parts", line=line)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise SpecError(f"{where}: nested too deeply") from None
    except ValueError as error:
        # Not a TOMLDecodeError: Python refuses to read a number of more than 4300 digits.
        message = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "a number of thousands of digits"
        at = _AT.search(message)
        line = int(at["line"]) if at and at["line"] else _last_statement(text)
        message = _AT.sub("", message)
        raise SpecError(f"{where}:{line}: this is not TOML: {message}", line=line) from None


def _last_statement(text: str) -> int:
    """Where "the end of the document" went wrong: the first line of the statement that never ends."""
    return next((line for line, definitions in statements(text) if definitions is None), text.rstrip().count("\n") + 1)


def _refusal(error: ValidationError, text: str, where: str) -> SpecError:
    """All problems of the file in one error, by line."""
    lines = key_lines(text)
    problems = [(line_of(detail["loc"], lines), detail) for detail in error.errors(include_url=False)]
    problems.sort(key=lambda each: each[0] or 0)
    shown = [
        f"{where}:{line}: {problem(detail)}" if line else f"{where}: {problem(detail)}"
        for line, detail in problems[:MAX_PROBLEMS]
    ]
    if len(problems) > MAX_PROBLEMS:
        shown.append(f"and {len(problems) - MAX_PROBLEMS} more")
    return SpecError("\n".join(shown), line=next((line for line, _ in problems if line), None))


def _name_for(path: Path) -> str:
    """The default name: the file's stem as a DNS label, `my-run` of `My_run.toml`."""
    return re.sub(r"[^a-z0-9]+", "-", path.stem.lower())[:63].strip("-") or "moonpad"
