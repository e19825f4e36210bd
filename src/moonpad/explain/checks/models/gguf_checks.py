"""Engines of GGUF files: which file of a set is named, and what a quantised cache of values needs."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines import gguf_types
from moonpad.engines.host_expert_names import OLD_PROGRAMS
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.latent_cache import latent_of_plain
from moonpad.explain.checks.models.split_experts import up_apart_from_gate
from moonpad.explain.checks.models.tensor_lists import blanks_in_lists
from moonpad.explain.checks.models.tensor_orders import pattern_never_asked
from moonpad.explain.checks.releases.format_plugins import format_of_plugin
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.versions import since

_PART: Final = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
_LONGEST: Final = 2000
_SPLIT: Final = "--split-mode"
_MAIN: Final = "--main-gpu"
_PUT: Final = "--override-tensor"
_CARD: Final = re.compile(r"([A-Za-z]+)(\d{1,2})")
_LETTERS: Final = string.ascii_letters
_PUT_BY_VARIABLE: Final = re.compile(r"(?:-ot|--override-tensor)[ \t=]+\S*=[\"']?\$")
_WHOLE: Final = frozenset({"f16", "f32", "bf16"})
_BLOB: Final = re.compile(r"(?:^|/)models/blobs/sha256[-:][0-9a-f]{8,64}$")
"""A file of Ollama's store, which is called by its hash."""


def first_part(case: Case) -> Iterator[Remark]:
    """The set is found from its first file."""
    place = case.option("--model")
    if not case.engine.facts.gguf_only or place is None or not isinstance(place.value, str):
        return
    path = place.value.strip("'\"")
    part = _PART.search(path)
    if part is None or unresolved(path) or int(part[1]) == 1:
        return
    first = f"{path[: part.start(1)]}00001{path[part.end(1) :]}"
    message = f"{shortened(path.rpartition('/')[2])} is part {int(part[1])} of {int(part[2])}: a set is read from its"
    message += " first file, and the start ends with another"
    edit = Edit(place.index, place.length, (place.written, first))
    remedy = f"name the file -00001-of-{part[2]}.gguf"
    yield make_remark(Severity.ERROR, Code.INVALID_VALUE, place.written, message, remedy, at=place.index, edits=[edit])


def values_in_cache(case: Case) -> Iterator[Remark]:
    """Values in the cache are quantised with flash attention alone."""
    place = case.option("--cache-type-v")
    if not case.engine.facts.gguf_only or place is None or not isinstance(place.value, str):
        return
    form = place.value.strip("'\"").casefold()
    attention = case.option(names.FLASH)
    by_default = not case.version or since(case.version, names.FLASH_BY_ITSELF)
    value = attention.value if attention is not None else None
    off = value in ("off", "0", "false") or (attention is None and not by_default)
    if form in _WHOLE or unresolved(form) or not off:
        return
    switch = f"{names.FLASH} on" if by_default else names.FLASH
    why = f"{attention.written} {value}" if attention is not None else f"without {names.FLASH} of this build"
    message = f"{form} for values of the cache wants flash attention, which is off ({why}): the start ends"
    edits = [Edit(attention.index, attention.length, tuple(switch.split()))] if attention is not None else []
    edits = edits or [Edit(len(case.commands[0].argv), 0, tuple(switch.split()))]
    remedy = f"write {switch}, or leave {place.written} out"
    severity = Severity.WARNING if by_default else Severity.ERROR  # with latent attention later builds keep no values
    yield make_remark(severity, Code.CONFLICT, place.written, message, remedy, at=place.index, edits=edits)


def foreign_types(case: Case) -> Iterator[Remark]:
    """Weights of a type that one fork alone has, for another loader."""
    if any(command.fork and command.program not in OLD_PROGRAMS for command in case.script.commands):
        return
    if not (case.engine.facts.gguf_only or case.engine.facts.reads_gguf):
        return
    for flag in gguf_types.FILES:
        place = case.option(flag)
        value = place.value.strip("'\"") if place is not None and isinstance(place.value, str) else ""
        match = gguf_types.OF_FORK.search(value[-_LONGEST:])
        if place is None or match is None:
            continue
        kind, title = match[0].upper(), case.engine.facts.title
        message = (
            f"{kind}, by its name, is a type of {gguf_types.FORK} alone: {title} does not know its number and ends"
        )
        message += (
            " while it loads, unless this is a build of that fork" if case.engine.facts.gguf_only else " as it loads"
        )
        remedy = f"take a file of a type that all read, Q4_K_M or IQ4_XS, or start it by {gguf_types.FORK}"
        yield make_remark(Severity.WARNING, Code.UNSUPPORTED_FORMAT, place.written, message, remedy, at=place.index)
        return


