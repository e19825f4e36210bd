"""What the package and this machine know, for a plan that no spec is needed for."""

from __future__ import annotations

from dataclasses import replace

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.options import newest_stable
from moonpad.catalog.published import published
from moonpad.engines.base import Engine, settled_version
from moonpad.facts import devices as local
from moonpad.facts.probe import Unknown
from moonpad.plan.search import Known
from moonpad.store.calibrations import own_calibrations
from moonpad.values.cluster import Cluster
from moonpad.values.errors import PreflightRefused
from moonpad.values.platform import Platform


def knowledge() -> Known:
    """Releases, measured starts (the user's own too) and published results."""
    return Known(version_of, (*calibrations(), *own_calibrations()), published())


def local_cluster(engine: Engine | None, remedy: str) -> Cluster:
    """This machine: its processors for an engine that runs on nothing else.

    Raises:
        PreflightRefused: what it has is not known.
    """
    if engine is not None and engine.platforms == (Platform.CPU,):
        return replace(parse_cluster("cpu"), host=local.this_host(), detected=True)
    here = local.detect_cluster(local.devices())
    if isinstance(here, Unknown):
        raise PreflightRefused(f"what this machine has is not known: {here.reason}", remedy=remedy)
    return here


def version_of(engine: Engine) -> str:
    """Of an engine for processors, the recipe's; else the newest release whose options are known."""
    return settled_version(engine) or newest_stable(engine.program)
