"""A value that is never printed."""

from __future__ import annotations

from moonpad.values.redaction import remember


class Secret:
    """Holds a key or a token. Every way to print it gives `***`; only `reveal()` gives the text.

    It travels by environment or by a 0600 file, never in argv. From its construction on, all that the program prints
    or writes is without it, whoever sends it back (values/redaction.py).
    """

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        self.__text = text
        remember(text)

    def reveal(self) -> str:
        """The text itself, for the edge that hands it to a process or puts it into a header."""
        return self.__text

    def __repr__(self) -> str:
        return "Secret(***)"

    def __str__(self) -> str:
        return "***"

    def __format__(self, spec: str) -> str:
        return format("***", spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.__text == self.__text

    def __hash__(self) -> int:
        return hash(("moonpad.Secret", self.__text))

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a Secret is not pickled: pass it by environment or by a 0600 file")
