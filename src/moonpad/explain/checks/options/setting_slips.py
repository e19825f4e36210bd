"""Settings that do not arrive: an option with a colon in place of a blank, a variable named after an option, a file of
weights where a folder is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.known_variables import library_variables
from moonpad.catalog.options import ever_known_environment, option_set
from moonpad.catalog.options.config_keys import key_tables, keys_of
from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import as_json
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.explain.value_forms import COLON
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace

_LONGEST: Final = 2000
_AS_IT_IS: Final = ("--kv-transfer-config", "--additional-config")
_EXTRA: Final = "kv_connector_extra_config"
_IN_PYTHON: Final = re.compile(
    r"[ \t>.]*os\.environ(?:\[[\"'](?P<name>\w{1,80})[\"']\][ \t]*=[ \t]*"
    r"|\.setdefault\([\"'](?P<other>\w{1,80})[\"'],[ \t]*)"
    r"(?P<value>-?\d+(?:\.\d+)?|True|False|None)[ \t]*\)?[ \t]*(?:#.*)?"
)
_LLM_SERVICE: Final = re.compile(r"[ ]*kind:[ ]*LLMInferenceService(?:Config)?\b")
_MOST: Final = 3
_LEAST: Final = 4
"""Letters of an option that a variable is surely named after."""


def colon_for_blank(case: Case) -> Iterator[Remark]:
    """`--cpu_infer:16`: no option of any engine has a colon in its name."""
    for number, command in enumerate(case.commands):
        for at, word in enumerate(command.argv):
            match = COLON.fullmatch(word.text[:_LONGEST])
            if match is None or word.unresolved:
                continue
            flag, value = match[1], match[2]
            message = f"a colon stands where a blank belongs: there is no option {shortened(word.text, 50)}"
            edits = [Edit(at, 1, (flag, value))]
            remedy = f"write {flag} {shortened(value)}"
            severity, code = Severity.ERROR if _refuses(case) else Severity.WARNING, Code.INVALID_VALUE
            yield replace(make_remark(severity, code, flag, message, remedy, at=at, edits=edits), command=number)


def _refuses(case: Case) -> bool:
    """Whether the parser of the release that is named surely ends the start at a word that it does not know."""
    options = option_set(case.engine.program, case.version) if case.version else None
    known = options is not None and options.exact and case.engine.program in names.WHOLE_HISTORY
    return known and case.engine.command_line.build is None and not is_fragment(case.commands[0])


def variable_for_option(case: Case) -> Iterator[Remark]:
    """`VLLM_MAX_MODEL_LEN=262144`, which no release reads: the option sets it, and the variable does nothing."""
    begins = names.ALL_DECLARED.get(case.engine.name)
    command, program = case.commands[0], case.engine.program
    written = [name for name in command.env if begins and name.startswith(begins)]
    options = option_set(program, case.version or None) if written else None
    if options is None or begins is None or command.embedded or command.custom:
        return  # the image's own start may read it
    case.script.budget.work(20 * len(written), "its variables")
    for name in written:
        flag = f"--{name.removeprefix(begins).lower().replace('_', '-')}"
        key = "" if options.named(flag) else _key_like(name.removeprefix(begins).lower(), program, case.version or None)
        if not named_like_option(name, case) or name in library_variables():
            continue
        if name in ever_known_environment(program) or is_used(case, name):
            continue
        if key:
            message = f"{case.engine.facts.title} reads no variable of that name: it has no effect on the server"
            finding = Finding(
                Severity.WARNING, Code.DEAD_ENV, name, message, f"write {key} with its value as an option"
            )
            yield Remark(finding, command=0, variable=name)
            continue
        given = case.option(flag) is not None
        message = f"{case.engine.facts.title} reads no variable of that name: it has no effect on the server"
        remedy = f"leave it out: {flag} is given" if given else f"write {flag} in the command"
        finding = Finding(Severity.WARNING, Code.DEAD_ENV, name, message, remedy)
        yield Remark(finding, command=0, variable=name, drop_variable=given)


def named_like_option(name: str, case: Case) -> bool:
    """Whether an option of the release, or a key of one, is called so."""
    begins, program = names.ALL_DECLARED.get(case.engine.name, ""), case.engine.program
    options = option_set(program, case.version or None)
    small = name.removeprefix(begins).lower()
    flag = f"--{small.replace('_', '-')}"
    if options is None or len(flag) < _LEAST:
        return False
    return options.named(flag) is not None or bool(_key_like(small, program, case.version or None))


def _key_like(name: str, program: str, version: str | None) -> str:
    """`--attention-config.use_trtllm_attention`: the one key of the options that are JSON that has this name."""
    tables = [table for table in key_tables(program) if table.startswith("--") and "." not in table]
    found = [table for table in tables if name in keys_of(program, table, version)]
    return f"{found[0]}.{name}" if len(found) == 1 and "_" in name else ""


def number_as_variable(case: Case) -> Iterator[Remark]:
    """`os.environ["OMP_NUM_THREADS"] = 1`: Python puts strings into the environment, and raises TypeError otherwise."""
    script = case.script
    if not is_first(case.commands, script):
        return
    found = 0
    for number, text in numbered(script, 1, len(script.lines)):
        match = _IN_PYTHON.fullmatch(text) if "environ" in text else None
        if match is None or found >= _MOST:
            continue
        found += 1
        name, value = match["name"] or match["other"], match["value"]
        message = f"{script.where(number)}: os.environ takes strings alone: {value} ends the program with a TypeError"
        remark = make_remark(Severity.ERROR, Code.INVALID_VALUE, name, message, f'write "{value}"')
        yield Remark(remark.finding, command=None)


def switch_as_text(case: Case) -> Iterator[Remark]:
    """`"lazy_offload": "false"` among what a connector or a plugin reads as it is: any text counts as true."""
    for flag in _AS_IT_IS:
        place = case.option(flag)
        value = as_json(place.value) if place is not None and isinstance(place.value, str) else None
        if place is None or not isinstance(value, dict):
            continue
        inner = value.get(_EXTRA) if flag == _AS_IT_IS[0] else value
        names_of = [key for key, text in inner.items() if text == "false"] if isinstance(inner, dict) else []
        for key in names_of[:3]:
            message = f'"{shortened(key)}": "false" is a text, and counts as true where nothing turns it into a switch'
            remedy = f'write "{shortened(key)}": false'
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, flag, message, remedy, at=place.index)


def is_used(case: Case, name: str) -> bool:
    """Whether the text uses the variable elsewhere than where it sets it, or the controller of its object does."""
    if name in names.READ_BY_ITS_TEMPLATES and is_in_lines(_LLM_SERVICE, case.script.lines, _LONGEST):
        return True
    name = re.escape(name)  # that of an image or a manifest may be anything
    used = re.compile(
        rf"\$[{{(]?{name}\b|[\[(][ ]?[\"']{name}[\"']|\benv\.{name}\b|%{name}%|\{{\{{-?[ ]*{name}\b|printenv {name}\b"
    )
    case.script.budget.work(len(case.script.lines), "its variables")
    return is_in_lines(used, case.script.lines, _LONGEST)


def file_for_folder(case: Case) -> Iterator[Remark]:
    """A GGUF file as the folder of configuration and tokenizer, which stand in none."""
    for flag, weights in names.FOLDER.items():
        place = case.option(flag)
        value = place.value.strip("'\"") if place is not None and isinstance(place.value, str) else ""
        if place is None or not value.casefold().endswith(".gguf") or case.option(weights) is None:
            continue
        message = (
            f"{shortened(value, 60)} is a file of weights: this is the folder with config.json and the tokenizer of "
            "the published model"
        )
        remedy = f"name that folder, or the repository, and the folder of the GGUF behind {weights}"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, flag, message, remedy, at=place.index)
