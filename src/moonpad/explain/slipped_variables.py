"""Variables with other signs between their words than any that is read, a hyphen or two underscores, with their words
in another order, or with the name of the library that is not that of its variables."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from moonpad.catalog.options import ever_known_environment
from moonpad.catalog.options.config_keys import key_of_variable
from moonpad.engines.foreign_names import OWN_VARIABLES
from moonpad.explain.change_edits import keys_of_variables
from moonpad.explain.commands import Word
from moonpad.explain.manifests.option_sources import Rulebook
from moonpad.explain.misspelt_variables import chooses_devices, under_name
from moonpad.explain.results import Edit, Remark
from moonpad.explain.spelling import cannot_be_typed
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace

_SEPARATORS: Final = re.compile(r"[-_.]+")
_NCCL_UNDER_RCCL: Final = frozenset(
    f"RCCL_{name}"
    for name in (
        *("SOCKET_IFNAME", "SOCKET_FAMILY", "IB_HCA", "IB_DISABLE", "IB_GID_INDEX", "IB_TC"),
        *("IB_TIMEOUT", "NET_GDR_LEVEL", "P2P_DISABLE", "MIN_NCHANNELS", "MAX_NCHANNELS"),
    )
)
"""RCCL reads these as NCCL_…: https://rocm.docs.amd.com/projects/rccl/en/latest/api-reference/env-variables.html."""
_LEAST: Final = 2
"""Underscores of a name whose words can stand in another order."""


def slips_in(
    variables: Mapping[str, Word], declared: Collection[str], book: Rulebook, argv: Sequence[Word]
) -> tuple[Mapping[str, Remark], Mapping[str, str]]:
    """A finding for each variable that no program reads by this name; and for each variable that the release does not
    declare, or the one that is meant by it, the key that has taken its place, "" where none has."""
    known = {*ever_known_environment(book.program), *declared}
    spelled = {name: meant_by_words(name, known) for name in variables if name not in known}
    meant = {name: right for name, right in spelled.items() if right in known}
    dead = {name: meant.get(name, name) for name in variables if name not in declared}
    keys = {name: key_of_variable(book.program, right, book.options.version) for name, right in dead.items()}
    slipped = [name for name in variables if name in meant or cannot_be_typed(name)]
    return {name: _remark(name, meant, declared, keys, book, variables, argv) for name in slipped}, keys


def meant_by_words(name: str, known: Collection[str]) -> str:
    """`VLLM_ROCM_USE_AITER` for `VLLM_USE_ROCM_AITER`, where one name alone has the same words."""
    usual = _SEPARATORS.sub("_", name)
    if usual in _NCCL_UNDER_RCCL:
        return f"N{usual[1:]}"
    if usual in known or usual.count("_") < _LEAST or not usual.startswith(OWN_VARIABLES):
        return usual
    words = sorted(usual.split("_"))
    fitting = [each for each in known if len(each) == len(usual) and sorted(each.split("_")) == words]
    return fitting[0] if len(fitting) == 1 else usual


def _remark(
    name: str,
    slips: Mapping[str, str],
    declared: Collection[str],
    keys: Mapping[str, str],
    book: Rulebook,
    variables: Mapping[str, Word],
    argv: Sequence[Word],
) -> Remark:
    """With what is meant in its place, as far as the release still reads that."""
    meant = slips.get(name)
    message = "no program that is known reads a variable of this name"
    message += ", and a shell cannot set it" if cannot_be_typed(name) else ": it is ignored without a warning"
    severity, remedy = Severity.NOTE, "leave it out"
    edits: tuple[Edit, ...] = ()
    if meant is not None or name.startswith(OWN_VARIABLES):
        severity = Severity.WARNING
    if meant is not None:
        remedy = f"did you mean {meant}?"
        if meant not in declared:
            option, _, path = keys[name].partition(".")
            remedy += f" {book.label} has {path} in {option} for it" if path else f" {book.label} does not read it"
            edits = keys_of_variables(name, keys, variables, argv) if path else ()
    remark = Remark(Finding(severity, Code.DEAD_ENV, name, message, remedy), variable=name, drop_variable=True)
    if meant is not None and meant in declared and not chooses_devices(meant):
        return under_name(remark, meant, variables)
    return replace(remark, edits=edits)
