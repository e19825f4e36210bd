"""Layouts that a model cannot have, whatever the devices are: where those are known, the rules of plan/rules judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from moonpad.catalog.other_models import other_model
from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.other_families import as_published
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.stand_in import stand_in
from moonpad.plan.rules import blocks, layout
from moonpad.values.finding import Code, Severity

_OF_MODEL_ALONE: Final = (
    layout.heads_divide_tp,
    layout.expert_slices,
    layout.mlp_slices,
    blocks.fp8_blocks,
    blocks.quant_groups,
)
"""Rules that look at the model and the layout alone."""


def model_slices(case: Case) -> Iterator[Remark]:
    """What tensor parallelism would cut that cannot be cut so."""
    if not case.laid_out or case.engine.name not in names.CHECKED or case.first.left_to_engine:
        return
    configuration = stand_in(case)
    if configuration is None:
        return
    flag = case.engine.command_line.options.get("tp")
    place = case.option(flag) if flag else None
    for rule in _OF_MODEL_ALONE:
        for finding in rule(configuration):
            severity = Severity.WARNING if is_fragment(case.commands[0]) else finding.severity
            where = flag if flag and finding.where == "tp" else finding.where
            weaker = as_published(replace(finding, severity=severity, where=where), configuration, case.first.model)
            yield Remark(weaker, at=place.index if place else None)
            return


def heads_of_others(case: Case) -> Iterator[Remark]:
    """The same of the attention heads of models that are not planned."""
    known = other_model(case.first.model) if case.checkpoint is None else None
    flag = case.engine.command_line.options.get("tp")
    if known is None or not known.heads or flag is None or not case.laid_out or case.engine.name not in names.CHECKED:
        return
    tp, place = case.first.layout.tp, case.option(flag)
    if tp > 1 and known.heads % tp and place is not None:
        most = layout.largest_divisor(known.heads, tp)
        message = f"{tp}: the {known.heads} attention heads of {known.title} cannot be shared out evenly"
        yield make_remark(Severity.ERROR, Code.ILLEGAL_LAYOUT, flag, message, f"write {flag} {most}", at=place.index)
