"""The protocol of one evaluation, with what the user changed of it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from moonpad.catalog.evaluations import Protocol, Task, protocols
from moonpad.values.errors import UsageError
from moonpad.values.records import as_dict, replace

DEFAULTS: Final[Mapping[Task, str]] = {"gsm8k": "chat", "questions": "questions", "tools": "tools"}
MOST_AT_ONCE: Final = 1024
MOST_TOKENS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Setup:
    """`changed` names what differs from the catalogue's protocol: with anything in it, no reference is of the same."""

    protocol: Protocol
    changed: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"protocol": as_dict(self.protocol), "changed": list(self.changed)}


def setup_of(task: Task, name: str | None, concurrency: int | None = None, max_tokens: int | None = None) -> Setup:
    """
    Raises:
        UsageError: the protocol does not exist or is not for that task, or a number is out of range.
    """
    chosen = DEFAULTS[task] if name is None else name
    mine = [key for key, protocol in protocols().items() if protocol.task == task]
    if chosen not in mine:
        near = difflib.get_close_matches(chosen[:80], mine, n=1)
        remedy = f"did you mean {near[0]}?" if near else f"for {task} there are: {', '.join(mine)}"
        raise UsageError(f"there is no protocol {chosen[:80]!r} for {task}", remedy=remedy)
    protocol = protocols()[chosen]
    changed: list[str] = []
    if concurrency is not None and concurrency != protocol.concurrency:
        if not 1 <= concurrency <= MOST_AT_ONCE:
            raise UsageError(f"--concurrency {concurrency}: must be from 1 to {MOST_AT_ONCE}", remedy="--concurrency 8")
        changed.append(f"concurrency {concurrency} instead of {protocol.concurrency}")
        protocol = replace(protocol, concurrency=concurrency)
    if max_tokens is not None and max_tokens != protocol.max_tokens:
        if not 1 <= max_tokens <= MOST_TOKENS:
            raise UsageError(f"--max-tokens {max_tokens}: must be from 1 to {MOST_TOKENS}", remedy="--max-tokens 8192")
        changed.append(f"max_tokens {max_tokens} instead of {protocol.max_tokens}")
        gen_kwargs = {**protocol.gen_kwargs, "max_gen_toks": max_tokens}
        protocol = replace(protocol, max_tokens=max_tokens, gen_kwargs=gen_kwargs)
    return Setup(protocol, tuple(changed))


def setup_from(document: Mapping[str, Any]) -> Setup:
    """The inverse of `as_json`. Raises ValueError: it is not one."""
    return msgspec.convert({"protocol": document.get("protocol"), "changed": document.get("changed")}, Setup)
