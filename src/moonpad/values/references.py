"""References: what an argument holds while hosts, ports, ranks, paths and secrets are not known yet.

`bind()` (binding.py) resolves them for a real run; each renderer spells them in its own dialect.
The set is closed: a new kind must be handled by every user, and mypy names those that do not.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class HostRef(Struct, frozen=True):
    """The address of a logical node, as the other nodes reach it."""

    node: str


class PortRef(Struct, frozen=True):
    """The port `name` of the process `process`."""

    process: str
    name: str


class RankRef(Struct, frozen=True):
    """The rank of a node, times a factor: `times=8` gives the first rank of eight on that node."""

    node: str
    times: int = 1


class PathRef(Struct, frozen=True):
    """A place that the machine decides: `checkpoint`, `draft`, `engine` (its executables), `cache`, `run`."""

    name: str


class SecretRef(Struct, frozen=True):
    """A secret by name: `api_key`. Allowed in `env` and in files of mode 0600, never in argv."""

    name: str


Ref = HostRef | PortRef | RankRef | PathRef | SecretRef
Arg = str | Ref | tuple[str | Ref, ...]
"""One argument. A tuple is a concatenation: `("http://", HostRef("node-0"), ":8000")`."""


def parts(arg: Arg) -> tuple[str | Ref, ...]:
    """An argument as the parts of its concatenation."""
    return arg if isinstance(arg, tuple) else (arg,)


def holds_secret(arg: Arg) -> bool:
    if isinstance(arg, str):
        return False
    return any(isinstance(part, SecretRef) for part in parts(arg))


def joined(pieces: Iterable[str | Ref]) -> Arg:
    """One argument of pieces beside one another: plain text where no reference is among them."""
    joined_pieces: list[str | Ref] = []
    for piece in pieces:
        last = joined_pieces[-1] if joined_pieces else None
        if isinstance(piece, str) and isinstance(last, str):
            joined_pieces[-1] = last + piece
        else:
            joined_pieces.append(piece)
    return tuple(joined_pieces) if len(joined_pieces) > 1 else joined_pieces[0] if joined_pieces else ""
