"""Engines whose experts lie in host memory: how a method reads its files, threads of the pools, and options that are
nothing without the files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines import foreign_names, ktransformers_read
from moonpad.engines import host_expert_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.named_models import named_model
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+/?", re.ASCII)
_GGUF: Final = re.compile(r"gguf|[-_.](?:ud[-_])?i?q\d_", re.IGNORECASE)
_OF_ITSELF: Final = (names.METHOD, names.ON_DEVICES, names.THREADS[0])


def files_of_method(case: Case) -> Iterator[Remark]:
    """A GGUF for a method that reads safetensors, or the reverse; the publisher's files for one that reads converted
    ones."""
    place, asked = _written(names.WEIGHTS, case), _written(names.METHOD, case)
    method = str(asked.value).strip("'\"").upper() if asked is not None else ""
    path = _path(place)
    edits: tuple[Edit, ...] = ()
    if place is None or not path or not method or unresolved(method) or not case.engine.facts.host_experts:
        return
    same, is_gguf = path == case.first.model.strip("'\"").rstrip("/"), _GGUF.search(path) is not None
    wants_gguf, last = method in names.READS_GGUF, shortened(path.rpartition("/")[2], 60)
    if path.casefold().endswith(".gguf") and not wants_gguf:
        message = f"{last} is a GGUF file, which {method} does not read: it looks for safetensors, and finds no experts"
        remedy = f"write {names.METHOD} {names.READS_GGUF[0]}, or give weights that were made for {method}"
    elif wants_gguf and same and not is_gguf:
        message = (
            f"{method} reads GGUF files, and {last} is the folder of the model itself: the start ends (No .gguf files "
            "found in directory)"
        )
        remedy = "download a GGUF of the model, and give its folder"
    elif method in names.READS_CONVERTED and same and not is_gguf:
        message = (
            f"{method} reads experts that were converted for it, and {last} is the folder of the model itself: the "
            "start ends (No experts found for key blk…)"
        )
        remedy = "convert the weights by convert_cpu_weights.py, and give that folder"
        scheme = case.checkpoint.quantization.scheme if case.checkpoint and case.checkpoint.quantization else ""
        if scheme == "int4" and asked is not None and _has_raw(case):
            remedy = f"write {names.METHOD} {names.READS_INT4}, which reads these files, or {remedy}"
            words = (f"{asked.written}={names.READS_INT4}",), (asked.written, names.READS_INT4)
            edits = (Edit(asked.index, asked.length, words[asked.length > 1]),)
    else:
        return
    certain = same and _REPOSITORY.fullmatch(path) is not None and not is_fragment(case.commands[0])
    severity = Severity.ERROR if certain else Severity.WARNING
    remark = make_remark(severity, Code.CONFLICT, names.WEIGHTS, message, remedy, at=place.index, edits=edits)
    yield replace(remark, stops=same and method in names.READS_CONVERTED)


def _written(flag: str, case: Case) -> Occurrence | None:
    """By its former name too."""
    former = (each for each in case.first.parsed.occurrences if each.written == names.FORMER[flag])
    return case.option(flag) or next(former, None)


def _has_raw(case: Case) -> bool:
    options = option_set(case.engine.program, case.version or None)
    method = options.named(names.METHOD) if options is not None else None
    return method is not None and (not method.choices or names.READS_INT4 in method.choices)


def threads_of_pools(case: Case) -> Iterator[Remark]:
    """Each pool gets its part of the threads."""
    place, threads = case.option(*names.THREADS), whole(case.text(*names.THREADS)) or 0
    pools = whole(case.text(names.POOLS)) or 0
    if place is None or not threads or threads >= pools:
        return
    message = f"{threads} threads for {pools} pools ({names.POOLS}): some pools have none, and their experts wait"
    remedy = f"write {place.written} with the cores of all {pools} nodes, or {names.POOLS} 1"
    yield make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)


def without_files(case: Case) -> Iterator[Remark]:
    """Nothing is kept in host memory unless its files are named. `kt run` finds them by itself, and names them."""
    given = case.option(*_OF_ITSELF)
    if case.commands[0].program == ktransformers_read.RUN:
        return
    if given is None or case.option(names.WEIGHTS) is not None or case.open_ended or is_fragment(case.commands[0]):
        return
    if case.base != foreign_names.EXPERTS_BY_OPTION and not case.engine.facts.host_experts:
        return
    if any(word.text.partition("=")[0] in names.EXPERTS for word in case.commands[0].argv):
        return  # by its former name
    message = f"without {names.WEIGHTS} the other options have no effect: all experts are loaded to the devices"
    remedy = f"add {names.WEIGHTS} with the files that the method reads"
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, given.written, message, remedy, at=given.index)


def more_than_experts(case: Case) -> Iterator[Remark]:
    """More experts on the devices than a layer has, of models that are not planned."""
    place, named = case.option(names.ON_DEVICES), named_model(case)
    count = whole(case.text(names.ON_DEVICES)) or 0
    if place is None or named is None or not named.model.experts or count <= named.model.experts:
        return
    message = f"{count}: a layer of {named.model.title} has {named.model.experts} experts"
    remedy = f"write {names.ON_DEVICES} {named.model.experts} or less"
    yield make_remark(Severity.WARNING, Code.INVALID_VALUE, names.ON_DEVICES, message, remedy, at=place.index)


def _path(place: Occurrence | None) -> str:
    value = place.value.strip("'\"").rstrip("/") if place is not None and isinstance(place.value, str) else ""
    return "" if unresolved(value) else value


WEIGHT_CHECKS: Final = (files_of_method, threads_of_pools, without_files, more_than_experts)
