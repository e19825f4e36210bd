"""`moonpad doctor --endpoint`: why answers are slow, by a short load and the endpoint's own counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moonpad.cli.doctor_measure import measure_slowness
from moonpad.cli.endpoint import EndpointOptions, resolve_endpoint
from moonpad.cli.log_file import read_log_file
from moonpad.cli.output import busy, emit_json, next_command, out
from moonpad.doctor.slow_causes import Verdict, explain_slowness
from moonpad.doctor.slow_marks import marks_of
from moonpad.values.finding import Severity

if TYPE_CHECKING:
    from moonpad.doctor.slow_facts import LoadFigures, SlowFacts, SlowMark
    from moonpad.values.endpoint import Endpoint


def show_slowness(spec: Path | None, at: EndpointOptions, log: Path | None, *, json: bool) -> None:
    """Raises what `resolve_endpoint` and `run_bench` raise."""
    endpoint = resolve_endpoint(spec, at)
    marks = _marks(spec, at, log)
    with busy("Measuring for half a minute"):
        facts = measure_slowness(endpoint, marks=marks, held_back=lambda: _held_back(endpoint), timeout_s=at.timeout_s)
    verdicts = explain_slowness(facts)
    if json:
        reasons = [verdict.as_json() for verdict in verdicts]
        emit_json({"endpoint": endpoint.base_url, "reasons": reasons, "measured": facts.as_json()})
        return
    for line in _lines(facts, verdicts):
        out().print(line)
    next_command(f"moonpad bench{at.words(spec)} --sweep concurrency=1,2,4,8,16")


def _marks(spec: Path | None, at: EndpointOptions, log: Path | None) -> tuple[SlowMark, ...] | None:
    """Of the log that is named, or of the run's own; None where there is none."""
    if log is not None:
        return marks_of(read_log_file(log, "moonpad doctor --endpoint --log"))
    if at.url is not None:
        return None
    from moonpad.run.endpoints import find_run

    path = find_run(spec).log_path
    return marks_of(path.read_text(errors="replace")) if path.exists() else None


def _held_back(endpoint: Endpoint) -> tuple[str, ...]:
    """What the survey of this machine says against its devices' speed; nothing of an endpoint elsewhere."""
    from moonpad.bench.telemetry import is_here

    if not is_here(endpoint):
        return ()
    from moonpad.cli.doctor import look_here

    findings = look_here().get("devices", ())
    return tuple(
        f"{finding.where}: {finding.message}"
        for finding in findings
        if finding.severity is Severity.WARNING and finding.message.startswith(("held back", "capped"))
    )


def _lines(facts: SlowFacts, verdicts: tuple[Verdict, ...]) -> list[str]:
    lines = [_load(facts.alone), _load(facts.together)]
    if facts.long is not None:
        speed = facts.long.prompt_tokens / facts.long.ttft_s if facts.long.ttft_s else 0.0
        read = f"first token after {facts.long.ttft_s:.3g} s, {speed:,.0f} tokens/s read"
        lines.append(f"a prompt of {facts.long.prompt_tokens:,.0f} tokens: {read}")
    if facts.idle is not None and facts.idle.running is not None:
        cache = "" if facts.idle.kv_usage is None else f", {facts.idle.kv_usage:.0%} of the KV cache in use"
        waiting = f"{facts.idle.waiting or 0:.0f} waited{cache}"
        lines.append(f"before, for {facts.idle.seconds:.0f} s: {facts.idle.running:.0f} requests ran, {waiting}")
    causes = [verdict for verdict in verdicts if verdict.standing == "cause"]
    lines += ["", "What makes it slow" if causes else "None of the reasons that moonpad knows explains slowness here."]
    for verdict in causes:
        share = "" if verdict.share is None else f", {verdict.share:.0%} of the time"
        lines += [f"  {verdict.reason}{share}: {verdict.message}", f"    {verdict.remedy}"]
    for title, standing in (("Not the reason", "no"), ("Not known", "unknown")):
        rest = [verdict for verdict in verdicts if verdict.standing == standing]
        lines += [title] if rest else []
        lines += [f"  {verdict.reason}: {verdict.message}" for verdict in rest]
    return lines


def _load(load: LoadFigures) -> str:
    streams = "one stream" if load.streams == 1 else f"{load.streams} streams at once"
    gap = "" if load.tpot_s is None else f", a token every {1000 * load.tpot_s:.3g} ms"
    speed = f"{load.output_tokens_per_s:.3g} tokens/s together"
    return f"{streams}: first token after {load.ttft_s:.3g} s{gap}, {speed}"
