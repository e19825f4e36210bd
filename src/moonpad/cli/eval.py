"""`moonpad eval`: how accurate an endpoint's answers are, and how sure that is."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from moonpad.cli.endpoint import EndpointOptions
from moonpad.cli.eval_options import EvalOptions
from moonpad.cli.output import Json
from moonpad.values.errors import UsageError


def eval_(
    spec: Path | None = None,
    *,
    at: EndpointOptions = EndpointOptions(),
    what: EvalOptions = EvalOptions(),
    resume: Path | None = None,
    gate: bool = False,
    out: Path | None = None,
    json: Json = False,
) -> None:
    """Measure how accurate an endpoint's answers are. Exit 5 if the gate is not passed or questions have no answer.

    Parameters
    ----------
    spec
        The spec whose endpoint to evaluate; without it and --url, the only endpoint that is up.
    resume
        The folder of an interrupted evaluation: the questions without an answer are asked, no other.
    gate
        Judge by accuracy, cut_share and accuracy_drop in the spec's [gate]. With --url the spec is read for these only.
    out
        The folder for the answers and the page. Without it, one of moonpad's own.
    """
    if resume is not None:
        given = (field.name for field in fields(what) if getattr(what, field.name) != field.default)
        if name := next((name for name in given if name != "against"), None):
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{option} is what the folder of --resume already says", remedy=f"leave {option} out")
        if out is not None:
            raise UsageError("--out and --resume both name a folder", remedy="leave --out out")
    from moonpad.cli.eval_run import Evaluation

    Evaluation(spec=spec, at=at, gate=gate, json=json, against=what.against).run(what, resume, out)
