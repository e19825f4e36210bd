"""What `moonpad calibrate` does: the plan that is measured, its loads, and what they say of the constants."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moonpad.bench.calibration_loads import calibration_loads
from moonpad.bench.config import BenchConfig
from moonpad.bench.measured_loads import MeasuredLoad, measured_loads
from moonpad.bench.run import run_bench
from moonpad.bench.run_files import RESULT_FILE
from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.cli.named_inputs import find_model, typed_path
from moonpad.cli.output import busy, emit, next_command, note
from moonpad.cli.plan import PlanOptions
from moonpad.cli.plan_inputs import find_cluster, make_request, refuse_unless_it_fits
from moonpad.cli.run_argument import measured_path
from moonpad.engines import ENGINES
from moonpad.facts.probe import Unknown
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.plan.search import search
from moonpad.predict.calibrate import MeasuredPoint, StepCalibration
from moonpad.predict.calibrate import calibrate as corrected_by
from moonpad.predict.prediction import constants_for, predict
from moonpad.predict.serving_plan import ServingPlan, serving_plan
from moonpad.report.calibration_table import CalibratedPoint, calibration_table
from moonpad.run.knowledge import knowledge
from moonpad.spec.input_file import read_regular
from moonpad.store.speed_calibrations import SpeedCalibration, keep_speed_calibration, key_of
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, Interrupted, PreflightRefused, UsageError
from moonpad.values.records import as_dict, replace
from moonpad.values.visible_text import shell_word
from moonpad.values.workload import Lengths, Workload

FAR: Final = 0.25
"""A load that is still so far off after the calibration is named: the model lacks something there."""
RESULT_BYTES: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Subject:
    """What is measured, and how it is named for the next command."""

    plan: ServingPlan
    words: str
    spec: Path | None


def run_calibrate(
    spec: Path | None,
    at: EndpointOptions,
    checkpoint: str | None,
    options: PlanOptions,
    results: Sequence[str],
    *,
    keep: bool,
    json: bool,
) -> None:
    """
    Raises:
        UsageError: what is measured is not known.
        CheckFailed, ContactLost: the endpoint does not answer.
        Interrupted: Ctrl-C; nothing is kept.
    """
    if results and at.url:
        raise UsageError("--from takes results, and --url an endpoint", remedy="leave one of them out")
    if options.goal or options.concurrency is not None:
        raise UsageError("calibrate takes neither --goal nor --concurrency")
    subject = _subject(spec, checkpoint, options)
    if results:
        loads = [load for result in results for load in _results(result)]
    else:
        endpoint = resolve_endpoint(None if at.url else spec, at)
        loads = _measured(endpoint, subject.plan)
    points = [MeasuredPoint(subject.plan, load.workload, load.tpot_s, load.ttft_s) for load in loads]
    configuration = subject.plan.configuration
    today = time.strftime("%Y-%m-%d")
    source = f"{len(points)} {'load' if len(points) == 1 else 'loads'} of {today}"
    base, _, _ = constants_for(configuration)
    with busy("find the constants"):
        calibration = replace(corrected_by(points, base=base, thorough=True), source=source)
    rows = [_row(load, point, calibration) for load, point in zip(loads, points, strict=True)]
    device, engine, version, scheme, cores = key_of(configuration)
    learnt = SpeedCalibration(
        device,
        engine,
        version,
        scheme,
        cores,
        calibration.corrections,
        source,
        today,
        configuration.checkpoint.name,
        tuple(row.as_json() for row in rows),
    )
    problem = _keep(learnt) if keep else "as asked"
    document = {**as_dict(learnt), "kept": not problem, "because": problem}
    about = f"{configuration.checkpoint.name} on {configuration.cluster.name}, {configuration.program}, "
    emit(f"{about}{configuration.layout.words}\n{calibration_table(rows).plain}", document, json=json)
    factors = ", ".join(f"{name} × {factor:.2f}" for name, factor in as_dict(calibration.corrections).items())
    note(f"Times against what was believed: {factors}.")
    for row in rows:
        if (ratio := _off(row)) is not None:
            note(f"{row.said}: still {ratio:.0%} off; the model lacks something there, or the load was disturbed")
    where = f"{engine} {version}".strip()
    kept = f"Kept for {device}, {where} and {scheme} weights" if not problem else f"Not kept: {problem}"
    note(f"{kept}.")
    next_command(f"moonpad plan {subject.words} --workload chat --concurrency 8")


def _keep(learnt: SpeedCalibration) -> str:
    """Why it could not be kept, or ""."""
    try:
        keep_speed_calibration(learnt)
    except OSError as error:
        return f"the folder of moonpad's state cannot be written: {error.strerror or error}"
    return ""


def _off(row: CalibratedPoint) -> float | None:
    """How far its TPOT is off afterwards, where that is far."""
    measured = row.point.tpot_s
    ratio = abs(row.after.tpot_s.value / measured - 1) if measured else 0.0
    return ratio if ratio > FAR else None


def _row(load: MeasuredLoad, point: MeasuredPoint, calibration: StepCalibration) -> CalibratedPoint:
    """`after`: by the corrected constants, whose own value it is: a plan of this very load says what was measured."""
    before = predict(point.plan, point.workload, by_others=False)
    after = predict(point.plan, point.workload, calibration=replace(calibration, points=()))
    return CalibratedPoint(load.said, point, before, after)


def _subject(spec: Path | None, checkpoint: str | None, options: PlanOptions) -> Subject:
    if spec is not None:
        return _subject_of_spec(spec, checkpoint, options)
    if checkpoint is None or options.engine in (None, "auto"):
        raise UsageError(
            "what is measured is not known",
            remedy="name a spec, or --checkpoint, --on, --engine, --engine-version and --layout",
        )
    model = find_model(checkpoint, typed_path(checkpoint))
    request = make_request(options)
    cluster = find_cluster(options.on, request.engine)
    answer = search(model.checkpoint, cluster, request, knowledge())
    refuse_unless_it_fits(answer, request)
    plan = serving_plan(answer.choices[0], model.checkpoint, cluster, ENGINES)
    layout = f" --layout {shell_word(plan.configuration.layout.words)}"
    version = f" --engine-version {shell_word(options.engine_version)}" if options.engine_version else ""
    words = f"--model {shell_word(checkpoint)} --on {cluster.name} --engine {request.engine}{version}{layout}"
    return Subject(plan, words if options.on else words.replace(f" --on {cluster.name}", ""), None)


def _subject_of_spec(spec: Path, checkpoint: str | None, options: PlanOptions) -> Subject:
    from moonpad.run.planning import plan_spec
    from moonpad.spec.loader import load_spec

    if checkpoint is not None or options != PlanOptions():
        raise UsageError("a spec says what is measured", remedy="leave out --checkpoint, --on, --engine and the like")
    planned = plan_spec(load_spec(spec))
    if planned.choice is None or isinstance(planned.checkpoint, Unknown):
        raise PreflightRefused("the contents of the checkpoint are not known, so no speed is predicted of it")
    return Subject(serving_plan(planned.choice, planned.checkpoint, planned.cluster, ENGINES), shell_word(spec), spec)


def _measured(endpoint: Endpoint, plan: ServingPlan) -> list[MeasuredLoad]:
    settings = plan.configuration.settings
    held = plan.memory.kv_tokens.value if plan.memory else float("inf")
    context = int(min(settings.max_model_len or plan.configuration.architecture.max_context, held))
    try:
        configs = calibration_loads(context, settings.max_num_seqs)
    except ValueError as error:
        raise UsageError(str(error)) from None
    found: list[MeasuredLoad] = []
    weighed: PromptCalibration | None = None
    for number, config in enumerate(configs, 1):
        said = _said(config)
        note(f"load {number} of {len(configs)}: {said}, {config.requests} requests")
        with busy(said):
            result = run_bench(endpoint, config, before=weighed)
        weighed, metrics = result.plan.calibration, result.metrics
        if result.partial:
            raise Interrupted("interrupted; nothing was kept")
        if not metrics.completed or metrics.ttft_s is None:
            raise CheckFailed(f"no request of the load {said} succeeded", remedy="moonpad verify")
        workload = Workload(
            Lengths.fixed(metrics.input_tokens / metrics.completed),
            Lengths.fixed(max(1.0, metrics.output_tokens / metrics.completed)),
            concurrency=config.concurrency,
            requests=config.requests,
            chat=config.api == "chat",
        )
        tpot_s = metrics.tpot_s.median if metrics.tpot_s else None
        found.append(MeasuredLoad(workload, tpot_s, metrics.ttft_s.median, said))
    return found


def _said(config: BenchConfig) -> str:
    users = "1 user" if config.concurrency == 1 else f"{config.concurrency} users"
    return f"{config.requested_input}:{config.requested_output}, {users}"


def _results(named: str) -> tuple[MeasuredLoad, ...]:
    path = measured_path(named)
    if path.is_dir():
        files = [path / RESULT_FILE] if (path / RESULT_FILE).exists() else sorted(path.glob(f"*/{RESULT_FILE}"))
        if not files:
            raise UsageError(f"{named} holds no finished run", remedy="moonpad runs")
    else:
        files = [path]
    return tuple(
        load for file in files for load in measured_loads(_document(file), file.name if path is file else named)
    )


def _document(file: Path) -> object:
    """A JSON document, or JSON lines as a list."""
    import json

    try:
        text = read_regular(file, RESULT_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(f"{file} cannot be read: {reason}") from None
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        raise UsageError(f"{file} is not JSON", remedy="name the JSON that the benchmark wrote") from None
