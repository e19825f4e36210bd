"""`moonpad plan` for a spec with a prefill and a decode pool."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from moonpad.catalog.clusters import parse_cluster
from moonpad.checkpoints.draft import draft_of
from moonpad.cli.named_inputs import Model
from moonpad.cli.output import emit_json, next_command, out
from moonpad.cli.plan import PlanOptions
from moonpad.cli.plan_from_spec import model_of_spec
from moonpad.cli.plan_inputs import find_answer, refuse_unless_it_fits
from moonpad.plan.from_spec import finished, request_of
from moonpad.plan.pools_from_spec import PoolPart, as_pool, pair_findings
from moonpad.plan.request import Request
from moonpad.report.plan_json import answer_json
from moonpad.report.plan_table import plan_table
from moonpad.report.pools_table import pools_json, pools_table
from moonpad.run.pool_planning import parts_of
from moonpad.spec.loader import LoadedSpec
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.finding import Finding, errors_of
from moonpad.values.plan_answer import Answer
from moonpad.values.records import replace
from moonpad.values.visible_text import shell_word


def run_plan_pools(
    path: Path, loaded: LoadedSpec, named: str | None, options: PlanOptions, *, every: bool, json: bool
) -> None:
    """
    Raises:
        PreflightRefused: one of the pools does not fit, or the two do not fit each other.
        UsageError: options that say of one deployment what there are two of.
    """
    if options != PlanOptions(on=options.on):
        raise UsageError("a spec with [prefill] and [decode] is planned as it stands, but for --on")
    spec = loaded.spec
    model = model_of_spec(loaded, named)
    parts = parts_of(spec, parse_cluster(options.on) if options.on else None)
    asked = {role: _request(loaded, part, every=every) for role, part in parts.items()}
    answers = {role: _answer(model, parts[role], request) for role, request in asked.items()}
    findings: tuple[Finding, ...] = ()
    if all(answer.fits for answer in answers.values()):
        plans = {role: answer.choices[0].plan for role, answer in answers.items()}
        findings = pair_findings(spec, plans, parts, model.checkpoint)
    if json:
        pools = {role: answer_json(answer, {}) for role, answer in answers.items()}
        emit_json({"pools": pools, **pools_json(answers, parts, findings)})
    else:
        width = min(out().width, 120) if out().is_terminal else 120
        ascii_only = not (out().encoding or "").lower().startswith("utf")
        for role, answer in answers.items():
            out().print(Text(f"{role}\n", style="bold"))
            out().print(plan_table(answer, (), width, every=every, ascii_only=ascii_only))
            out().print()
        out().print(pools_table(answers, parts, findings, width))
    for role, answer in answers.items():
        refuse_unless_it_fits(answer, asked[role])
    if errors_of(findings):
        raise PreflightRefused("the two pools do not fit each other")
    next_command(f"moonpad render {shell_word(path)} --to shell --out DIR")


def _request(loaded: LoadedSpec, part: PoolPart, *, every: bool) -> Request:
    alone = replace(loaded, spec=part.spec)
    return replace(request_of(part.spec), draft=draft_of(alone), every_layout=every)


def _answer(model: Model, part: PoolPart, request: Request) -> Answer:
    return find_answer(model, part.cluster, request, lambda plan: as_pool(finished(part.spec, plan), part))
