"""Known reports that a report of a failure is about, which has no command: by the model, the devices, the release and
the options that it names.

A row has to ask for more than the model, and all that it asks for has to stand in the text. What a row wants left out
says something only where an option that it wants is there: a report does not list all of its command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from typing import Final

from msgspec import Struct

from moonpad.catalog.hardware import find_hardware
from moonpad.catalog.known_reports import KnownReport, known_reports, reports_of
from moonpad.catalog.options import versions
from moonpad.catalog.toml_rows import any_of
from moonpad.engines import ENGINES
from moonpad.engines.ascend_names import TRANSFER_OPTION
from moonpad.explain.checks.command_traits import unnamed_device
from moonpad.explain.checks.releases.known_reports import fits
from moonpad.explain.checks.releases.report_rows import of_release
from moonpad.explain.checks.releases.report_words import told
from moonpad.explain.checks.releases.told_faults import complains_in
from moonpad.explain.commands import Script
from moonpad.explain.documents.bare_versions import bare_version
from moonpad.explain.documents.device_mentions import mentions
from moonpad.explain.documents.spoken_capabilities import spoken_capability
from moonpad.explain.documents.spoken_names import NAME
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_APART: Final = re.compile(r"(?<![a-z])(kimi|glm|minimax|deepseek)[ _]?(?=[kmvr]?[0-9])", re.IGNORECASE)
"""`MiniMax M2.5`, `GLM5`: names as people write them."""
_RELEASE: Final = re.compile(
    r"(?<![\w.:/=<>-])v?([0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,3}(?:rc[0-9]|\.post[0-9])?)(?![\w.]*[\w])"
)
_GENERATIONS: Final = {"Ampere": ("8.0", "8.6"), "Hopper": ("9.0",)}
_GENERATION: Final = re.compile(rf"\b(?:{'|'.join(_GENERATIONS)})\b")
_ASKS: Final = re.compile(r"only|support|requires?|need", re.IGNORECASE)
"""`only supported on Hopper` says what an engine asks for, not what there is."""
_LONGEST: Final = 2000
_ROLE: Final = '{"kv_role": "kv_producer"}'
_OF_PREFILL: Final = re.compile(
    r"(?<!\w)(?:[1-9]\d?P[1-9]\d?D|P[ -]nodes?|P节点|P 节点|prefill[ -](?:nodes?|servers?))(?![A-Za-z])", re.IGNORECASE
)
"""Nodes that are told so: `2P1D`, `the P nodes`."""


class Spoken(Struct, frozen=True):
    """What a report names. `kinds` are what one device may be called, for each kind that it may be."""

    lines: Sequence[str]
    names: Sequence[str]
    kinds: Sequence[Set[str]]
    device: str
    """What they are called, where they are of one kind."""
    version: str


def spoken_of(script: Script, engine: str) -> Spoken:
    """`lines` of a name with a blank have it as publishers write it."""
    lines = [_APART.sub(r"\1-", line[:_LONGEST]) for line in script.lines]
    names = list(dict.fromkeys(match[0] for line in lines for match in NAME.finditer(line)))
    version = script.versions.get(engine, "") or _only_release(lines, engine) or _of_branch(lines, engine)
    named = list(dict.fromkeys(each.kind for each in mentions(script.lines, script.placed_hints)))
    return Spoken(lines, names, _kinds(named, script), named[0] if len(named) == 1 else "", version)


def rows_of(engine: str, spoken: Spoken) -> Iterator[Remark]:
    for row in known_reports().values():
        if (
            engine in row.engines
            and not row.fork
            and not (row.usual and not (row.complained_of and complains_in(spoken.lines, row.text)))
            and row.models
            and (name := _is_about(row, spoken, engine))
        ):
            device = spoken.device or unnamed_device("")
            known = {"model": name.rpartition("/")[2], "device": device, "version": spoken.version or "this release"}
            where = next(iter((*(any_of(flag)[0] for flag in row.options), *row.variables)), name)
            message = told(row, ENGINES[engine].facts.title, known)
            yield make_remark(Severity.WARNING, Code.KNOWN_REPORT, where, message, row.remedy.format_map(known))


def _is_about(row: KnownReport, spoken: Spoken, engine: str) -> str:
    """The name of the model that it is about; "" where it is about something else, or that is not known."""
    if not (row.devices or row.options or row.variables or row.text) or row.image or row.weights or row.other_devices:
        return ""
    if (row.until or row.last) and not spoken.version:
        return ""
    if not of_release(row, spoken.version) or (row.devices and not _on(row.devices, spoken.kinds)):
        return ""
    name = next((name for name in spoken.names if re.search(row.models, name, re.IGNORECASE)), "")
    if not name or ((row.lacks or row.unset) and not row.options):
        return ""
    if any(_is_written(word, spoken.lines) for word in (*row.lacks, *row.unset)):
        return ""
    if row.text and not any(re.search(row.text, line, re.IGNORECASE) for line in spoken.lines):
        return ""
    given = all(
        any(_is_given(flag, value, spoken.lines, engine) for flag in any_of(term))
        for term, value in row.options.items()
    )
    return name if given and all(_is_set(name, value, spoken.lines) for name, value in row.variables.items()) else ""


def _on(devices: Sequence[str], kinds: Sequence[Set[str]]) -> bool:
    wanted = {word.casefold() for word in devices}
    return bool(kinds) and all(wanted & kind for kind in kinds)


def _kinds(named: Sequence[str], script: Script) -> Sequence[Set[str]]:
    found: list[Set[str]] = []
    for kind in named:
        row = find_hardware(kind)
        device = row.device if row is not None else None
        words = [kind, *([device.id, device.platform, device.capability, device.product] if device is not None else [])]
        found.append({word.casefold() for word in words if word})
    spoken = spoken_capability(script)
    if found or spoken:
        return found or [{spoken}]
    generations = {
        match[0]
        for line in script.lines
        if (text := line[:_LONGEST]) and (match := _GENERATION.search(text))
        if not _ASKS.search(text[: match.start()])
    }
    return [{each} for each in _GENERATIONS[generations.pop()]] if len(generations) == 1 else []


def _only_release(lines: Sequence[str], engine: str) -> str:
    """A release of the engine that stands alone, where the text has no other: one that is recorded, or reported of."""
    rows = reports_of(engine)
    known = {*versions(ENGINES[engine].program)} | {name for row in rows for name in (row.since, row.until, row.last)}
    found = {match[1] for line in lines for match in _RELEASE.finditer(line) if match[1] in known}
    return found.pop() if len(found) == 1 else ""


def _of_branch(lines: Sequence[str], engine: str) -> str:
    return (
        bare_version(tuple(lines), versions(ENGINES[engine].program))
        if any("release" in line for line in lines)
        else ""
    )


def _is_written(word: str, lines: Sequence[str]) -> bool:
    plain = word.lstrip("-").replace("_", "-").casefold()
    return any(plain in line.replace("_", "-").casefold() for line in lines)


def _is_given(flag: str, value: str, lines: Sequence[str], engine: str) -> bool:
    """As an option, as a setting (`tensor_parallel_size=8`) or in words (`the aiter backend`, `TP8`)."""
    plain = re.escape(flag.lstrip("-")).replace(r"\-", "[-_]")
    patterns = [rf"(?<![\w]){plain}(?![\w-])[\"']?(?:[ ]?[=:][ ]?|[ ])(?P<value>'[^']*'|\"[^\"]*\"|[^\s,;`]+)"]
    if flag == TRANSFER_OPTION and fits(value, _ROLE) and any(_OF_PREFILL.search(line) for line in lines):
        return True
    if not value:
        patterns = [rf"(?<![\w]){plain}(?![\w-])(?P<value>)"]
    elif flag == ENGINES[engine].command_line.options.get("tp"):
        patterns.append(r"(?<![\w.-])tp(?:[ _-]?size)?[ ]?[=:]?[ ]?(?P<value>[0-9]{1,3})(?![\w.])")
    elif flag.endswith("-backend"):
        patterns.append(r"(?<![\w-])(?P<value>[\w-]{3,40})[ ](?:attention[ ])?backend\b")
    return any(
        fits(value, match["value"].strip("`"))
        for pattern in patterns
        for line in lines
        for match in re.finditer(pattern, line, re.IGNORECASE)
    )


def _is_set(name: str, value: str, lines: Sequence[str]) -> bool:
    pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?:[ ]?[=:][ ]?|[ ])[\"']?(?P<value>[\w.,-]+)")
    return any(not value or fits(value, match["value"]) for line in lines for match in pattern.finditer(line))
