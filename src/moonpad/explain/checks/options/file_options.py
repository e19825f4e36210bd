"""Options that name a file: JSON or settings in their place, and a file that the text writes under a longer name. And
servers that no model is named for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.catalog.options.config_keys import key_tables
from moonpad.engines import file_names
from moonpad.engines.foreign_names import FILE_OF_FLAGS
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.dynamo.dynamo_workers import is_worker
from moonpad.explain.checks.whole_texts import is_whole
from moonpad.explain.commands import Command, Script
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_SETTINGS: Final = re.compile(r"\{.*\}|[A-Za-z_][\w.]*\s*[:=]\s*[^/\s].*", re.DOTALL | re.ASCII)
_FILE: Final = re.compile(r"\.(?:ya?ml|json)$", re.IGNORECASE)
_WRITES: Final = re.compile(
    r"<<-?[ \t]*[\"']?\w+[\"']?[^<>]{0,80}>[ \t]*(\S+)|>[ \t]*(\S+)[ \t]*<<|tee[ \t]+(\S+)[^<]*<<"
)
_KEY: Final = re.compile(r"^([A-Za-z][\w-]*):(?=\s)", re.MULTILINE)
_ALIKE: Final = 0.55
_LONGEST: Final = 1000
_LONGEST_FILE: Final = 20_000


def settings_for_file(case: Case) -> Iterator[Remark]:
    """`--extra_llm_api_options '{"enable_attention_dp": true}'`: it is opened as a file."""
    for place in case.first.parsed.occurrences:
        value = place.value.strip("'\"") if isinstance(place.value, str) else ""
        if place.written not in file_names.FILES_OF_SETTINGS or not value or _FILE.search(value) or "{{" in value:
            continue
        if not _SETTINGS.fullmatch(value[:_LONGEST]) or (unresolved(value) and not value.startswith("{")):
            continue
        message = f"{shortened(value, 50)} is opened as a file: there is none of that name, and the start ends"
        remedy = "write the settings as YAML into a file, and name that"
        yield make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)


def file_of_another_name(case: Case) -> Iterator[Remark]:
    """The only file that the script writes, and an option that reads one of nearly its name."""
    script = case.script
    if script.objects or script.markdown or not any("<<" in line for line in script.lines):
        return
    script.budget.work(2 * len(script.lines), "the files that it writes")
    lines = [line[:_LONGEST] for line in script.lines]
    written = [next(filter(None, match.groups())).strip("'\"") for line in lines if (match := _WRITES.search(line))]
    for place in case.first.parsed.occurrences:
        value = place.value.strip("'\"") if isinstance(place.value, str) else ""
        if place.written not in file_names.FILES_OF_SETTINGS or not _FILE.search(value) or unresolved(value):
            continue
        path = PurePosixPath(value)
        if len(written) != 1 or value in written or sum(path.name in line for line in lines) > 1:
            continue
        other = PurePosixPath(written[0])
        named = sum(other.name in line for line in lines)
        same_place = other.parent == path.parent and other.suffix == path.suffix and named == 1
        if same_place and SequenceMatcher(None, other.stem, path.stem).ratio() >= _ALIKE:
            message = (
                f"the script writes {shortened(str(other), 60)}, which nothing reads, and no {shortened(value, 60)}"
            )
            remedy = "use one name in both places"
            yield make_remark(Severity.WARNING, Code.INVALID_VALUE, place.written, message, remedy, at=place.index)


def file_left_unread(case: Case) -> Iterator[Remark]:
    """A file of the engine's own options that the script writes and nothing reads."""
    script, flags = case.script, case.engine.command_line.option_files
    if script.objects or not flags or not is_whole(case) or not any("<<" in line for line in script.lines):
        return
    known = option_set(case.commands[0].program, case.version or None)
    flag = next((each for each in flags if known is not None and known.named(each) is not None), "")
    if not flag or any(place.written in flags or place.flag in flags for place in case.first.parsed.occurrences):
        return
    script.budget.work(2 * len(script.lines), "the files that it writes")
    lines = [line[:_LONGEST] for line in script.lines]
    matches = [match for line in lines if (match := _WRITES.search(line)) is not None]
    for written in (next(filter(None, match.groups())).strip("'\"") for match in matches):
        file, name = script.files.get(written), PurePosixPath(written).name
        if file is None or not _FILE.search(name) or unresolved(written) or not _is_of_options(case, file.text):
            continue
        if sum(name in line for line in lines) > 1 or sum(PurePosixPath(written).stem in line for line in lines) > 1:
            continue
        message = f"the script writes options of the engine into {shortened(written, 60)}, and nothing reads the file"
        message += ": the server starts without them"
        yield make_remark(Severity.WARNING, Code.MISSING_FLAG, flag, message, f"add {flag} {shortened(written, 60)}")
        return


def _is_of_options(case: Case, text: str) -> bool:
    """Whether each key at the top of the file is one of the engine's."""
    keys = _KEY.findall(text[:_LONGEST_FILE])
    program = case.engine.program
    own = key_tables(program).get("", ())
    if not own and case.commands[0].program in FILE_OF_FLAGS and (known := option_set(program)) is not None:
        return len(keys) > 1 and all(known.named("--" + key.replace("_", "-")) is not None for key in keys)
    return bool(keys) and all(key in own for key in keys)


def without_model(case: Case) -> Iterator[Remark]:
    """A whole command without a model."""
    command = case.commands[0]
    said = file_names.WITHOUT_MODEL.get(case.engine.name)
    if said is None or case.first.model or case.open_ended or is_fragment(command) or command.more or command.custom:
        return
    if (
        case.script.markdown
        or case.script.objects
        or not command.prefix
        or command.accepted
        or command.guessed
        or command.embedded
        or is_worker(command, case.script)
    ):
        return
    if not command.argv or any(word.unresolved for word in command.argv if not word.text.startswith("--")):
        return
    if any(word.text.partition("=")[0] in file_names.ALSO_MODEL or word.text in ("...", "…") for word in command.argv):
        return
    if _is_left_to_variable(command, case.script):
        return
    flag, message = said
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, flag, message, f"name the model: {flag}")


def _is_left_to_variable(command: Command, script: Script) -> bool:
    """`serve $MODEL`, of a variable that is empty until the person sets it."""
    word = command.prefix[-1]
    line = script.lines[word.end_line - 1] if 0 < word.end_line <= len(script.lines) else ""
    return line[word.end_column :].lstrip(" \t\\\"'").startswith("$")


FILE_OPTIONS: Final = (settings_for_file, file_of_another_name, file_left_unread, without_model)
