"""What a `moonpad.toml` fixes for the planner, so that `plan` judges what `up` would start."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from moonpad.cli.output import note
from moonpad.cli.plan_inputs import Model, find_model, typed_path
from moonpad.plan.from_spec import make_plan
from moonpad.spec.load import load_spec
from moonpad.spec.schema import Spec
from moonpad.values.plan import Plan, Platform, Settings


@dataclass(frozen=True, slots=True)
class Said:
    """`plan` is what `up` would start, `fixed` are the arguments of `make_request` that the spec gives."""

    model: Model
    plan: Plan
    cluster: str | None
    fixed: dict[str, Any]


def read_spec(path: Path, model: str | None) -> Said:
    """`model` overrides that of the spec.

    Raises:
        SpecError: the spec is wrong.
        UsageError: its model is neither a folder nor known.
        PreflightRefused: the layout cannot run, or the checkpoint is not whole.
    """
    loaded = load_spec(path)
    spec = loaded.spec
    found = find_model(model, typed_path(model)) if model else find_model(spec.model, loaded.resolve(spec.model))
    plan = make_plan(spec, found.checkpoint.total_bytes, found.checkpoint.quantization.scheme)
    if not spec.layout.model_fields_set and plan.platform is not Platform.CPU:
        note("The spec says nothing of the layout: `up` would start one rank. What follows is the planner's choice.")
    fixed: dict[str, Any] = {
        "engine": spec.engine.name,
        "layout": _layout(spec, plan),
        "settings": _settings(spec, plan),
    }
    if spec.engine.version:
        fixed["engine_version"] = spec.engine.version
    if spec.goal:
        fixed["goal"] = spec.goal
    return Said(found, plan, spec.hardware.cluster, fixed)


def _layout(spec: Spec, plan: Plan) -> dict[str, int]:
    """All of it once the spec says any of it: what it leaves out is 1 then."""
    return asdict(plan.layout) if spec.layout.model_fields_set else {}


def _settings(spec: Spec, plan: Plan) -> dict[str, Any]:
    defaults = asdict(Settings())
    said = spec.settings.model_fields_set
    return {
        name: value
        for name, value in asdict(plan.settings).items()
        if value is not None and (name in said or value != defaults[name])
    }
