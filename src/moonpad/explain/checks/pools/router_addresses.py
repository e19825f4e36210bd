"""Addresses that a router's own program refuses or passes over, told with the router itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import disaggregated_names as names
from moonpad.explain.commands import Command
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_LISTS: Final = ("--worker-urls", "--prefill", "--decode")
_SCHEME: Final = re.compile(r"[a-z]+://", re.IGNORECASE)
_BARE: Final = re.compile(r"[A-Za-z0-9][\w.-]*:\d{2,5}/?", re.ASCII)
_JOINED: Final = re.compile(r"[a-z]+://[^,\s]+(?:,[a-z]+://[^,\s]+)+", re.ASCII)
_DISCOVERS: Final = ("--service-discovery", "--enable-igw")
_HELP: Final = ("--help", "-h", "--version")
_MOST: Final = 300


def router_addresses(command: Command) -> Iterator[Remark]:
    """One of each kind: without a scheme, several in one word, pools without the option that reads them, no server."""
    if command.program not in names.ROUTERS or len(command.argv) > _MOST:
        return
    flags = {word.text.partition("=")[0]: at for at, word in reversed(list(enumerate(command.argv)))}
    opened = any(word.unresolved for word in command.argv)
    flag, seen = "", set[str]()
    for at, word in enumerate(command.argv):
        if word.text.startswith("-"):
            flag, _, value = word.text.partition("=")
        else:
            value = word.text
        if flag not in _LISTS or not value or word.unresolved:
            continue
        if _JOINED.fullmatch(value) and "joined" not in seen:
            seen.add("joined")
            message = f"{shortened(value, 60)}: {flag} takes addresses apart by blanks, and this is one word"
            remedy = f"write {shortened(' '.join(value.split(',')), 100)}"
            if flag != _LISTS[0]:
                remedy = f"write {flag} before each of them"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, flag, message, remedy, at=at)
        elif _BARE.fullmatch(value) and not _SCHEME.match(value) and "bare" not in seen:
            seen.add("bare")
            message = (
                f"{shortened(value, 60)} has no scheme: the router ends at the start (URL must start with http://, "
            )
            message += "https://, or grpc://)"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, flag, message, f"write http://{value}", at=at)
    if names.SPLIT in flags and not opened and not any(flag in flags for flag in (*_LISTS, *_DISCOVERS, *_HELP)):
        message = "no server is named: before 0.2.3 of 2025-11-14 the router ends at the start (PD disaggregation mode "
        message += "requires --prefill), and later it serves nothing until servers are added by request"
        remedy = "add --prefill URL and --decode URL, or take 0.2.3 or later"
        yield make_remark(Severity.NOTE, Code.MISSING_FLAG, names.SPLIT, message, remedy, at=flags[names.SPLIT])
    pools = [flag for flag in _LISTS[1:] if flag in flags]
    if pools and names.SPLIT not in flags and not opened and not any(flag in flags for flag in _DISCOVERS):
        message = f"without {names.SPLIT} the router reads no {' and no '.join(pools)}: it has no server to send to"
        yield make_remark(
            Severity.WARNING, Code.MISSING_FLAG, pools[0], message, f"add {names.SPLIT}", at=flags[pools[0]]
        )
