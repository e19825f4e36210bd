"""Which recorded options and changes a command is judged by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import Change, changes, newest, option_set, version_key
from moonpad.engines import ENGINES
from moonpad.engines.base import Reading
from moonpad.explain.commands import Command, Script
from moonpad.explain.flags import CODES, Rulebook
from moonpad.explain.judged import Remark
from moonpad.explain.subject import Version
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.finding import Finding

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
# Programs that are gone as a whole, by the name that the catalogue's change has.
_GONE: Final = {
    "sglang-pdlb": ("sglang", "sglang.srt.disaggregation.launch_lb"),
    "ktransformers-legacy": ("ktransformers-legacy", "ktransformers/server/main.py"),
}


def program_of(command: Command, engine: str) -> str:
    """The program whose options are recorded for this command."""
    return command.program if command.program in ("kt run", "ktransformers-legacy") else ENGINES[engine].program


def rulebook(program: str, version: Version, checkpoint: Checkpoint | None = None) -> Rulebook | None:
    """The options and changes of that version; None where nothing of the program is recorded.

    What says nothing new for an FP8 checkpoint is no such thing for another one.
    """
    options = option_set(program, version.text or None)
    if options is None:
        return None
    of = version.text or newest(program)
    scheme = checkpoint.quantization.scheme if checkpoint is not None else "fp8"
    every = [change for change in changes(program) if not _speaks_of_fp8(change) or scheme == "fp8"]
    now = tuple(change for change in every if change.holds_in(of))
    later = tuple(change for change in every if change not in now and _is_later(change, of))
    return Rulebook(program, f"{_LABELS.get(program, program)} {options.version}", options, now, later)


def gone(number: int, command: Command, version: Version) -> Iterator[Remark]:
    """A program that the engine no longer has."""
    if command.program in _GONE:
        program, name = _GONE[command.program]
        for change in changes(program, version.text or newest(program)):
            if change.flag == name:
                code, severity = CODES[change.kind]
                yield Remark(Finding(severity, code, name, change.message, change.remedy), number)


def file_remarks(reading: Reading, script: Script, program: str, version: Version) -> Iterator[Remark]:
    """Keys of the files that the command names, as the script writes them. Such a change is called `table.key`."""
    if not script.files or program != "trtllm-serve":
        return
    named = [one.value for one in reading.parsed.occurrences if one.value] if reading.parsed else []
    for path, file in script.files.items():
        if path not in named:
            continue
        for change in changes(program, version.text or newest(program)):
            table, dot, key = change.flag.partition(".")
            if dot and table in file.text and f"{key}:" in file.text:
                code, severity = CODES[change.kind]
                where = f"{path.rpartition('/')[2]}: {change.flag}"
                yield Remark(Finding(severity, code, where, change.message, change.remedy))


def _speaks_of_fp8(change: Change) -> bool:
    return change.flag == "--quantization" and change.value == "fp8"


def _is_later(change: Change, version: str) -> bool:
    since, own = version_key(change.since), version_key(version)
    return since is not None and own is not None and since > own
