"""Probes of Kubernetes that give up before the weights of the model can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.other_models import least_bytes, other_model
from moonpad.explain.checks.check_case import Case
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
DISK_RATE: Final = 3_000_000_000
"""Bytes a second that a fast disk reads. What a start needs beside that, compilation and graphs, is left out."""
_DOWNLOADS: Final = 125_000_000
"""The same of a line of 1 Gbit/s."""
_STARTS: Final = 30
"""Seconds that the engine takes at least, beside its weights."""
_LONG_READ: Final = 60
"""Seconds: servers of small models may start at once."""
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_NO_CACHES: Final = ("/dev/", "/tmp/scripts", "/etc/")  # noqa: S108 - what is written
_GB: Final = 1_000_000_000
_SIZED: Final = re.compile(r"(?<![A-Za-z\d.])(?P<billions>\d{1,3}(?:\.\d)?)[Bb](?![A-Za-z\d])")
"""`8B` of a model's name; `A3B` are the parameters of one token."""
_FEW_BITS: Final = re.compile(
    r"awq|gptq|int[48]|fp[48]|w[48]a|[48]-?bit|bnb|gguf|q\d_|quant|(?<![A-Za-z])b\d|autoround|exl\d", re.IGNORECASE
)
_LEAST: Final = 0.5
_BF16: Final = 2.0
"""Bytes of a parameter."""
_PERIOD: Final = 10
_FAILURES: Final = 3
FROM_ELSEWHERE: Final = ("--load-format", "--model-loader-extra-config")
"""Weights that are not read from a disk, or by many readers at once."""


def probe_patience(case: Case) -> Iterator[Remark]:
    """The liveness probe, or the one for the start where there is one: until it succeeds the other does not ask."""
    if not case.script.objects or any(case.option(flag) is not None for flag in FROM_ELSEWHERE):
        return
    held = bytes_of_weights(case)
    found = own_container(case) if held else None
    if found is None or held is None:
        return
    holder, container, _ = found
    name = _STARTUP if _STARTUP in container else _LIVENESS
    probe = fields_of(container.get(name))
    get = fields_of(probe.get("httpGet"))
    patience = _patience(probe)
    nodes = max(case.commands[0].pods, case.first.node.nodes or 1)
    read = held / nodes / DISK_RATE
    needed = read + (_STARTS if read >= _LONG_READ else 0)
    if get and patience is not None and patience >= needed and name == _LIVENESS:
        yield from _of_download(case, (holder, container, found[2]), patience, held / nodes)
    if not get or patience is None or patience >= needed:
        return
    line = case.script.where(holder.offset + container[name].start_mark.line)
    message = (
        f"{line}: {name} gives up {patience} s after the start, and to read {held / nodes / _GB:,.0f} GB of weights "
    )
    beside = f", and the engine {_STARTS} s at least beside that" if needed > read else ""
    message += f"takes {read:,.0f} s at 3 GB/s{beside}, before anything is compiled: the container is killed while it "
    message += "loads"
    most = -(-round(4 * needed) // _PERIOD)
    remedy = f"add a startupProbe with periodSeconds: {_PERIOD} and failureThreshold: {most}"
    if name == _STARTUP:
        remedy = f"raise its failureThreshold to {most} at periodSeconds: {_PERIOD}"
    remark = make_remark(Severity.WARNING, Code.SUBOPTIMAL, name, message, remedy)
    yield replace(remark, command=None)


def _of_download(case: Case, found: tuple[PodObject, Fields, Fields], patience: int, held: float) -> Iterator[Remark]:
    """A container without any volume for the files of the hub, which it downloads before it loads them."""
    holder, container, _ = found
    mounts = [text_of(fields_of(each).get("mountPath")) for each in items_of(container.get("volumeMounts"))]
    needed = held / _DOWNLOADS + held / DISK_RATE + _STARTS
    if patience >= needed or not _REPOSITORY.fullmatch(case.first.model) or holder.templated:
        return
    if "envFrom" in container or any(not path.startswith(_NO_CACHES) for path in mounts):
        return
    line = case.script.where(holder.offset + container[_LIVENESS].start_mark.line)
    message = f"{line}: {_LIVENESS} gives up {patience} s after the start, and no volume keeps what the container "
    message += f"downloads: {held / _GB:,.0f} GB take {held / _DOWNLOADS:,.0f} s at 1 Gbit/s, before they are loaded"
    remedy = (
        f"add a startupProbe with periodSeconds: {_PERIOD} and failureThreshold: {-(-round(4 * needed) // _PERIOD)}"
    )
    yield replace(make_remark(Severity.NOTE, Code.SUBOPTIMAL, _LIVENESS, message, remedy), command=None)


def bytes_of_weights(case: Case) -> float | None:
    """At the least; None where they are not known."""
    if case.checkpoint is not None:
        return float(case.checkpoint.total_bytes)
    known = other_model(case.first.model)
    if known is not None:
        return float(least_bytes(known, case.first.model))
    name = case.first.model.rstrip("/").rpartition("/")[2]
    sizes = [float(match["billions"]) for match in _SIZED.finditer(name)]
    return max(sizes) * _GB * (_LEAST if _FEW_BITS.search(name) else _BF16) if sizes else None


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
