"""Which recorded options and changes a command is judged by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import Change, OptionSet, changes, newest, option_set, version_key, versions
from moonpad.engines import ENGINES
from moonpad.engines.base import Reading
from moonpad.explain.commands import Command, HereFile, Script, Word
from moonpad.explain.flags import CODES, Rulebook
from moonpad.explain.judged import Remark
from moonpad.explain.lines import program_words
from moonpad.explain.subject import Version
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.finding import Finding, Severity

CLIENTS: Final = {"vllm bench serve": "vllm", "sglang-router": "sglang", "sglang-pdlb": "sglang"}
"""Programs that serve no model, whose options are recorded → their engine."""

_LABELS: Final = {
    "vllm serve": "vLLM",
    "vllm bench serve": "vLLM",
    "vllm-ascend": "vLLM-Ascend",
    "sglang": "SGLang",
    "sglang-router": "SGLang's router",
    "sglang-kt": "sglang-kt",
    "kt run": "kt",
    "ktransformers-legacy": "KTransformers",
    "trtllm-serve": "TensorRT-LLM",
}


def program_of(command: Command, engine: str) -> str:
    """The program whose options are recorded for this command."""
    return command.program if command.program in ("kt run", "ktransformers-legacy") else ENGINES[engine].program


def rulebook(
    program: str, version: Version, checkpoint: Checkpoint | None = None, command: Command | None = None
) -> Rulebook | None:
    """The options and changes of that version; None where nothing of the program is recorded.

    What says nothing new for an FP8 checkpoint is no such thing for another one. The API server that is started as a
    module, or by an image, takes the model from --model alone (vllm/entrypoints/openai/api_server.py).
    """
    options = option_set(program, version.text or None)
    if options is None:
        return None
    of = version.text or newest(program)
    scheme = checkpoint.quantization.scheme if checkpoint is not None else "fp8"
    every = [change for change in changes(program) if not _speaks_of_fp8(change) or scheme == "fp8"]
    serves = command is None or not command.prefix or program_words(command)[-1:] == ("serve",)
    if program == "vllm serve" and not serves:
        every = [change for change in every if change.flag != "--model"]
    now = tuple(change for change in every if change.holds_in(of))
    later = tuple(change for change in every if change not in now and _is_later(change, of))
    label = f"{_LABELS.get(program, program)} {options.version}"
    return Rulebook(program, label, options, now, later, None if options.exact else following(program, options.version))


def following(program: str, version: str) -> OptionSet | None:
    """The options of the first recorded version behind this one."""
    known = versions(program)
    later = known[known.index(version) + 1 :] if version in known else ()
    return option_set(program, later[0]) if later else None


def file_remarks(number: int, reading: Reading, script: Script, program: str, version: Version) -> Iterator[Remark]:
    """Keys of the YAML files that the command names, as the script writes them. Such a change is called `table.key`."""
    named = [one.value for one in reading.parsed.occurrences if one.value] if reading.parsed else []
    for path, file in script.files.items():
        if path not in named:
            continue
        for change in changes(program):
            place = _key(file, change.flag)
            if place is None or change.kind not in CODES:
                continue
            now = change.holds_in(version.text or newest(program))
            if not now and not _is_later(change, version.text or newest(program)):
                continue
            code, severity = CODES[change.kind]
            # Unlike an option under its former name, a key that is not known is refused.
            severity = Severity.NOTE if not now else Severity.ERROR if change.kind == "renamed" else severity
            message = change.message if now else f"right in {version.text}; from {change.since} on: {change.message}"
            where = f"{path.rpartition('/')[2]}: {change.flag}"
            yield Remark(Finding(severity, code, where, message, change.remedy), number, word=place)


def _key(file: HereFile, flag: str) -> Word | None:
    """Where the key of a table stands in a file."""
    table, dot, key = flag.partition(".")
    if not dot:
        return None
    inside = False
    for number, line in enumerate(file.text.split("\n"), file.line):
        if line[:1].strip():
            inside = line.startswith(f"{table}:")
        elif inside and line.strip().startswith(f"{key}:"):
            column = len(line) - len(line.lstrip())
            return Word(key, number, column, number, column + len(key))
    return None


def _speaks_of_fp8(change: Change) -> bool:
    return change.flag == "--quantization" and change.value == "fp8"


def _is_later(change: Change, version: str) -> bool:
    since, own = version_key(change.since), version_key(version)
    return since is not None and own is not None and since > own
