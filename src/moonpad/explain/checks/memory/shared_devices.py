"""Two servers on the same devices: what they take of the memory together."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shares_beside import SHARES, share_of, shares_beside
from moonpad.values.finding import Code, Severity


def shares_of_devices(case: Case) -> Iterator[Remark]:
    """The sum, so that none of them is raised above what the others leave."""
    mine = share_of(case.commands[0])
    beside = shares_beside(case.commands, case.script)
    place = case.option(*SHARES)
    if mine is None or place is None or not beside:
        return
    whole = mine + sum(other.share for other in beside)
    if whole > 1 and not all(other.sure for other in beside):
        return
    others = " and ".join(f"the one of {case.script.where(other.line)} takes {other.share:g}" for other in beside[:3])
    sure = all(other.sure for other in beside)
    message = f"this server takes {mine:g} of the memory, and {others}: together {whole:.4g}"
    message += f"{' of the same devices' if sure else ' where both are on the same devices'}"
    remedy = f"give this one {max(0.0, 1 - (whole - mine)):.2g} at the most, or each its own devices"
    yield make_remark(Severity.NOTE, Code.CONFLICT, place.written, message, remedy, at=place.index)
