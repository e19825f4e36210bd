"""The JSON of `moonpad explain` (design: verbs and keys that scripts rely on)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moonpad.explain.alternatives import differences
from moonpad.explain.as_written import all_as_written
from moonpad.explain.commands import Script
from moonpad.explain.results import Judged, Line, printable
from moonpad.report.changed_lines import is_changed, severity_of
from moonpad.values.records import as_dict


def explain_json(deployments: Sequence[Judged], script: Script) -> dict[str, Any]:
    """`deployments`, and the places where a shell reads the script in another way than its author meant."""
    document = {
        "deployments": [_deployment(judged, script) for judged in deployments],
        "problems": [
            {
                "code": problem.code,
                "severity": str(severity_of(problem, script)),
                **_place(script, problem.line),
                "column": problem.column,
                "message": printable(problem.message),
                "remedy": printable(problem.remedy),
            }
            for problem in script.problems
        ],
    }
    return {key: all_as_written(value, script) for key, value in document.items()}


def _place(script: Script, line: int) -> dict[str, Any]:
    """The line in its file, which is named where there are several."""
    name, number = script.place(line)
    return {"file": name, "line": number} if name else {"line": number}


def _deployment(judged: Judged, script: Script) -> dict[str, Any]:
    alternatives = [
        {"differences": [printable(words) for words in differences(other, judged)], **_deployment(other, script)}
        for other in judged.alternatives
    ]
    return {
        "engine": judged.engine,
        "kind": judged.kind,
        "engine_version": judged.version,
        "engine_version_because": judged.version_because,
        "model": judged.checkpoint.name if judged.checkpoint else None,
        "model_written": printable(judged.model_written),
        "cluster": judged.cluster.name if judged.cluster else None,
        "cluster_because": judged.cluster_because,
        "commands": [list(line.argv) for line in judged.commands],
        "places": [_place(script, command.line) for command in judged.sources],
        "layout": {name: None if name in judged.unknown else size for name, size in as_dict(judged.layout).items()}
        if judged.layout
        else None,
        "unknown": sorted(judged.unknown),
        "left_open": [
            {"name": each.name, **_place(script, line), "words": printable(words)}
            for command in judged.sources
            for each in command.left_open
            for line, words in each.added
        ],
        "otherwise": [
            {"name": each.name, **_place(script, line), "words": printable(words), "switch": printable(switch)}
            for command in judged.sources
            for each in command.left_open
            if each.at >= 0
            for line, words, switch in each.instead
        ],
        "settings": {name: value for name, value in as_dict(judged.settings).items() if value is not None}
        if judged.settings
        else None,
        "memory": judged.memory.as_json() if judged.memory else None,
        "memory_because": judged.unjudged,
        "fits": judged.fits,
        "confidence": judged.confidence,
        "findings": [finding.as_json() for finding in judged.findings],
        "corrected": [_line(line) for line in judged.corrected] if _is_corrected(judged, script) else [],
        "corrected_files": [{"path": file.path, "text": file.text} for file in judged.corrected_files],
        "better": [
            {
                "why": better.why,
                "argv": list(better.lines[0].argv),
                "commands": [_line(line) for line in better.lines],
                "memory": better.memory.as_json(),
                "but": [finding.as_json() for finding in better.but],
            }
            for better in judged.better
        ],
        "alternatives": alternatives,
    }


def _is_corrected(judged: Judged, script: Script) -> bool:
    """In words, in variables, or in a file of options that it reads."""
    variables = [[dict(line.env) for line in lines] for lines in (judged.commands, judged.corrected)]
    return bool(judged.corrected_files) or variables[0] != variables[1] or is_changed(judged, script)


def _line(line: Line) -> dict[str, Any]:
    return {"env": dict(line.env), "argv": list(line.argv)}
