"""Files that the server of 2025 reads: its rules by their right name, and weights that are named at all."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from moonpad.engines import host_expert_names as names
from moonpad.engines.host_expert_rule_files import RULE_FILES
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_SHIPPED: Final = "optimize/optimize_rules/"
_END: Final = ".yaml"
_ALIKE: Final = 0.92


def rules_by_their_name(case: Case) -> Iterator[Remark]:
    """`optimize_rules/SmallThinker-serve.yaml`, where the engine brings `Smallthinker-serve.yaml`."""
    place = case.option(*names.RULES)
    value = place.value.strip("'\"") if place is not None and isinstance(place.value, str) else ""
    folder, _, file = value.rpartition("/")
    if place is None or _SHIPPED not in value or not file.endswith(_END) or unresolved(value):
        return
    name = file.removesuffix(_END)
    if name in RULE_FILES:
        return
    same = [known for known in RULE_FILES if known.casefold() == name.casefold()]
    right = next(iter(same or get_close_matches(name, RULE_FILES, n=1, cutoff=_ALIKE)), "")
    if not right:
        return
    message = f"{shortened(file, 60)}: among the files that the engine brings it is {right}{_END}: the start ends "
    message += "where no file of that name was added"
    path = f"{folder}/{right}{_END}"
    edit = Edit(place.index, place.length, (place.written, path))
    remedy = f"write {shortened(path, 100)}"
    yield make_remark(
        Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index, edits=[edit]
    )


def weights_not_named(case: Case) -> Iterator[Remark]:
    """No `--gguf_path`: the chat asks for it, and the server takes the folder of its own configuration file."""
    command = case.commands[0]
    if command.program not in names.OLD_PROGRAMS or case.option(names.FOLDER) is not None or case.open_ended:
        return
    if case.option(names.MODEL) is None or is_fragment(command) or command.fork:
        return
    of_server = command.program == names.OLD_PROGRAMS[0]
    message = f"the weights are read from the GGUF files of {names.FOLDER}, which is not given: "
    message += (
        "the folder in the server's own config.yaml is taken" if of_server else "the chat asks for it at its start"
    )
    remedy = f"add {names.FOLDER} with the folder of the model's GGUF files"
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, names.FOLDER, message, remedy)


HOST_EXPERT_FILES: Final = (rules_by_their_name, weights_not_named)
