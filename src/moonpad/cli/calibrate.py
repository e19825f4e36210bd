"""`moonpad calibrate`: short loads that tell how fast this machine is, so that plans predict it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from moonpad.cli.endpoint import EndpointOptions
from moonpad.cli.output import Json
from moonpad.cli.plan import PlanOptions


def calibrate(
    spec: Path | None = None,
    *,
    at: EndpointOptions = EndpointOptions(),
    checkpoint: str | None = None,
    options: PlanOptions = PlanOptions(),
    results: Annotated[list[str] | None, Parameter(name="--from", consume_multiple=True)] = None,
    no_keep: bool = False,
    json: Json = False,
) -> None:
    """Correct predictions by loads that are measured: four short ones at an endpoint, or results that are there.

    What is learnt is kept for the device, engine, release and weights; `moonpad plan --workload` then says "calibrated
    here".

    Parameters
    ----------
    spec
        The spec whose endpoint to load, or which the results are of.
    checkpoint
        Without a spec: a name of the catalogue or a folder, which the endpoint serves.
    results
        Take results instead of measuring: runs of moonpad bench (a name or a folder), and files of `vllm bench serve`,
        SGLang's bench_serving and aiperf. Without a spec, --checkpoint, --on, --engine, --engine-version, --layout and
        --set say what was measured.
    no_keep
        Show what would be learnt, and do not keep it.
    """
    from moonpad.cli.calibrate_run import run_calibrate

    run_calibrate(spec, at, checkpoint, options, results or [], keep=not no_keep, json=json)
