"""`pip install "engine>=0.8"`, where the model came later."""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark
from moonpad.explain.target_detection import asked_least
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.versions import since


def minimum_release(case: Case) -> Iterator[Remark]:
    """The least release of the text against the first that serves the model: pip keeps what is there already."""
    checkpoint, least = case.checkpoint, asked_least(case.engine.name, case.script, case.commands[0])
    if case.version or not least or checkpoint is None:
        return
    model = checkpoint.architecture.model_type
    first = case.engine.facts.first_versions.get(model, "")
    if first and not since(least, first):
        message = f"the text asks for {least} or later, and {model} came with {first}: one between them would be kept"
        finding = Finding(Severity.NOTE, Code.UNSUPPORTED_FORMAT, f">={least}", message, f"ask for >={first}")
        yield Remark(finding, command=None)
