"""Decode context parallelism: it deals the KV cache out over the tensor-parallel ranks."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.engines.attention_backends import chosen, find, has_dcp, possible
from moonpad.plan.rules.divisors import largest_divisor
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Finding, illegal


def dcp_divides_tp(case: Configuration) -> Iterator[Finding]:
    dcp, tp = case.layout.dcp, case.layout.tp
    if tp % dcp:
        yield illegal(
            "dcp",
            f"decode context parallel {dcp} does not divide tensor parallel {tp}, whose ranks it uses",
            f"set dcp = {largest_divisor(tp, dcp)}",
        )


def dcp_engine(case: Configuration) -> Iterator[Finding]:
    dcp, first = case.layout.dcp, case.engine.dcp_since
    if dcp == 1:
        return
    if first is None:
        why = case.engine.no_dcp_because or f"{case.engine.name} has none"
        yield illegal("dcp", f"decode context parallel {dcp}: {why}", "set dcp = 1")
    elif not case.since(first):
        yield illegal(
            "dcp",
            f"decode context parallel {dcp}: {case.program} has none, it came with {first}",
            f"take {case.engine.name} {first} or newer, or set dcp = 1",
        )


def dcp_backend(case: Configuration) -> Iterator[Finding]:
    """The backend that decodes must return the log-sum-exp by which the ranks' parts are merged."""
    if case.layout.dcp == 1 or case.engine.dcp_since is None or not case.since(case.engine.dcp_since):
        return
    backend = chosen(case)
    if backend is None or has_dcp(backend, case.version):
        return
    others = [name for name in possible(case) if has_dcp(find(name), case.version)]
    since = f"; it came with {case.engine.name} {backend.dcp_since}" if backend.dcp_since else ""
    yield illegal(
        "attention_backend" if case.settings.attention_backend else "dcp",
        f"decode context parallel {case.layout.dcp}: {backend.name}, which decodes here, has none{since}",
        f'set attention_backend = "{others[0]}"' if others else "set dcp = 1",
    )
