"""Probes of Kubernetes that give up before the weights of the model can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.load_time import STARTS, Load, load_of
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    PodObject,
    fields_of,
    items_of,
    number_of,
    own_container,
    text_of,
)
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_STARTUP: Final = "startupProbe"
_LIVENESS: Final = "livenessProbe"
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_NO_CACHES: Final = ("/dev/", "/tmp/scripts", "/etc/")  # noqa: S108 - what is written
_PERIOD: Final = 10
_FAILURES: Final = 3
FROM_ELSEWHERE: Final = ("--load-format", "--model-loader-extra-config")
"""Weights that are not read from a disk, or by many readers at once."""


def probe_patience(case: Case) -> Iterator[Remark]:
    """The liveness probe, or the one for the start where there is one: until it succeeds the other does not ask."""
    load = load_of(case) if case.script.objects else None
    found = own_container(case) if load is not None else None
    if found is None or load is None:
        return
    holder, container, _ = found
    name = _STARTUP if _STARTUP in container else _LIVENESS
    probe = fields_of(container.get(name))
    get = fields_of(probe.get("httpGet"))
    patience = _patience(probe)
    needed = load.needed
    if get and patience is not None and patience >= needed and name == _LIVENESS:
        yield from _of_download(case, (holder, container, found[2]), patience, load)
    if not get or patience is None or patience >= needed:
        return
    line = case.script.where(holder.offset + container[name].start_mark.line)
    message = f"{line}: {name} gives up {patience} s after the start, and {load.words}, before anything is compiled: "
    message += "the container is killed while it loads"
    most = -(-round(4 * needed) // _PERIOD)
    remedy = f"add a startupProbe with periodSeconds: {_PERIOD} and failureThreshold: {most}"
    if name == _STARTUP:
        remedy = f"raise its failureThreshold to {most} at periodSeconds: {_PERIOD}"
    remark = make_remark(Severity.WARNING, Code.SUBOPTIMAL, name, message, remedy)
    yield replace(remark, command=None)


def _of_download(case: Case, found: tuple[PodObject, Fields, Fields], patience: int, load: Load) -> Iterator[Remark]:
    """A container without any volume for the files of the hub, which it downloads before it loads them."""
    holder, container, _ = found
    mounts = [text_of(fields_of(each).get("mountPath")) for each in items_of(container.get("volumeMounts"))]
    needed = load.downloaded + load.read + STARTS
    if patience >= needed or not _REPOSITORY.fullmatch(case.first.model) or holder.templated:
        return
    if "envFrom" in container or any(not path.startswith(_NO_CACHES) for path in mounts):
        return
    line = case.script.where(holder.offset + container[_LIVENESS].start_mark.line)
    message = f"{line}: {_LIVENESS} gives up {patience} s after the start, and no volume keeps what the container "
    message += f"downloads: {load.gigabytes} take {load.downloaded:,.0f} s at 1 Gbit/s, before they are loaded"
    remedy = (
        f"add a startupProbe with periodSeconds: {_PERIOD} and failureThreshold: {-(-round(4 * needed) // _PERIOD)}"
    )
    yield replace(make_remark(Severity.NOTE, Code.SUBOPTIMAL, _LIVENESS, message, remedy), command=None)


def _patience(probe: Fields) -> int | None:
    """Seconds; None where a number of it is not known."""
    delay, period, failures = (
        number_of(probe[key]) if key in probe else default
        for key, default in (
            ("initialDelaySeconds", 0),
            ("periodSeconds", _PERIOD),
            ("failureThreshold", _FAILURES),
        )
    )
    if delay is None or period is None or failures is None:
        return None
    return delay + period * failures
