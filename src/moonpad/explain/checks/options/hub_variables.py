"""Variables by the beginning of the Hub's library that it does not read: nearly the right name, or none at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.known_variables import library_variables
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark
from moonpad.values.finding import Code, Finding, Severity

_BEGINS: Final = "HF_HUB_"
_OPPOSITES: Final = {"ENABLE": "DISABLE", "DISABLE": "ENABLE", "USE": "DISABLE"}
_OFF: Final = frozenset({"0", "false", "no", "off"})


def variables_of_hub(case: Case) -> Iterator[Remark]:
    """`HF_HUB_ENABLE_XET=0` for `HF_HUB_DISABLE_XET=1`, and names that no release of the library reads."""
    for number, command in enumerate(case.commands):
        for name, word in command.env.items():
            if not name.startswith(_BEGINS) or name in library_variables():
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
