"""The same model in a format that the device computes in itself, beside a plan."""

from __future__ import annotations

from moonpad.catalog.hardware import hardware
from moonpad.catalog.models import Model
from moonpad.plan.memory import memory_of
from moonpad.plan.rules import check
from moonpad.values.configuration import Configuration
from moonpad.values.finding import errors_of
from moonpad.values.plan_answer import Choice, Sibling
from moonpad.values.platform import Platform
from moonpad.values.records import replace


def sibling_of(model: Model, base: Configuration, choice: Choice) -> Sibling:
    """`base`: of the plan, with the sibling's checkpoint. The memory is that of the plan's layout and settings."""
    layout = choice.plan.layout
    configuration = replace(base, layout=layout, settings=choice.plan.settings)
    errors = errors_of(check(configuration))
    context = choice.memory.context
    row = hardware().get(base.device.id)
    return Sibling(
        model.id,
        base.scheme,
        choice.plan.engine,
        layout,
        None if errors else memory_of(configuration, context=context),
        errors,
        model.source,
        model.standing,
        model.hub,
        row.int4_path if row and choice.plan.scheme == "int4" and base.platform is Platform.CUDA else "",
    )
