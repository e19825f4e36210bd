"""Variables that stand for an option, under a name of the option that is not the variable's: `LLAMA_ARG_NGL`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from moonpad.catalog.options import ever_known_environment, option_set
from moonpad.engines.foreign_names import IN_PLACE_OF_OPTIONS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_SET: Final = r"(?<![\w$]){}[A-Z0-9_]{{1,60}}(?=[ ]?[=:])"
_NAMED: Final = r"(?<=name:[ ]){}[A-Z0-9_]{{1,60}}"
_COUNT: Final = "N_"
_INNER: Final = "ARG_"
_NEGATES: Final = "NO_"
_ALIKE: Final = 0.93
_LONGEST: Final = 2000


def variables_for_options(case: Case) -> Iterator[Remark]:
    """One warning for the first that the program does not read, and that is close to one that it reads."""
    program, script = case.commands[0].program, case.script
    begins = IN_PLACE_OF_OPTIONS.get(program, "")
    known = ever_known_environment(program) if begins else frozenset()
    if not known or case.commands[0].fork or not is_first(case.commands, script):
        return
    script.budget.work(len(script.lines), "its variables")
    pattern = _pattern(begins)
    for number, line in enumerate(script.lines, 1):
        for match in pattern.finditer(line[:_LONGEST]) if begins in line else ():
            name = match[0]
            meant = "" if name in known else _meant(name, program, begins)
            if meant and _is_near(name, meant) and any(name in command.env for command in case.commands):
                continue  # said where its variables are read
            if meant and not re.search(rf"\$\{{?{name}\b", "\n".join(script.lines)):
                message = (
                    f"{script.where(number)}: {shortened(name)} is not read: the variable of that option is {meant}"
                )
                remark = make_remark(Severity.WARNING, Code.DEAD_ENV, name, message, f"write {meant}")
                yield replace(remark, command=None)
                return


def _is_near(name: str, meant: str) -> bool:
    return difflib.SequenceMatcher(None, name, meant).ratio() >= _ALIKE


@cache
def _pattern(begins: str) -> re.Pattern[str]:
    return re.compile(f"{_SET.format(begins)}|{_NAMED.format(begins)}")


@cache
def _meant(name: str, program: str, begins: str) -> str:
    """The variable of the option that this is another name of, or one that is a letter away; "" where neither is."""
    known = ever_known_environment(program)
    if name.startswith(f"{begins}{_NEGATES}"):
        return ""  # some of them are read, and are in no list
    word = name.removeprefix(begins).lower().replace("_", "-")
    options = option_set(program)
    option = next((found for dashes in ("-", "--") if options and (found := options.named(dashes + word))), None)
    words = [each.lstrip("-").upper().replace("-", "_") for each in (option.names if option else ())]
    others = [f"{begins}{count}{each}" for each in words for count in ("", _COUNT)]
    others += [name.rpartition("_")[0], f"{begins.removesuffix(_INNER)}{name.removeprefix(begins)}"]
    alike = difflib.get_close_matches(name, sorted(known), n=1, cutoff=_ALIKE)
    return next((other for other in others if other in known), "") or next(iter(alike), "")