def blob_of_store(case: Case) -> Iterator[Remark]:
    """A file that another program keeps for itself, and writes with types of its own."""
    place = case.option("--model")
    if not case.engine.facts.gguf_only or place is None or not isinstance(place.value, str):
        return
    if not _BLOB.search(place.value.strip("'\"")[-_LONGEST:]):
        return
    message = "the file is from Ollama's store: some of its models hold tensors under numbers of Ollama's own "
    message += f"(gpt-oss: MXFP4 as type 4), which {case.engine.facts.title} does not read"
    remedy = f"take a GGUF that was made for {case.engine.facts.title}, if the load ends at a tensor's type"
    yield make_remark(Severity.NOTE, Code.UNSUPPORTED_FORMAT, place.written, message, remedy, at=place.index)


def main_card(case: Case) -> Iterator[Remark]:
    """One card alone computes, and tensors are put on another."""
    place = case.option(_SPLIT)
    if not case.engine.facts.gguf_only or place is None or place.value != "none" or case.option("--device") is not None:
        return
    main = whole(case.text(_MAIN)) if case.option(_MAIN) is not None else 0
    if main is None:
        return  # a variable
    shares = [part for part in case.text("--tensor-split").split(",") if part.strip(" 0.")]
    elsewhere = {card[0]: int(card[2]) for card in _cards(case) if int(card[2]) != main}
    why = f"{place.written} none leaves card {main} alone at work"
    if elsewhere:
        cards = ", ".join(shortened(each, 20) for each in sorted(elsewhere))
        message = (
            f"{why}, and --override-tensor puts tensors on {cards}, which computes nothing: the start or the first "
        )
        message += "request fails"
        one = next(iter(elsewhere.values())) if len(elsewhere) == 1 else None
        remedy = f"write {_MAIN} {one}" if one is not None and not _on(case, main) else f"write {_SPLIT} layer"
    elif len(shares) > 1:
        message = f"{why}: --tensor-split over {len(shares)} cards has no effect"
        remedy = f"write {_SPLIT} layer, or leave --tensor-split out"
    elif (other := _by_variable(case, main)) and case.option(_MAIN) is None:
        message = (
            f"{why}; the card of --override-tensor is a variable here, and with {other} in it that one has to be the "
        )
        message += "main card too"
        remedy = f"add {_MAIN} {other.lstrip(_LETTERS)} together with {other}"
    else:
        return
    severity = Severity.WARNING if elsewhere or len(shares) > 1 else Severity.NOTE
    yield make_remark(severity, Code.CONFLICT, _SPLIT, message, remedy, at=place.index)


def _cards(case: Case) -> Iterator[re.Match[str]]:
    """`CUDA1` of `attn=CUDA1`, of each pattern."""
    for option in case.first.parsed.occurrences:
        if option.flag == _PUT and isinstance(option.value, str):
            for part in option.value.strip("'\"").split(","):
                if card := _CARD.fullmatch(part.rpartition("=")[2].strip()):
                    yield card


def _on(case: Case, main: int) -> bool:
    return any(int(card[2]) == main for card in _cards(case))


def _by_variable(case: Case, main: int) -> str:
    """Another card that the text names beside the one that a variable puts into the patterns."""
    names_of = {card[1] for card in _cards(case)}
    if len(names_of) != 1:
        return ""
    lines = case.script.lines
    case.script.budget.work(len(lines), "the text around its engine commands")
    if not any(_PUT_BY_VARIABLE.search(line[:_LONGEST]) for line in lines):
        return ""
    named = re.compile(rf"(?<![\w=]){re.escape(names_of.pop())}(\d{{1,2}})(?!\w)")
    others = {found[0] for line in lines for found in named.finditer(line[:_LONGEST]) if int(found[1]) != main}
    return others.pop() if len(others) == 1 else ""


GGUF_CHECKS: Final = (
    first_part,
    values_in_cache,
    foreign_types,
    blob_of_store,
    main_card,
    blanks_in_lists,
    pattern_never_asked,
    up_apart_from_gate,
    format_of_plugin,
    latent_of_plain,
)
