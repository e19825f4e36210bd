"""Programs that an engine no longer has, and the same said to the program that took their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.catalog.options import Change, changes, newest
from moonpad.engines.argv import Occurrence, Parsed
from moonpad.explain.commands import Command
from moonpad.explain.flags import CODES
from moonpad.explain.judged import Edit, Remark
from moonpad.explain.subject import Version
from moonpad.values.finding import Finding

# Program → the catalogue's program and name of it, and the words that start its successor.
_GONE: Final[Mapping[str, tuple[str, str, tuple[str, ...]]]] = {
    "sglang-pdlb": (
        "sglang",
        "sglang.srt.disaggregation.launch_lb",
        ("sglang-router", "launch", "--pd-disaggregation"),
    ),
    "ktransformers-legacy": (
        "ktransformers-legacy",
        "ktransformers/server/main.py",
        ("python", "-m", "sglang.launch_server"),
    ),
}
# The old server's options → those of SGLang with kt-kernel. What is not here has no successor and is left out:
# optimize_config_path is decided by --kt-method, lengths of answers by each request.
# https://github.com/kvcache-ai/ktransformers, kt-kernel/README.md: "LLAMAFILE Backend (GGUF)", "KT-Kernel Parameters".
_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "--model_path": ("--model-path",),
    "--model_name": ("--served-model-name",),
    "--gguf_path": ("--kt-method", "LLAMAFILE", "--kt-num-gpu-experts", "0", "--kt-weight-path"),
    "--cache_lens": ("--context-length",),
    "--cpu_infer": ("--kt-cpuinfer",),
    "--max_batch_size": ("--max-running-requests",),
    "--chunk_size": ("--chunked-prefill-size",),
    "--host": ("--host",),
    "--port": ("--port",),
    "--api_key": ("--api-key",),
    "--log_level": ("--log-level",),
}


def gone(number: int, command: Command, version: Version, parsed: Parsed | None) -> Iterator[Remark]:
    """The finding for a program that is no longer there, with the command for its successor as edits."""
    if command.program not in _GONE:
        return
    program, name, successor = _GONE[command.program]
    for change in changes(program, version.text or newest(program) if program == "sglang" else version.text or None):
        if change.flag == name and change.kind == "removed":
            edits = tuple(_edits(parsed)) if command.program == "ktransformers-legacy" and parsed else ()
            yield _remark(number, command, change, successor, edits, parsed)


def _remark(
    number: int,
    command: Command,
    change: Change,
    program: tuple[str, ...],
    edits: tuple[Edit, ...],
    parsed: Parsed | None,
) -> Remark:
    code, severity = CODES[change.kind]
    finding = Finding(severity, code, change.flag, change.message, change.remedy + _left_to_do(parsed))
    word = next((word for word in command.prefix if change.flag in word.text), None)
    return Remark(finding, number, edits=edits, program=program, word=word)


def _left_to_do(parsed: Parsed | None) -> str:
    if parsed is None or not any(one.flag == "--gguf_path" for one in parsed.occurrences):
        return ""
    words = " --model-path has to hold the original weights, of which the devices take all but the experts."
    if not any(one.flag == "--cpu_infer" for one in parsed.occurrences):
        words += " Add --kt-cpuinfer with the number of physical cores."
    return words


def _edits(parsed: Parsed) -> Iterator[Edit]:
    for one in parsed.occurrences:
        words = _OPTIONS.get(one.flag or "", ())
        yield Edit(one.index, one.length, (*words, *_values(one)) if words else ())
    yield from (Edit(at, 1, ()) for at, _ in parsed.positionals)


def _values(one: Occurrence) -> tuple[str, ...]:
    return (one.value,) if isinstance(one.value, str) else one.value if isinstance(one.value, tuple) else ()
