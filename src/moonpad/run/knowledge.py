"""What the package and this machine know, for a plan that no spec is needed for."""

from __future__ import annotations

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.options import newest_stable
from moonpad.catalog.published import published
from moonpad.engines.base import Engine, settled_version
from moonpad.plan.search import Known
from moonpad.store.calibrations import own_calibrations
from moonpad.values.cluster import Cluster
from moonpad.values.errors import PreflightRefused
from moonpad.values.platform import Platform


def knowledge() -> Known:
    """Releases, measured starts (the user's own too) and published results.

    The version of an engine for processors is the recipe's; else the newest release whose options are known.
    """

    def version_of(engine: Engine) -> str:
        return settled_version(engine) or newest_stable(engine.program)

    return Known(version_of, (*calibrations(), *own_calibrations()), published())


def local_cluster(engine: Engine | None, remedy: str) -> Cluster:
    """This machine: its processors for an engine that runs on nothing else. Raises PreflightRefused: what it has is not
    known."""
    from moonpad.facts import devices as local  # which a cluster that is named does not need
    from moonpad.facts.device import DeviceFacts
    from moonpad.facts.probe import Unknown

    cpu_only = engine is not None and engine.platforms == (Platform.CPU,)
    here = local.detect_cluster(DeviceFacts() if cpu_only else local.devices())
    if isinstance(here, Unknown):
        raise PreflightRefused(f"the hardware of this machine is unknown: {here.reason}", remedy=remedy)
    return here
