"""The checkpoint that a spec means, in its folder or in the catalogue, and whether it is what the spec asks for.

Fault 25: the files decide, never the name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from moonpad.catalog.embedded import embedded_checkpoint
from moonpad.catalog.models import find_model
from moonpad.checkpoints.expectations import calculated_groups, compare, format_findings
from moonpad.checkpoints.read import read_checkpoint
from moonpad.checkpoints.revision import revision_findings
from moonpad.facts.probe import Unknown
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.spec.loader import LoadedSpec
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Finding, Severity
from moonpad.values.records import replace


def checkpoint_folder(loaded: LoadedSpec) -> Path:
    """The folder of a checkpoint that moonpad ships, else the path of the spec, relative to the spec's own folder."""
    return embedded_checkpoint(loaded.spec.model) or loaded.resolve(loaded.spec.model)


def described(loaded: LoadedSpec) -> Checkpoint | Unknown:
    """The checkpoint to the byte; Unknown where there is none, or of an architecture that is not modelled."""
    folder = checkpoint_folder(loaded)
    try:
        if folder.is_dir():
            return read_checkpoint(folder)
        model = find_model(loaded.spec.model)
        return Unknown(f"there is no folder {folder}") if model is None else catalog_checkpoint(model)
    except PreflightRefused as refused:
        return Unknown(refused.message)
    except OSError as error:
        return Unknown(f"{folder}: {error.strerror}")


def checkpoint_findings(loaded: LoadedSpec, contents: Checkpoint | Unknown) -> Iterator[Finding]:
    """The format and the commit that the spec asks for; whether headers and config.json agree is a warning.

    A fine-tune may hold unexpected tensors, and an engine may know what to do with them.
    """
    weights = loaded.spec.weights
    if weights.scheme is not None and not isinstance(contents, Unknown):
        yield from format_findings(contents, weights.scheme, "weights.scheme")
    folder = checkpoint_folder(loaded)
    if weights.revision is not None and folder.is_dir():
        yield from revision_findings(folder, weights.revision)
    if not isinstance(contents, Unknown):
        for finding in compare(contents, calculated_groups(contents)):
            yield replace(finding, severity=Severity.WARNING) if finding.severity is Severity.ERROR else finding
