"""Patterns of tensors in an order in which a later one is never asked: the first that matches decides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_PUT: Final = "--override-tensor"
_EXPERTS: Final = tuple(
    f"blk.{layer}.ffn_{matrix}_exps.weight" for layer in range(61) for matrix in ("gate", "up", "down")
)
"""Of a model with as many layers as Kimi K2 has."""
_MOST: Final = 16
"""Patterns of one command."""
_PLAIN: Final = re.compile(r"[\w.\\\[\]()|^$?*-]{1,120}")
"""Without what could take long, `(a*)*`."""
_REPEATED: Final = 2


def pattern_never_asked(case: Case) -> Iterator[Remark]:
    """`exps=CPU,blk.3.ffn_.*_exps=CUDA0`: the experts of layer 3 are on the host already."""
    places = [place for place in case.first.parsed.occurrences if place.flag == _PUT and isinstance(place.value, str)]
    if not case.engine.facts.gguf_only or not places:
        return
    placed = [
        (*part.rpartition("=")[::2], place)
        for place in places
        for part in str(place.value).strip("'\"").split(",")
        if part
    ]
    if not 1 < len(placed) <= _MOST or any(
        unresolved(f"{pattern}={buffer}") or not is_plain(pattern) for pattern, buffer, _ in placed
    ):
        return
    case.script.budget.work(20 * len(placed), "its patterns of tensors")
    taken: dict[str, tuple[str, str]] = {}
    for pattern, buffer, place in placed:
        matched = tensors_of(pattern)
        before = {taken[name] for name in matched if name in taken}
        if matched and len(before) == 1 and all(name in taken for name in matched):
            ((earlier, its_buffer),) = before
            if its_buffer != buffer:
                message = f"{shortened(pattern, 60)}={shortened(buffer, 20)} is never asked: {shortened(earlier, 60)}="
                message += (
                    f"{shortened(its_buffer, 20)} stands before it and matches the same tensors, and the first that"
                )
                message += " matches decides"
                remedy = "write the special patterns first, and the general one behind them"
                yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)
                return
        for name in matched:
            taken.setdefault(name, (pattern, buffer))


def is_plain(pattern: str) -> bool:
    plain = _PLAIN.fullmatch(pattern) is not None and sum(map(pattern.count, "*?")) <= _REPEATED
    return plain and not re.search(r"\)[*?]", pattern)


@lru_cache(maxsize=64)
def tensors_of(pattern: str) -> frozenset[str]:
    try:
        compiled = re.compile(pattern)
    except re.error:
        return frozenset()
    return frozenset(name for name in _EXPERTS if compiled.search(name))
