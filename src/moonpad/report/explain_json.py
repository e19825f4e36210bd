"""The JSON of `moonpad explain` (design: verbs and keys that scripts rely on)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from moonpad.explain.results import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from moonpad.explain.commands import Script
    from moonpad.explain.results import Judged, Line


def explain_json(judged: Sequence[Judged], script: Script) -> dict[str, Any]:
    """`deployments`, and the places where a shell reads the script in another way than its author meant."""
    return {
        "deployments": [_deployment(one, script) for one in judged],
        "problems": [
            {
                "code": problem.code,
                **_place(script, problem.line),
                "column": problem.column,
                "message": printable(problem.message),
                "remedy": printable(problem.remedy),
            }
            for problem in script.problems
        ],
    }


def _place(script: Script, line: int) -> dict[str, Any]:
    """The line in its file, which is named where there are several."""
    name, number = script.place(line)
    return {"file": name, "line": number} if name else {"line": number}


def _deployment(one: Judged, script: Script) -> dict[str, Any]:
    return {
        "engine": one.engine,
        "kind": one.kind,
        "engine_version": one.version,
        "engine_version_because": one.version_because,
        "model": one.checkpoint.name if one.checkpoint else None,
        "cluster": one.cluster.name if one.cluster else None,
        "cluster_because": one.cluster_because,
        "commands": [list(line.argv) for line in one.commands],
        "places": [_place(script, command.line) for command in one.sources],
        "layout": asdict(one.layout) if one.layout else None,
        "settings": {name: value for name, value in asdict(one.settings).items() if value is not None}
        if one.settings
        else None,
        "memory": one.memory.as_json() if one.memory else None,
        "memory_because": one.unjudged,
        "fits": one.fits,
        "confidence": one.confidence,
        "findings": [finding.as_json() for finding in one.findings],
        "corrected": [_line(line) for line in one.corrected],
        "better": [
            {
                "why": better.why,
                "argv": list(better.lines[0].argv),
                "commands": [_line(line) for line in better.lines],
                "memory": better.memory.as_json(),
            }
            for better in one.better
        ],
    }


def _line(line: Line) -> dict[str, Any]:
    return {"env": dict(line.env), "argv": list(line.argv)}
