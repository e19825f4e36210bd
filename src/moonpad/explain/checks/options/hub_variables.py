"""Variables by the beginning of the Hub's library that it does not read: nearly the right name, or none at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.known_variables import library_variables
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.repository_names import REPOSITORY
from moonpad.explain.results import Remark
from moonpad.values.finding import Code, Finding, Severity

_TOKEN: Final = re.compile(r"(?:HF|HUGGING_?FACE)(?:_?HUB)?_(?:(?:API|ACCESS|AUTH)_)?(?:TOKEN|KEY)")
"""What is meant as the token by which the Hub knows a person."""
_READ: Final = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""Those of them that the library reads (huggingface_hub, utils/_auth.py)."""
_GATED: Final = re.compile(
    r"(?:meta-llama|CohereLabs|black-forest-labs)/|google/(?:code)?gemma|mistralai/M", re.IGNORECASE
)
"""Repositories whose files the Hub hands out to known persons alone."""
_BEGINS: Final = "HF_HUB_"
_OPPOSITES: Final = {"ENABLE": "DISABLE", "DISABLE": "ENABLE", "USE": "DISABLE"}
_OFF: Final = frozenset({"0", "false", "no", "off"})


def variables_of_hub(case: Case) -> Iterator[Remark]:
    """`HF_HUB_ENABLE_XET=0` for `HF_HUB_DISABLE_XET=1`, and names that no release of the library reads."""
    for number, command in enumerate(case.commands):
        for name, word in command.env.items():
            if _TOKEN.fullmatch(name) or not name.startswith(_BEGINS) or name in library_variables():
                continue
            value = word.text.removeprefix(f"{name}=").strip("'\"").casefold()
            verb, _, what = name.removeprefix(_BEGINS).partition("_")
            opposite = f"{_BEGINS}{_OPPOSITES.get(verb, '')}_{what}"
            message = f"huggingface_hub reads no {name}: it is ignored without a warning"
            if opposite not in library_variables() or value not in _OFF:
                finding = Finding(Severity.NOTE, Code.DEAD_ENV, name, message, "leave it out")
                yield Remark(finding, command=number, variable=name, drop_variable=True)
                continue
            message = f"{message}, and {opposite} decides"
            finding = Finding(Severity.WARNING, Code.DEAD_ENV, name, message, f"write {opposite}=1")
            yield Remark(finding, command=number, variable=name, drop_variable=True, sets=((opposite, "1"),))


def token_of_hub(case: Case) -> Iterator[Remark]:
    """`-e HUGGINGFACE_TOKEN=…` for a model that is downloaded: the library reads HF_TOKEN."""
    command, model = case.commands[0], case.first.model
    name = next((name for name in command.env if _TOKEN.fullmatch(name) and name not in _READ), "")
    if not name or any(each in command.env for each in _READ) or not REPOSITORY.fullmatch(model) or command.custom:
        return
    script = case.script
    script.budget.once("names of a token", len(script.lines), "the text around its engine commands")
    used = re.compile(rf"\$\{{?{name}\b|\blogin\b")
    if any(used.search(line[:2000]) or any(f"{each}=" in line for each in _READ) for line in script.lines):
        return
    gated = _GATED.match(model) is not None
    message = f"huggingface_hub reads {_READ[0]}, and no {name}: the download goes without a token"
    if gated:
        message += ", and this repository is gated (401)"
    severity = Severity.WARNING if gated else Severity.NOTE
    yield Remark(Finding(severity, Code.DEAD_ENV, name, message, f"name it {_READ[0]}"), command=0, variable=name)
