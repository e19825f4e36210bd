"""What is wrong with the words of a command line, in our words: cyclopts' errors as one `UsageError`."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import chain
from typing import Any, Literal, get_args, get_origin

from cyclopts.exceptions import (
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from moonpad.spec.safe_text import shorten
from moonpad.values.errors import MoonpadError, UsageError

TRACEBACK = "MOONPAD_TRACEBACK"
"""The variable that shows the traceback of an error that was not foreseen."""
PLACES = "HOME, XDG_STATE_HOME and XDG_CACHE_HOME"
PATHS = (
    *("--out", "-o", "--junit", "--record", "--against", "--reference", "--file", "--spec", "--folder", "--resume"),
    "--from-log",
)
LOGS = ("--from-log", "--log")
"""Options whose value may be `-`, the standard input."""
KINDS = {int: "a whole number", float: "a number", bool: "true or false"}


def refuse_empty_paths(argv: Iterable[str]) -> None:
    """`--out "$UNSET"` would mean the present folder. Raises UsageError."""
    before = ""
    for word in argv:
        if word == "--":
            return
        flag, equals, value = (before, "=", word) if before in PATHS else word.partition("=")
        if equals and not value and flag in PATHS:
            raise UsageError(f"{flag} needs a value, and it is empty", remedy="is a variable of the shell not set?")
        before = word


def with_standard_input(argv: Iterable[str]) -> list[str]:
    """`--log -` as `--log=-`: cyclopts takes a lone `-` for an option, and says that the value is missing."""
    words: list[str] = []
    for word in argv:
        if word == "-" and words and words[-1] in LOGS and "--" not in words:
            words[-1] += "=-"
        else:
            words.append(word)
    return words


def last_resort(error: Exception) -> MoonpadError:
    """What no verb has caught, as a sentence; a traceback is for us, and for those who ask for it."""
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    match error:
        case OSError() if error.filename is not None:
            name = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else str(error.filename)
            return UsageError(f"{name}: {error.strerror}", remedy=f"name another path, or look at {PLACES}")
        case OSError():
            return UsageError(f"the system refused it: {error.strerror or error}", remedy="free what it lacks")
        case MemoryError():
            return UsageError("this takes more memory than there is", remedy="is it the right file?")
        case RecursionError():
            return UsageError("what was given is nested too deeply", remedy="is it the right file?")
    message = f"an error in moonpad itself: {type(error).__name__}: {shorten(str(error))}"
    return MoonpadError(message, remedy=f"please report it; {TRACEBACK}=1 shows where it happened")


def usage_error(error: CycloptsError) -> UsageError:
    command = " ".join(error.command_chain or ()) or "moonpad"
    remedy = " ".join(("moonpad", *(error.command_chain or ()), "--help"))
    match error:
        case UnknownCommandError() | UnusedCliTokensError():
            return _unknown_word(error, command, remedy)
        case UnknownOptionError():
            options = chain.from_iterable(argument.names for argument in error.argument_collection if argument.parse)
            message = _no_option(command, error.token.keyword or error.token.value, options)
        case CoercionError() if error.token is not None and (wanted := _wanted(error.target_type)):
            message = f'{_name(error, error.token.keyword)} must be {wanted}, found "{shorten(error.token.value)}"'
        case MissingArgumentError():
            left = next(iter(error.unused_tokens or ()), "")
            name = _name(error, error.keyword or left)
            needed = error.argument.names if error.argument else ()
            if error.keyword is None and left.startswith("--") and name not in needed:
                message = _no_option(command, left, needed)
            else:
                message = f"{name} needs a value" if name.startswith("-") else f"{command} needs {name}"
        case RepeatArgumentError():
            message = f"{error.token.keyword} is given twice"
        case _:
            message = str(error).strip()
    return UsageError(message, remedy=remedy)


def _unknown_word(error: CycloptsError, command: str, remedy: str) -> UsageError:
    word = (error.unused_tokens or [""])[0]
    names = [name for name in error.app or () if not name.startswith("-")]
    if not names:
        return UsageError(f'{command} takes no further argument, found "{shorten(word)}"', remedy=remedy)
    if word.startswith("-"):
        return UsageError(f"{command} has no option {shorten(word)}", remedy=remedy)
    message = f'{command} has no command "{shorten(word)}"{_meant(word, names)}'
    return UsageError(message, remedy=f"one of {', '.join(names)}")


def _meant(word: str, names: Iterable[str]) -> str:
    near = get_close_matches(word[:80], list(names), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _wanted(kind: Any) -> str:
    if get_origin(kind) is Literal:
        *names, last = map(str, get_args(kind))
        return f"{', '.join(names)} or {last}" if names else last
    return KINDS.get(kind, "")


def _no_option(command: str, written: str, options: Iterable[str]) -> str:
    option = written.partition("=")[0]
    return f"{command} has no option {shorten(option)}{_meant(option, options)}"


def _name(error: CycloptsError, keyword: str | None) -> str:
    """The option as it was typed; an argument by its place as `--help` writes it."""
    if keyword and keyword.startswith("-"):
        return keyword.partition("=")[0]
    return error.argument.name.lstrip("-").upper() if error.argument else "a value"
