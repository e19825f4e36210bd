"""What a pod asks for, against the quota of its namespace: an object of the text, or a size that the text tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    BYTES,
    Fields,
    PodObject,
    fields_of,
    inner,
    items_of,
    own_container,
    pod_objects,
    text_of,
)
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_AMOUNT: Final = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,3})?)(?P<unit>[kKMGT]i?|m|)")
_UNITS: Final = {**BYTES, "m": 1e-3, "K": 1e3}
_HARD: Final = {
    "memory": ("requests", "memory"),
    "requests.memory": ("requests", "memory"),
    "limits.memory": ("limits", "memory"),
    "cpu": ("requests", "cpu"),
    "requests.cpu": ("requests", "cpu"),
    "limits.cpu": ("limits", "cpu"),
    "requests.nvidia.com/gpu": ("requests", "nvidia.com/gpu"),
    "requests.amd.com/gpu": ("requests", "amd.com/gpu"),
}
"""Keys of a ResourceQuota → what of a container counts against them."""
_SIZE: Final = (
    r"[*_`\"']{0,3}(?P<size>\d{2,5}(?:\.\d)?|\d(?:\.\d{1,2})?(?=[ ]?T))[ ]?(?P<unit>[GT])i?B?(?![a-zA-Z])[*_`\"']{0,3}"
)
_TOLD: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<![\w.]){_SIZE}[ ](?:of[ ])?(?:(?:host|system|pod|namespace|total)[ ])?(?:memory|RAM)[ ]quota\b",
        rf"\b(?:memory|RAM)[ ]quota[*_`]{{0,3}}[ ]?(?:of|is|:|=|[(]|at)?[*_`]{{0,3}}[ ]{{0,2}}{_SIZE}",
        rf"\bquota[ ](?:of|is|:)[ ]?{_SIZE}[ ](?:of[ ])?(?:memory|RAM)\b",
        rf"内存配额[^\d\n]{{0,8}}{_SIZE}",
    )
)
_CHANGES: Final = re.compile(
    r"increas|rais|request|bump|extend|after|once|if\b|need|requir|at least|should|→|->|\bto[ ]\d|提升|提高|需要|至少",
    re.IGNORECASE,
)
"""A quota that there is to be, or may be."""
_NAMESPACE: Final = re.compile(r"\bnamespace[ :]{1,2}[`\"'*]{0,3}(?P<name>[a-z0-9][a-z0-9-]{0,62})", re.IGNORECASE)
_WORDS: Final = ("quota", "Quota", "配额")
_LONGEST: Final = 400


class _Quota(Struct, frozen=True):
    """What a namespace may use of `kind` of `side` in all, as it is written, and where."""

    side: str
    kind: str
    amount: float
    written: str
    line: int
    sure: bool


def namespace_quota(case: Case) -> Iterator[Remark]:
    """`memory: 650Gi` in a namespace with 500 GiB for all."""
    if not case.script.objects or not any(word in line for line in case.script.lines for word in _WORDS):
        return
    found = own_container(case)
    if found is None or found[0].templated or case.commands[0].custom:
        return
    holder, container, pod = found
    space = text_of(inner(holder.fields, "metadata", "namespace"))
    containers = [fields_of(each) for each in items_of(pod.get("containers"))] or [container]
    for quota in (*_of_objects(case, space), *_told(case, space)):
        amounts = [_asked(each, quota.side, quota.kind) for each in containers]
        whole = sum(amount for amount, _ in amounts)
        if whole <= quota.amount:
            continue
        written = next((text for amount, text in amounts if amount == whole), "") or f"{whole / 2**30:,.0f}Gi in all"
        called = f"of namespace {shortened(space, 40)} " if space else ""
        message = (
            f"{case.script.where(quota.line)}: the quota {called}is {quota.written} of {quota.kind}, and one pod "
            f"{'asks for' if quota.side == 'requests' else 'may use'} {written}: Kubernetes refuses the pod (exceeded "
            "quota)"
        )
        remedy = f"raise the quota above {written}, with room for the other pods, or {_less(quota)}"
        severity = Severity.ERROR if quota.sure else Severity.WARNING
        where = f"resources.{quota.side}.{quota.kind}"
        yield Remark(make_remark(severity, Code.CONFLICT, where, message, remedy).finding, command=None)
        return


def _less(quota: _Quota) -> str:
    return "ask for less, where what runs in it can do with less" if quota.kind == "memory" else "ask for less"


def _asked(container: Fields, side: str, kind: str) -> tuple[float, str]:
    """By one container, and as it is written. Without a request its limit counts as one."""
    sides = (side, "limits") if side == "requests" else (side,)
    text = next((text for each in sides if (text := text_of(inner(container, "resources", each, kind)))), "")
    return _amount(text), text


def _amount(text: str) -> float:
    match = _AMOUNT.fullmatch(text)
    return float(match["number"]) * _UNITS[match["unit"]] if match else 0


def _of_objects(case: Case, space: str) -> Iterator[_Quota]:
    for each in pod_objects(case.script):
        if each.kind == "ResourceQuota" and not each.templated:
            yield from _of_object(each, space)


def _of_object(quota: PodObject, space: str) -> Iterator[_Quota]:
    own = text_of(inner(quota.fields, "metadata", "namespace"))
    spec = fields_of(quota.fields.get("spec"))
    if (own and space and own != space) or "scopes" in spec or "scopeSelector" in spec:
        return
    for key, node in fields_of(spec.get("hard")).items():
        amount, place = _amount(text_of(node)), _HARD.get(key)
        if place is not None and amount:
            line = quota.offset + node.start_mark.line
            yield _Quota(*place, amount, text_of(node), line, sure=bool(own) and own == space)


def _told(case: Case, space: str) -> Iterator[_Quota]:
    """The largest that the text tells, where it is not one that is to come."""
    case.script.budget.work(len(case.script.lines), "the quota of its text")
    told: list[tuple[float, str, int]] = []
    for number, whole in enumerate(case.script.lines, 1):
        line = whole[:_LONGEST]
        if not any(word in line for word in _WORDS) or _CHANGES.search(line):
            continue
        named = _NAMESPACE.search(line)
        if named is not None and space and named["name"] != space:
            continue
        for match in (match for pattern in _TOLD for match in pattern.finditer(line)):
            unit = match["unit"].upper()
            told.append((float(match["size"]) * _UNITS[f"{unit}i"], f"{match['size']}{unit}i", number))
    if told:
        amount, written, line_number = max(told)
        yield _Quota("requests", "memory", amount, written, line_number, sure=False)
