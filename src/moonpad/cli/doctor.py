"""`moonpad doctor`: what is wrong with the hosts before a start, and why a start failed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from moonpad.cli.endpoint import EndpointOptions
from moonpad.cli.output import Json, busy, emit_json, next_command, out
from moonpad.values.errors import MoonpadError, PreflightRefused, UsageError
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.visible_text import shell_word

if TYPE_CHECKING:
    from moonpad.doctor.examine import Reach
    from moonpad.doctor.needs import Needs
    from moonpad.doctor.survey import Survey

SIGNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def doctor(
    spec: Path | None = None,
    *,
    host: list[str] | None = None,
    log: Path | None = None,
    engine: str = "",
    endpoint: Annotated[bool, Parameter(negative="")] = False,
    at: EndpointOptions = EndpointOptions(),
    json: Json = False,
) -> None:
    """Look at this host, or at every host of a spec, before a start: devices, software, limits, disks, networks. Or say
    why a start failed, by its log; or why an endpoint is slow, by a short load.

    Parameters
    ----------
    spec
        The spec whose run the hosts are for; without it this host is looked at for none in particular.
    host
        Look at these nodes of the spec alone, as node-1, or at these hosts over ssh where there is no spec.
    log
        Name the cause in this log of an engine; - reads standard input. With --endpoint, the log of that endpoint.
    engine
        Whose log it is, where its own words do not tell.
    endpoint
        Say what makes the spec's endpoint slow, or that of --url, by half a minute of load: queueing, preemption, long
        prompts, few streams, devices, kernels, tokenizer, network.
    """
    if endpoint or at.url is not None:
        from moonpad.cli.doctor_endpoint import show_slowness

        if host:
            raise UsageError("--host and --endpoint cannot be combined", remedy="leave one of them out")
        show_slowness(spec, at, log, json=json)
        return
    if log is not None:
        from moonpad.cli.doctor_log import show_cause

        show_cause(log, engine, json=json)
        return
    from moonpad.doctor.between import differences, reach_findings
    from moonpad.doctor.checks import findings_of
    from moonpad.doctor.examine import examine

    needs = _needs(spec, tuple(host or ()))
    with busy(f"Looking at {len(needs.hosts)} host{'s' * (len(needs.hosts) != 1)}"):
        surveys, reached = examine(needs.hosts, needs.of_node)
    whole = {node: survey for node, survey in surveys.items() if not isinstance(survey, MoonpadError)}
    findings_by_node = {node: findings_of(survey, needs.of_node[node]) for node, survey in whole.items()}
    for node, more in reach_findings(reached).items():
        findings_by_node[node]["network"] = (*findings_by_node[node]["network"], *more)
    if len(whole) > 1:
        for node, more in differences(tuple(whole.values())).items():
            findings_by_node[node]["software"] = (*findings_by_node[node]["software"], *more)
    lost = {node: error for node, error in surveys.items() if isinstance(error, MoonpadError)}
    document = _document(needs, whole, findings_by_node, lost, reached)
    if json:
        emit_json(document)
    else:
        _show(needs, whole, findings_by_node, lost)
    of_hosts = (finding for subjects in findings_by_node.values() for of in subjects.values() for finding in of)
    count = len(errors_of((*needs.findings, *of_hosts))) + len(lost)
    if count:
        errors = "1 finding is an error" if count == 1 else f"{count} findings are errors"
        raise PreflightRefused(errors, remedy="apply the remedies shown above")
    if not json:
        next_command(f"moonpad up {shell_word(spec)}" if spec else "moonpad init --model ID_OR_PATH")


def look_here() -> dict[str, tuple[Finding, ...]]:
    """The findings about this host, by subject, for no run in particular."""
    from moonpad.doctor.checks import findings_of
    from moonpad.doctor.examine import examine
    from moonpad.doctor.needs import nothing_needed

    needs = nothing_needed()
    surveys, _ = examine(needs.hosts, needs.of_node)
    ((node, survey),) = surveys.items()
    return {} if isinstance(survey, MoonpadError) else findings_of(survey, needs.of_node[node])


def _needs(spec: Path | None, only: tuple[str, ...]) -> Needs:
    """Raises UsageError: a node that the spec does not have."""
    from moonpad.doctor.examine import Host
    from moonpad.doctor.need import Need
    from moonpad.doctor.needs import Needs, needs_of, nothing_needed
    from moonpad.doctor.own_deployment import with_own_deployment
    from moonpad.run.ssh_hosts import SshHost
    from moonpad.spec.loader import load_spec

    if spec is None:
        if not only:
            return nothing_needed()
        hosts = tuple(Host(name, ssh=SshHost(name, name)) for name in only)
        return Needs(hosts, {name: Need() for name in only})
    loaded = load_spec(spec)
    needs = with_own_deployment(needs_of(loaded), loaded.spec.name)
    nodes = [host.node for host in needs.hosts]
    if unknown := [name for name in only if name not in nodes]:
        raise UsageError(f"{spec} has no {unknown[0]}: its hosts are {', '.join(nodes)}", remedy="name one of these")
    chosen = tuple(host for host in needs.hosts if not only or host.node in only)
    return Needs(chosen, needs.of_node, needs.findings)


def _unreachable(node: str, error: MoonpadError) -> Finding:
    return Finding(Severity.ERROR, Code.UNREACHABLE, node, error.message, error.remedy)


def _document(
    needs: Needs,
    surveys: dict[str, Survey],
    findings_by_node: dict[str, dict[str, tuple[Finding, ...]]],
    lost: dict[str, MoonpadError],
    reached: list[Reach],
) -> dict[str, Any]:
    hosts = []
    for host in needs.hosts:
        row: dict[str, Any] = {"node": host.node, "ssh": host.ssh.target if host.ssh else None}
        if host.node in lost:
            row |= {"reached": False, "findings": [_unreachable(host.node, lost[host.node]).as_json()]}
        else:
            survey = surveys[host.node]
            findings = [
                {"subject": subject, **finding.as_json()}
                for subject, of in findings_by_node[host.node].items()
                for finding in of
            ]
            row |= {"reached": True, "host": survey.host, "took_s": round(survey.took_s, 3), "findings": findings}
            row |= {"facts": _facts(survey)}
        hosts.append(row)
    connections = [
        {"from": each.source, "to": each.target, "port": each.wanted or None, **each.answer} for each in reached
    ]
    spec = [finding.as_json() for finding in needs.findings]
    return {"hosts": hosts, "connections": connections, "findings": spec}


def _facts(survey: Survey) -> dict[str, Any]:
    """What was read, for a program: the answer without the long texts."""
    kept = ("host", "system", "libc", "python", "cores", "limits", "names", "folders", "speeds")
    return {name: survey.answer[name] for name in kept}


def _show(
    needs: Needs,
    surveys: dict[str, Survey],
    findings_by_node: dict[str, dict[str, tuple[Finding, ...]]],
    lost: dict[str, MoonpadError],
) -> None:
    """A table of subjects by hosts, then each finding with its remedy."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for host in needs.hosts:
        table.add_column(host.node)
    subjects = next(iter(findings_by_node.values()), {})
    for subject in subjects:
        cells = [
            "no answer" if host.node in lost else _worst(findings_by_node[host.node][subject]) for host in needs.hosts
        ]
        table.add_row(subject, *cells)
    took = ["-" if host.node in lost else f"{surveys[host.node].took_s:.1f} s" for host in needs.hosts]
    table.add_row("looked at in", *took)
    out().print(table)
    for finding in needs.findings:
        _print("spec", finding)
    for host in needs.hosts:
        if host.node in lost:
            _print(host.node, _unreachable(host.node, lost[host.node]))
        for of in findings_by_node.get(host.node, {}).values():
            for finding in sorted(of, key=lambda each: list(SIGNS).index(each.severity)):
                _print(host.node, finding)


def _worst(findings: tuple[Finding, ...]) -> str:
    """`ok`, `2 errors`, `unknown`: what was not read is never called sound."""
    for severity in (Severity.ERROR, Severity.WARNING):
        count = sum(finding.severity is severity for finding in findings)
        if count:
            return f"{count} {SIGNS[severity]}{'s' * (count != 1)}"
    return "unknown" if any(finding.code is Code.FACT_UNKNOWN for finding in findings) else "ok"


def _print(node: str, finding: Finding) -> None:
    out().print(f"{node}: {SIGNS[finding.severity]}: {finding.message}")
    if finding.remedy:
        out().print(f"  {finding.remedy}")
