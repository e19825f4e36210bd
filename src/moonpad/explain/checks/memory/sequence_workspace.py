"""The workspace that older releases set aside for each sequence, where none is named and the newest is judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import versions
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.plan.activations import activations_of
from moonpad.plan.effective_settings import limits_of
from moonpad.values.finding import Code, Severity
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.units import GIB
from moonpad.values.versions import since

_LEAST_GIB: Final = 4
_FLAG: Final = "--max-num-seqs"


def sequence_workspace(case: Case) -> Iterator[Remark]:
    """What the figures of the newest release leave out, of models whose linear layers lengthen the blocks."""
    if case.version or case.again or case.subject is None or case.first.settings.max_num_seqs is not None:
        return
    if case.platform == Platform.CPU:  # no workspace of its was measured
        return
    now = case.subject.configuration
    until, kind = now.engine.workspace_of_sequences_until, now.architecture.model_type
    if until is None or now.architecture.linear is None or since(now.engine.first_versions.get(kind, "0"), until):
        return
    before = [each for each in versions(case.engine.program) if not since(each, until)]
    if not before:
        return
    then = replace(now, version=before[-1])
    of_then, of_now = limits_of(then), limits_of(now)
    more = (activations_of(then, of_then).attention - activations_of(now, of_now).attention) / GIB
    if more < _LEAST_GIB or not of_then.max_num_seqs:
        return
    message = (
        f"releases before {until} set {more:.0f} GiB more of each device aside, for {of_then.max_num_seqs} sequences"
    )
    remedy = f"with such a release add {_FLAG} with as many as are served at once"
    yield make_remark(Severity.NOTE, Code.MISSING_FLAG, _FLAG, message, remedy)
