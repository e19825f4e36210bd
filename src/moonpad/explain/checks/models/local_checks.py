"""Engines of one machine: how the experts in RAM are read, and which chat template is used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from moonpad.catalog.models import find_model
from moonpad.engines import foreign_names as names
from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.other_families import is_other
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_TEMPLATE_FILE: Final = re.compile(r"[^\s{}%]{1,400}\.(?:jinja2?|j2|txt|json)", re.IGNORECASE)
_NAME: Final = re.compile(r"[A-Za-z][\w.-]{1,40}", re.ASCII)
_JINJA: Final = "--jinja"
_FAMILY: Final = re.compile(r"kimi[-_ ]?k?[23]", re.IGNORECASE)


def expert_method(case: Case) -> Iterator[Remark]:
    """A method for original weights in another format than these have."""
    place, checkpoint = case.option(names.EXPERT_METHOD), case.checkpoint
    if not case.engine.facts.host_experts or place is None or checkpoint is None or not isinstance(place.value, str):
        return
    method, scheme = place.value.strip("'\"").upper(), checkpoint.quantization.scheme
    weights = case.text(names.EXPERT_WEIGHTS).rstrip("/")
    other = weights and weights != case.first.model.rstrip("/")
    if other and ((model := find_model(weights)) is None or model is not find_model(checkpoint.name)):
        return  # converted, or of another kind
    if method not in names.EXPERT_METHODS or scheme in names.EXPERT_METHODS[method] or scheme == "gguf":
        return
    right = names.EXPERT_METHOD_OF.get(scheme, "")
    message = f"{method}: the weights of {checkpoint.name} are {scheme.upper()}"
    message += f", which {right} reads as they are" if right else ""
    edits = [Edit(place.index, place.length, (names.EXPERT_METHOD, right))] if right else []
    remedy = f"write {names.EXPERT_METHOD} {right}, or give weights of that kind" if right else "take other weights"
    where = names.EXPERT_METHOD
    yield make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy, at=place.index, edits=edits)


def chat_template(case: Case) -> Iterator[Remark]:
    """A file where a name or the text itself is taken, or the name of another family's template."""
    place = case.option(names.TEMPLATE)
    if not case.engine.facts.gguf_only or place is None or not isinstance(place.value, str):
        return
    value = place.value.strip("'\"")
    if unresolved(value):
        return
    if _TEMPLATE_FILE.fullmatch(value):
        message = f"{shortened(value)} is taken for the template itself: each prompt is that name and nothing else"
        edit = Edit(place.index, place.length, (names.TEMPLATE_FILE, place.value))
        remedy = f"write {names.TEMPLATE_FILE} {shortened(value)}"
        code, where = Code.INVALID_VALUE, names.TEMPLATE
        yield make_remark(Severity.WARNING, code, where, message, remedy, at=place.index, edits=[edit])
    elif value in names.TEMPLATES and _of_family(case):
        message = (
            f"{value} is the format of another family: Kimi has special tokens of its own, and the GGUF brings them"
        )
        edit = Edit(place.index, place.length, ())
        remedy = "leave it out, and add --jinja for tool calls"
        code, where = Code.CONFLICT, names.TEMPLATE
        yield make_remark(Severity.WARNING, code, where, message, remedy, at=place.index, edits=[edit])
    elif not case.commands[0].fork and (told := _of_name(value, case.option(_JINJA))):
        remedy = "leave it out: the GGUF brings the model's own template"
        if near := next(iter(get_close_matches(value, (names.OWN_TEMPLATE, *sorted(names.TEMPLATES)), n=1)), ""):
            remedy += "" if near == value else f"; without Jinja it would be {near}"
        edit = Edit(place.index, place.length, ())
        code, where = Code.INVALID_VALUE, names.TEMPLATE
        yield make_remark(Severity.WARNING, code, where, told, remedy, at=place.index, edits=[edit])


def _of_name(value: str, jinja: Occurrence | None) -> str:
    """Why a word is not a template: a name that nothing has, or any name where Jinja is asked for; "" where it is."""
    if not _NAME.fullmatch(value) or value == names.PLAIN_TEMPLATE:
        return ""
    if value in names.TEMPLATES or value == names.OWN_TEMPLATE:
        with_jinja = jinja is not None and jinja.value not in (False, "false")
        text = f"beside {_JINJA} names are not looked up: {value} is taken for the template itself, and each prompt is"
        return f"{text} that word and nothing else" if with_jinja else ""
    text = (
        f"no template that is built in is called {value}: it is taken for the template itself, so each prompt is that"
    )
    return f"{text} word, and without Jinja the start ends"


def _of_family(case: Case) -> bool:
    if case.checkpoint is not None:
        return not is_other(case.checkpoint)
    return _FAMILY.search(case.first.model) is not None
