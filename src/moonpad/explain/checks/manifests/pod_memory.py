"""Host memory that the options of an engine ask for, against what its container may use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from moonpad.engines import host_expert_names as names
from moonpad.engines import surrounding_names as around
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import BYTES, inner, own_container, text_of
from moonpad.explain.checks.memory.expert_memory import experts_in_ram, weights_in_ram
from moonpad.explain.checks.memory.host_caches import kept_in_host
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB
from moonpad.values.versions import since

_QUANTITY: Final = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,3})?)(?P<unit>[kKMGT]i?|[bmg]|)[bB]?")
_UNITS: Final = {**BYTES, "b": 1, "K": 1e3}
_OF_DOCKER: Final = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30}
_OFFLOAD: Final = "--cpu-offload-gb"
_TAG: Final = re.compile(r":[\w.-]*-(?P<build>b\d{4,6})$")
_EXPERTS: Final = 0.9
"""Of the weights of a model with experts, what they are at the least."""
_NUMBER: Final = re.compile(r"\d{1,6}(?:\.\d{1,3})?")


class Asked(Struct, frozen=True):
    """Bytes that an option asks for, and how it comes to them."""

    flag: str
    bytes: float
    because: str
    at: int | None
    remedy: str = ""
    """In place of less of it."""


def memory_of_container(case: Case) -> Iterator[Remark]:
    """`--cpu-offload-gb 100` for four ranks in a pod of 64 GiB."""
    command = case.commands[0]
    if is_fragment(command) or command.custom or command.more or not case.laid_out:
        return
    asked = [*_asked(case)]
    limit = memory_limit(case) if asked else None
    whole = sum(each.bytes for each in asked)
    if limit is None or whole <= limit[0]:
        return
    largest = max(asked, key=lambda each: each.bytes)
    message = f"{' and '.join(each.because for each in asked)}: {whole / GIB:,.0f} GiB of host memory, and {limit[1]} "
    message += f"leaves the container {limit[0] / GIB:,.0f} GiB: it is killed (exit 137) as it fills them"
    remedy = (
        f"raise the limit above {whole * 1.25 / GIB:,.0f} GiB, or {largest.remedy or f'make {largest.flag} smaller'}"
    )
    yield make_remark(Severity.WARNING, Code.DOES_NOT_FIT, largest.flag, message, remedy, at=largest.at)


def _asked(case: Case) -> Iterator[Asked]:
    layout, node = case.first.layout, case.first.node
    copies = node.data_parallel_local if node.data_parallel_local is not None else layout.dp
    nodes = max(node.nodes or 1, case.commands[0].pods) if node.data_parallel_local is None else 1
    ranks = max(1, layout.tp * layout.pp * copies * case.first.replicas // nodes)
    for flag, unit, each_rank in (
        (_OFFLOAD, GIB, True),
        *((flag, size, each) for flag, (size, each) in around.HOST_CACHES.items()),
    ):
        place = case.option(flag)
        text = place.value if place is not None and isinstance(place.value, str) else ""
        if place is None or not _NUMBER.fullmatch(text) or not float(text):
            continue
        times = ranks if each_rank else 1
        because = f"{flag} {text} for {times} ranks" if times > 1 else f"{flag} {text}"
        yield Asked(flag, float(text) * unit * times, because, place.index)
    cache = kept_in_host(case)
    if cache is not None and cache.at is None:
        times = ranks if cache.each_rank else 1
        because = f"{cache.written} of {cache.size:,.0f} GB" + (f" for {times} ranks" if times > 1 else "")
        yield Asked(cache.written, cache.size * 1e9 * times, because, None)
    yield from _experts(case)
    kept, version = around.PROMPT_CACHE, _build(case)
    given = case.option(*kept.flags) is not None or kept.variable in case.commands[0].env
    if case.base == kept.engine and not given and version and since(version, kept.since):
        because = f"{kept.flags[-1]} is {kept.default_bytes / GIB:,.0f} GiB by default"
        yield Asked(kept.flags[-1], kept.default_bytes, because, None)


def _experts(case: Case) -> Iterator[Asked]:
    """Those that the processors compute: they are copied there while the server starts."""
    place = case.option(names.METHOD)
    if case.commands[0].program in names.OLD_PROGRAMS and (files := case.option(names.FILES[0])) is not None:
        held, title = weights_in_ram(case)
        because = f"the weights of {title}, nearly all of which the processors compute with"
        yield Asked(names.FILES[0], _EXPERTS * held * 1e9, because, files.index, "take files of fewer bits")
        return
    held, title = experts_in_ram(case)
    nodes = max(case.first.node.nodes or 1, case.commands[0].pods)
    if place is None or not held or unresolved(case.text(names.ON_DEVICES)) or nodes > 1:
        return
    because = f"the experts of {title} that the processors compute"
    yield Asked(
        names.METHOD, held * 1e9, because, place.index, f"keep more experts on the devices ({names.ON_DEVICES})"
    )


def _build(case: Case) -> str:
    """The release, or the build that the image's tag ends with."""
    container = case.commands[0].container
    match = _TAG.search(container.image.text) if container is not None and container.image is not None else None
    return case.version or (match["build"] if match else "")


def memory_limit(case: Case) -> tuple[float, str] | None:
    """In bytes, and what says it."""
    command = case.commands[0]
    container = command.container
    if container is not None and (given := container.value("--memory")):
        amount = _bytes(given, of_docker=True)
        return (amount, f"--memory {given}") if amount else None
    if not any(low <= command.line <= high for low, high in case.script.objects):
        return None
    found = own_container(case)
    if found is None or found[0].templated:
        return None
    text = text_of(inner(found[1], "resources", "limits", "memory"))
    amount = _bytes(text, of_docker=False)
    return (amount, f"limits.memory: {text}") if amount else None


def _bytes(text: str, *, of_docker: bool) -> float:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return 0
    unit = match["unit"]
    size = _OF_DOCKER.get(unit.lower() or "b") if of_docker else _UNITS.get(unit)
    return float(match["number"]) * size if size else 0
