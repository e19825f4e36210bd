"""`moonpad plan --prefill … --decode …`: how fast servers for prompts and servers for answers are together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from moonpad.cli.asked_load import LoadOptions
from moonpad.cli.load_options import read_load
from moonpad.cli.named_inputs import find_model, typed_path
from moonpad.cli.output import emit, next_command, out
from moonpad.cli.plan import PlanOptions
from moonpad.cli.plan_inputs import find_cluster, make_request, refuse_unless_it_fits
from moonpad.cli.plan_speed import own_calibrations_of
from moonpad.engines import ENGINES
from moonpad.plan.request import parse_pool
from moonpad.plan.search import search
from moonpad.predict.plan_speeds import AskedLoad, PlanSpeed
from moonpad.predict.pools import PoolOf, predict_pools
from moonpad.predict.serving_plan import serving_plan
from moonpad.report.plan_json import answer_json
from moonpad.report.speed_json import predicted_json
from moonpad.report.speed_text import load_words, pools_lines
from moonpad.run.knowledge import knowledge
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.plan_answer import Answer
from moonpad.values.records import as_dict, replace


def run_plan_speed_pools(
    spec: Path | None,
    named: str | None,
    options: PlanOptions,
    load: LoadOptions,
    prefill: str | None,
    decode: str | None,
    report: Path | None,
    *,
    json: bool,
) -> None:
    """
    Raises:
        PreflightRefused: one of the pools does not fit its devices, or the load is more than they can take.
        UsageError: what is asked for does not go together.
    """
    if prefill is None or decode is None:
        raise UsageError("--prefill and --decode go together", remedy='write --prefill "1x TP4 EP4" --decode "2x TP8"')
    if spec is not None or named is None or report is not None:
        raise UsageError("--prefill and --decode take --model, and neither a spec nor --report")
    if options.layout or options.engine in (None, "auto"):
        raise UsageError("--prefill and --decode need one --engine, and no --layout", remedy="name it with --engine")
    asked = read_load(load, options.goal, options.concurrency)
    if asked is None or asked.growing:
        raise UsageError("two pools need a load", remedy="add --workload 8192:1024 --concurrency 64")
    model = find_model(named, typed_path(named))
    cluster = find_cluster(options.on, str(options.engine))
    pools: dict[str, PoolOf] = {}
    answers: dict[str, Answer] = {}
    for role, text in (("prefill", prefill), ("decode", decode)):
        servers, layout = parse_pool(text)
        request = replace(make_request(replace(options, concurrency=None)), layout=as_dict(layout))
        known = replace(knowledge(), code_in_checkpoint=model.brings_code)
        answer = replace(search(model.checkpoint, cluster, request, known), model=model.written)
        refuse_unless_it_fits(answer, request, answer.refused[0].findings if answer.refused else ())
        answers[role] = answer
        pools[role] = PoolOf(serving_plan(answer.choices[0], model.checkpoint, cluster, ENGINES), servers)
    devices = pools["prefill"].devices + pools["decode"].devices
    if devices > cluster.devices:
        raise PreflightRefused(
            f"the two pools take {devices} devices, and {cluster.name} has {cluster.devices}",
            remedy="name more with --on",
        )
    calibration = own_calibrations_of()(pools["decode"].plan.configuration)
    found = predict_pools(pools["prefill"], pools["decode"], asked.workload, calibration=calibration)
    speed = PlanSpeed(found, simulated=False)
    document = _document(answers, pools, speed, asked, devices)
    shown = Text(f"{model.written} on {cluster.name}, prefill {prefill}, decode {decode}; {load_words(asked)}\n\n")
    shown.append("\n".join(pools_lines(speed, asked, devices, min(out().width, 120))))
    emit(shown, document, json=json)
    if not json:
        next_command("moonpad init, then [prefill] and [decode] in the spec: docs/prefill-decode.md")


def _document(
    answers: dict[str, Answer], pools: dict[str, PoolOf], speed: PlanSpeed, asked: AskedLoad, devices: int
) -> dict[str, Any]:
    first = next(iter(answers.values()))
    return {
        "model": first.model,
        "cluster": first.cluster,
        "fits": True,
        "devices": devices,
        "pools": {
            role: {"servers": pools[role].servers, **answer_json(answer, {})["plans"][0]}
            for role, answer in answers.items()
        },
        "predicted": predicted_json(speed, asked, devices),
    }
